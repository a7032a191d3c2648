package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/sets"
)

// TestText: windows of a text are examples whose inputs are the numbers of characters, and the target is the one behind them. No window reaches
// from one part into another: each part is the twentieths that are its own.
func TestText(t *testing.T) {
	var text []byte
	for i := range 20 * 40 { // in the i-th twentieth, of 40 characters, letters that no other has
		text = append(text, "ABCDEFGHIJKLMNOPQRST"[i/40], "\n xyz"[i%5])
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tinyshakespeare"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tinyshakespeare", "input.txt"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("tinyshakespeare", dir); err == nil || !strings.Contains(err.Error(), "wrong content") {
		t.Errorf("another text: %v", err)
	}
	const characters = "\n ABCDEFGHIJKLMNOPQRSTxyz"
	for name, want := range map[string]string{"tinyshakespeare": "ABCDEFGHIJKLMNOPQ", "tinyshakespeare-update": "R"} {
		t.Cleanup(sets.PinText(name, text))
		p, err := Load(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		for of, letters := range map[*Set]string{p.Train: want, p.Validate: "S", p.Test: "T"} {
			part := text[80*strings.Index("ABCDEFGHIJKLMNOPQRST", letters):][:80*len(letters)]
			if of.Len() != len(part)-32 || of.Features() != 32 || of.Classes != 25 || of.Names != nil {
				t.Fatalf("%s: %d examples of %d, %d classes %q", of.Name, of.Len(), of.Features(), of.Classes, of.Names)
			}
			for i, y := range of.Labels {
				for j := range 33 {
					at := float32(y)
					if j < 32 {
						at = of.F32[i*32+j]
					}
					if characters[int(at)] != part[i+j] {
						t.Fatalf("%s: character %d of example %d is %q, want %q", of.Name, j, i, characters[int(at)], part[i+j])
					}
				}
			}
			if err := of.Check(); err != nil {
				t.Error(err)
			}
		}
	}
	bytes := Settings{Set: "tinyshakespeare"}.LoadBytes(dir)
	if numbers := int64(len(text) * 33 * 4); bytes < numbers || bytes > 4*numbers {
		t.Errorf("loading is said to take %d bytes of %d numbers", bytes, numbers/4)
	}
}
