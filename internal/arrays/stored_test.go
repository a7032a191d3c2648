package arrays

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/testkit"
)

// stored is what Store makes of a file of some bytes.
func stored(t testing.TB, path string, raw []byte) (*Array, error) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := regular.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Store(path, file, either)
	if err != nil || a.Stored == nil {
		file.Close()
	}
	return a, err
}

// sameStored compares a file whose numbers stay there, if they can, with the array that is read of it.
func sameStored(t testing.TB, path string, raw []byte) *Array {
	t.Helper()
	a, err := stored(t, path, raw)
	read, failed := Decode(path, raw, either)
	if fmt.Sprint(err) != fmt.Sprint(failed) {
		t.Fatalf("stored: %v; read: %v", err, failed)
	}
	if err != nil {
		return nil
	}
	if a.DType() != read.DType() || fmt.Sprint(a.Shape) != fmt.Sprint(read.Shape) || bitsOf(a) != bitsOf(read) {
		t.Fatalf("stored: %s %v %v; read: %s %v %v", a.DType(), a.Shape, a.Values, read.DType(), read.Shape, read.Values)
	}
	return a
}

// bitsOf writes the values of an array, NaN included.
func bitsOf(a *Array) string {
	if v, is := a.Values.([]float32); is {
		bits := make([]uint32, len(v))
		for i, x := range v {
			bits[i] = math.Float32bits(x)
		}
		return fmt.Sprint(bits)
	}
	return fmt.Sprint(a.Values)
}

// npy is a file as NumPy writes it, in which numbers are at a multiple of their size.
func npy(dtype string, shape []int, values ...byte) []byte {
	return append(NPYBegin(dtype, shape), values...)
}

// floats are the bytes of numbers of 32 bits, little-endian.
func floats(values ...float32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// TestStore: numbers of 16 and of 32 bits stay in their file; those that are not as the machine has them are read.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	single := floats(1, -2, 3.5, 4, 5, 6)
	odd := testkit.NPYBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } \n", single...)
	if len(odd)%4 == 0 {
		t.Fatal("the numbers are at a multiple of their size")
	}
	for name, c := range map[string]struct {
		raw   []byte
		stays bool
	}{
		"float32":        {npy("<f4", []int{2, 3}, single...), true},
		"float16":        {npy("<f2", []int{4, 3}, single...), true},
		"compressed":     {testkit.Gzipped(t, npy("<f4", []int{2, 3}, single...)), false},
		"Fortran order":  {bytes.Replace(npy("<f4", []int{2, 3}, single...), []byte("False"), []byte("True "), 1), false},
		"big-endian":     {npy(">f4", []int{2, 3}, single...), false},
		"whole numbers":  {npy("<i4", []int{2, 3}, single...), false},
		"bytes":          {npy("|u1", []int{24, 1}, single...), false},
		"float64":        {npy("<f8", []int{3, 1}, single...), false},
		"between places": {odd, false},
		"no rows":        {npy("<f4", []int{0, 3}), false},
		"IDX":            {append([]byte{0, 0, 0x0D, 1, 0, 0, 0, 6}, single...), false},
		"cut":            {npy("<f4", []int{2, 3}, single[:23]...), false},
		"bytes after it": {npy("<f4", []int{2, 3}, append(single, 0)...), false},
	} {
		t.Run(name, func(t *testing.T) {
			if a := sameStored(t, path, c.raw); a != nil && (a.Stored != nil) != (c.stays && regular.Maps) {
				t.Errorf("stays in its file: %v", a.Stored != nil)
			}
		})
	}
}

// TestPass: whoever goes through rows gets each, in any order, whatever is given back meanwhile.
func TestPass(t *testing.T) {
	const rows, width = 5000, 1000 // 20 MB: more than two blocks
	values := make([]float32, rows*width)
	for i := range values {
		values[i] = float32(i)
	}
	a, err := stored(t, filepath.Join(t.TempDir(), "x.npy"), npy("<f4", []int{rows, width}, floats(values...)...))
	if err != nil {
		t.Fatal(err)
	}
	if a.Stored == nil && !regular.Maps {
		return
	}
	next, row := Pass[float32](a.Stored, width), make([]float32, width)
	look := func(i int) {
		t.Helper()
		if next(i, row); !reflect.DeepEqual(row, values[i*width:][:width]) {
			t.Fatalf("row %d begins with %v", i, row[:3])
		}
	}
	for range 2 {
		for i := range rows {
			look(i)
		}
	}
	for i := rows - 1; i >= 0; i -= 7 {
		look(i)
	}
	for i := range 100 {
		look(i * 1237 % rows)
	}
}

// TestStoredNotFinite: the first number that is not finite is named, of either size, before anything is computed with it.
func TestStoredNotFinite(t *testing.T) {
	dir := t.TempDir()
	for want, raw := range map[string][]byte{
		"example 1, feature 2 is NaN as a float32":  npy("<f4", []int{2, 3}, floats(1, 2, 3, 4, 5, float32(math.NaN()))...),
		"example 0, feature 1 is -Inf as a float32": npy("<f2", []int{2, 3}, 0, 0, 0, 0xfc, 0, 0, 0, 0x7e, 0, 0, 0, 0),
	} {
		path := filepath.Join(dir, "x.npy")
		a, err := stored(t, path, raw)
		if err != nil {
			t.Fatal(err)
		}
		if a.Stored == nil && !regular.Maps {
			return
		}
		if err := a.Stored.CheckFinite(); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestStoredShrinks: whoever goes through rows that are gone gets an error, and so does who asks.
func TestStoredShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	a, err := stored(t, path, npy("<f4", []int{100, 1000}, make([]byte, 400000)...))
	if err != nil {
		t.Fatal(err)
	}
	if a.Stored == nil && !regular.Maps {
		return
	}
	if err := errors.Join(a.Stored.Unchanged(), os.Truncate(path, 1000)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"asked": a.Stored.Unchanged(), "gone through": a.Stored.CheckFinite(), "one row": func() (err error) {
		defer regular.Caught(&err)
		a.Row(99, make([]float64, 1000))
		return nil
	}()} {
		if !errors.As(err, new(*regular.ChangedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzStore: a file whose numbers stay there has those, or the error, of one that is read.
func FuzzStore(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../formats/testdata/files/npy_*") {
		f.Add(raw)
	}
	f.Add(npy("<f4", []int{2, 2}, floats(1, 2, 3, float32(math.NaN()))...))
	f.Add(npy("<f2", []int{2, 2}, 0, 1, 2, 3, 4, 5, 6, 7))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := sameStored(t, filepath.Join(t.TempDir(), "x.npy"), raw)
		if a != nil && a.Stored != nil && len(a.Shape) > 0 {
			a.Stored.CheckFinite()
		}
	})
}
