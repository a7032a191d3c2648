package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestReadersNotice: every reader of a user's file is one that notices. A program writes to the file all the time.
func TestReadersNotice(t *testing.T) {
	dir := t.TempDir()
	table, array, labels, images := filepath.Join(dir, "f.csv"), filepath.Join(dir, "f.npy"), filepath.Join(dir, "f.idx"), filepath.Join(dir, "f.bin")
	for file, raw := range map[string][]byte{
		table: []byte("a,b\n" + strings.Repeat("1,2\n3,4\n", 1<<16)), array: testkit.NPYOf("<f8", "(65536, 8)", make([]byte, 8*65536*8)...),
		labels: append([]byte{0, 0, 8, 1, 0, 1, 0, 0}, make([]byte, 1<<16)...), images: make([]byte, 200*3073),
	} {
		if err := os.WriteFile(file, raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	schema := &Schema{Shape: []int{8}, Classes: 2}
	for name, c := range map[string]struct {
		file string
		read func() error
	}{
		"ReadCSV":    {table, func() error { _, err := ReadCSV(table, CSV{}); return err }},
		"ScanCSV":    {table, func() error { return formats.ScanCSV(table, CSV{}, 100, func(*Table) error { return nil }) }},
		"ReadArray":  {array, func() error { _, err := ReadArray(array); return err }},
		"ReadNPY":    {array, func() error { _, err := ReadNPY(array); return err }},
		"ReadIDX":    {labels, func() error { _, err := formats.ReadArray(labels); return err }},
		"ReadCIFAR":  {images, func() error { _, _, err := arrays.CIFAR10.Read(images); return err }},
		"Show":       {table, func() error { _, err := formats.Show(table, formats.Look{}); return err }},
		"group":      {array, func() error { return (&Problem{Schema: schema}).ReadGroups("", array) }},
		"other data": {array, func() error { _, err := schema.Read(array, labels, ""); return err }},
		"settings": {table, func() error {
			_, err := Settings{CSV: &CSV{File: table, Target: "b"}}.Load("", Need{Regression: true})
			return err
		}},
	} {
		stop, stopped := make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					f, err := os.OpenFile(c.file, os.O_RDWR, 0)
					if err != nil {
						t.Error(err)
						return
					}
					var b [1]byte
					f.ReadAt(b[:], 0)
					f.WriteAt(b[:], 0) // the same byte: only the time tells
					f.Close()
				}
			}
		}()
		err := c.read()
		for began := time.Now(); err == nil && time.Since(began) < testkit.Patience; { // a file system's time goes in steps, and a busy machine's too
			err = c.read()
		}
		close(stop)
		<-stopped
		if err == nil || !strings.Contains(err.Error(), c.file+": was changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
