package formats

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

func TestOpenArray(t *testing.T) {
	path := testkit.WriteFile(t, "x.npy", testkit.NPYOf("<i2", "(3, 2)", 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0))
	r, err := OpenArray(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Next(2)
	if err != nil || !slices.Equal(r.Shape(), []int{3, 2}) || !slices.Equal(a.Shape, []int{2, 2}) || !slices.Equal(a.Values.([]int16), []int16{1, 2, 3, 4}) {
		t.Errorf("%v: %+v, %v", r.Shape(), a, err)
	}
	if a, err = r.Next(2); err != nil || !slices.Equal(a.Values.([]int16), []int16{5, 6}) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err = r.Next(2); err != io.EOF {
		t.Errorf("error %v, want EOF", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for want, raw := range map[string][]byte{
		"it is a single number":                 testkit.NPYOf("<i2", "()", 1, 0),
		"no rows of values: its shape is [2 0]": testkit.NPYOf("<i2", "(2, 0)"),
		"begins neither a NumPy file":           []byte("1,2\n3,4\n"),
		"the file ends early":                   testkit.NPYOf("<i2", "(2,)", 1, 0),
		"its shape is [4611686018427387904 0]":  testkit.NPYOf("|u1", "(4611686018427387904, 0)"),
	} {
		path := testkit.WriteFile(t, "x.npy", raw)
		if _, err := OpenArray(path); err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := OpenArray(path + "x"); err == nil {
		t.Error("a file that is not there is opened")
	}
}

// A block costs the memory of a block, even where the file is packed.
func TestBlockMemory(t *testing.T) {
	const n = 1 << 22
	raw := append(arrays.NPYHeader([]int{n / 8 / 16, 16}), make([]byte, n)...)
	for i := range n / 2 { // so that gzip does not pack it too well
		raw[len(raw)-1-i] = byte(i * i >> 5)
	}
	for _, raw := range [][]byte{raw, testkit.Gzipped(t, raw)} {
		path := testkit.WriteFile(t, "x", raw)
		if got := testkit.Allocated(func() {
			r, err := OpenArray(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for err == nil {
				_, err = r.Next(64)
			}
			if err != io.EOF {
				t.Error(err)
			}
		}); got > n+n/4 { // every block is a new one: n bytes in all
			t.Errorf("allocates %d bytes for %d in blocks of %d", got, n, 64*16*8)
		}
	}
}

func TestIsArray(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		bytes string
		want  bool
	}{
		"npy": {arrays.NPYMagic, true}, "idx": {"\x00\x00\x08\x01", true}, "gzip": {"\x1f\x8b", true},
		"csv": {"a,b\n1,2\n", false}, "quoted by Windows": {"\x93Name\x94,b\n1,2\n", false}, "short": {"\x93", false}, "empty": {"", false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.bytes), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := IsArray(path); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	// A pipe or a device is not opened: a pipe would wait for ever.
	if _, err := IsArray(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestReadArrayNeedsAFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none.gz")} {
		if _, err := ReadArray(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// TestChangedWhileRead: whatever reads a file notices that it is written to meanwhile, by its size or its time.
func TestChangedWhileRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	rows := strings.Repeat("1,2\n", 4<<10)
	text := []byte("a,b\n" + rows)
	array := testkit.NPYOf("<f8", "(4096, 2)", make([]byte, 8*8192)...)
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
			_, err := Table(file, tables.CSV{}, func(f *tables.File) (*tables.Table, error) {
				spoil()
				return f.Table()
			})
			return err
		}},
		"whole, after it was read": {text, func() error {
			_, err := Table(file, tables.CSV{}, func(f *tables.File) (*tables.Table, error) {
				defer spoil()
				return f.Table()
			})
			return err
		}},
		"table in blocks": {text, func() error {
			first := true
			return ScanCSV(file, tables.CSV{}, 1000, func(*tables.Table) error {
				if first {
					spoil()
				}
				first = false
				return nil
			})
		}},
		"array": {array, func() error {
			_, err := ReadArrayAs(file, func(s *packed.Source, first [4]byte) (*arrays.Layout, error) {
				spoil()
				return anyArray(s, first)
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
