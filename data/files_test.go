package data

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestChangedWhileRead: whatever reads a file notices that it is written to meanwhile, by its size or its time.
func TestChangedWhileRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	rows := strings.Repeat("1,2\n", 4<<10)
	text := []byte("a,b\n" + rows)
	array := npyOf("<f8", "(4096, 2)", make([]byte, 8*8192)...)
	spoil := func() { // what a program does that writes the file anew
		if err := os.Truncate(file, 100); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		raw  []byte
		read func() error
	}{
		"whole, before it is read": {text, func() error {
			_, err := reading(file, openReadable, func(f *regular.File) (*Table, error) {
				spoil()
				return readCSV(file, f, int(f.Size()), CSV{})
			})
			return err
		}},
		"whole, after it was read": {text, func() error {
			_, err := reading(file, openReadable, func(f *regular.File) (*Table, error) {
				defer spoil()
				return readCSV(file, f, int(f.Size()), CSV{})
			})
			return err
		}},
		"table in blocks": {text, func() error {
			first := true
			return ScanCSV(file, CSV{}, 1000, func(*Table) error {
				if first {
					spoil()
				}
				first = false
				return nil
			})
		}},
		"array": {array, func() error {
			_, err := withSource(file, func(s *source) (*Array, error) {
				spoil()
				return s.array((*source).anyHeader)
			})
			return err
		}},
		"array in blocks": {array, func() error { return nextAll(t, file, spoil) }},
		"array in blocks, cut to a row": {array, func() error {
			return nextAll(t, file, func() {
				if err := os.Truncate(file, int64(len(array)-16)); err != nil {
					t.Fatal(err)
				}
			})
		}},
		"array in blocks, then longer": {array, func() error {
			return nextAll(t, file, func() { write2(t, file, os.O_APPEND) })
		}},
		"array in blocks, the same size": {array, func() error {
			return nextAll(t, file, func() { write2(t, file, 0) })
		}},
	} {
		if err := os.WriteFile(file, c.raw, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := c.read(); err == nil || !strings.Contains(err.Error(), file+": was changed while it was read: try again when nothing writes to it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// nextAll reads an array in blocks and calls change after the first.
func nextAll(t *testing.T, file string, change func()) error {
	t.Helper()
	r, err := OpenArray(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(4000); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		change()
	}
}

// write2 writes two bytes into a file.
func write2(t *testing.T, file string, flag int) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|flag, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte{0x93, 'N'}); err != nil {
		t.Fatal(err)
	}
}

// TestReadersNotice: every reader of a user's file is one that notices. A program writes to the file all the time.
func TestReadersNotice(t *testing.T) {
	dir := t.TempDir()
	table, array, labels, images := filepath.Join(dir, "f.csv"), filepath.Join(dir, "f.npy"), filepath.Join(dir, "f.idx"), filepath.Join(dir, "f.bin")
	for file, raw := range map[string][]byte{
		table: []byte("a,b\n" + strings.Repeat("1,2\n3,4\n", 1<<16)), array: npyOf("<f8", "(65536, 8)", make([]byte, 8*65536*8)...),
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
		"ScanCSV":    {table, func() error { return ScanCSV(table, CSV{}, 100, func(*Table) error { return nil }) }},
		"ReadArray":  {array, func() error { _, err := ReadArray(array); return err }},
		"ReadNPY":    {array, func() error { _, err := ReadNPY(array); return err }},
		"ReadIDX":    {labels, func() error { _, err := ReadIDX(labels); return err }},
		"ReadCIFAR":  {images, func() error { _, err := ReadCIFAR10("x", images); return err }},
		"Show":       {table, func() error { _, err := Show(table, CSV{}); return err }},
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
