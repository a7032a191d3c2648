package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// seeds is what the files that match a pattern hold.
func seeds(f *testing.F, pattern string) (files [][]byte) {
	f.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, raw)
	}
	return files
}

// sameArray compares reading an array whole with reading it in blocks of rows: same values and errors. An array that
// has no rows to read in blocks is left out. It returns the whole, nil if that is an error.
func sameArray(t *testing.T, raw []byte, rows int) *Array {
	t.Helper()
	s, err := inMemory("x", raw)
	var whole *Array
	if err == nil {
		if whole, err = s.array((*source).anyHeader); err != nil {
			whole = nil
		}
	}
	r, failed := newArrayReader("x", bytes.NewReader(raw), len(raw))
	if failed == nil {
		failed = sameBlocks(r, whole, rows)
	}
	if !errors.Is(failed, errNoRows) && (err != nil || failed != nil) && fmt.Sprint(err) != fmt.Sprint(failed) {
		t.Fatalf("whole: %v; in blocks of %d: %v", err, rows, failed)
	}
	return whole
}

var errNoWhole = errors.New("blocks that can be read of an array that cannot")

func sameBlocks(r *ArrayReader, whole *Array, rows int) error {
	at := 0
	for {
		a, err := r.Next(rows)
		switch {
		case err == io.EOF && whole == nil:
			return errNoWhole
		case err == io.EOF && at == whole.Shape[0]:
			return nil
		case err == io.EOF:
			return fmt.Errorf("ends after %d of %d rows", at, whole.Shape[0])
		case err != nil:
			return err
		case whole == nil:
			continue
		}
		n, width := a.Shape[0], len(whole.Float64s())/whole.Shape[0]
		want := reflect.ValueOf(whole.Values).Slice(at*width, (at+n)*width)
		if n < 1 || n > rows || !slices.Equal(a.Shape[1:], whole.Shape[1:]) || a.DType() != whole.DType() {
			return fmt.Errorf("a block %s %v of %s %v", a.DType(), a.Shape, whole.DType(), whole.Shape)
		}
		if !slices.EqualFunc(a.Float64s(), (&Array{Values: want.Interface()}).Float64s(), same) {
			return fmt.Errorf("rows %d to %d are %v, want %v", at, at+n-1, a.Values, want)
		}
		at += n
	}
}

func TestBlocksEqualWhole(t *testing.T) {
	paths, err := filepath.Glob("testdata/files/[in][dp][xy]_*")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for rows := 1; rows < 9; rows++ {
			sameArray(t, raw, rows)
			sameArray(t, gzipped(t, raw), rows)
		}
	}
}

func TestOpenArray(t *testing.T) {
	path := writeFile(t, "x.npy", npyOf("<i2", "(3, 2)", 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0))
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
		"it is a single number":                 npyOf("<i2", "()", 1, 0),
		"no rows of values: its shape is [2 0]": npyOf("<i2", "(2, 0)"),
		"begins neither a NumPy file":           []byte("1,2\n3,4\n"),
		"the file ends early":                   npyOf("<i2", "(2,)", 1, 0),
		"its shape is [4611686018427387904 0]":  npyOf("|u1", "(4611686018427387904, 0)"),
	} {
		path := writeFile(t, "x.npy", raw)
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
	raw := append(NPYHeader([]int{n / 8 / 16, 16}), make([]byte, n)...)
	for i := range n / 2 { // so that gzip does not pack it too well
		raw[len(raw)-1-i] = byte(i * i >> 5)
	}
	for _, raw := range [][]byte{raw, gzipped(t, raw)} {
		path := writeFile(t, "x", raw)
		if got := allocated(func() {
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
		"npy": {npyMagic, true}, "idx": {"\x00\x00\x08\x01", true}, "gzip": {"\x1f\x8b", true},
		"csv": {"a,b\n1,2\n", false}, "short": {"\x93", false}, "empty": {"", false},
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
