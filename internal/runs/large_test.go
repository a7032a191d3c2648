package runs

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
)

// TestLarge: a file that is read in order is hashed on the way, whatever the pieces; what was not read, or read in another order, is in
// the checksum too. Afterwards it can be read again.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	put(t, dir, "large", text)
	hex := fmt.Sprintf("%x", sha256.Sum256(text))
	size := int64(len(text))
	for name, c := range map[string]struct {
		reads  [][2]int64 // from, bytes
		hashed int64      // on the way
	}{
		"nothing":      {nil, 0},
		"in order":     {[][2]int64{{0, 8}, {8, 5000}, {5008, size - 5008}}, size},
		"again":        {[][2]int64{{0, 5000}, {0, 8}, {100, 6000}, {6100, 10}}, 6110},
		"another":      {[][2]int64{{5000, 1000}, {0, 5000}}, 5000},
		"only a part":  {[][2]int64{{0, 10}, {500, 20}}, 10},
		"past the end": {[][2]int64{{0, size + 10}}, size},
	} {
		f, err := openLarge(filepath.Join(dir, "large"))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.reads {
			b := make([]byte, r[1])
			if n, _ := f.ReadAt(b, r[0]); !bytes.Equal(b[:n], text[r[0]:min(r[0]+r[1], size)]) {
				t.Errorf("%s: other bytes from %d on", name, r[0])
			}
		}
		if f.sum.bytes != c.hashed {
			t.Errorf("%s: %d bytes are hashed on the way, want %d", name, f.sum.bytes, c.hashed)
		}
		if err := f.compare(hex); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 20)
		if _, err := f.ReadAt(b, 3); err != nil || !bytes.Equal(b, text[3:23]) {
			t.Errorf("%s: closed, it is %q, %v", name, b, err)
		}
	}
	for _, at := range []int{0, len(text) / 2, len(text) - 1} {
		bad := bytes.Clone(text)
		bad[at] ^= 1
		put(t, dir, "large", bad)
		f, err := openLarge(filepath.Join(dir, "large"))
		if err != nil {
			t.Fatal(err)
		}
		f.ReadAt(make([]byte, 5000), 0)
		if err := f.compare(hex); err != errOther {
			t.Errorf("byte %d is changed: %v", at, err)
		}
		f.Close()
	}
}
