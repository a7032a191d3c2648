package arrays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/testkit"
)

// either is the Header of files of either format.
func either(s *packed.Source, first [4]byte) (*Layout, error) {
	if first[0] == 0 {
		return IDX(s, first)
	}
	return NPY(s, first)
}

// sameArray compares reading an array whole with reading it in blocks of rows: same values and errors. An array that
// has no rows to read in blocks is left out. It returns the whole, nil if that is an error.
func sameArray(t *testing.T, raw []byte, rows int) *Array {
	t.Helper()
	s, err := packed.New("x", bytes.NewReader(raw), len(raw))
	var whole *Array
	if err == nil {
		if whole, err = Whole(s, either); err != nil {
			whole = nil
		}
	}
	r, failed := NewReader("x", bytes.NewReader(raw), len(raw), either)
	if failed == nil {
		failed = sameBlocks(r, whole, rows)
	}
	if !errors.Is(failed, ErrNoRows) && (err != nil || failed != nil) && fmt.Sprint(err) != fmt.Sprint(failed) {
		t.Fatalf("whole: %v; in blocks of %d: %v", err, rows, failed)
	}
	return whole
}

var errNoWhole = errors.New("blocks that can be read of an array that cannot")

func sameBlocks(r *Reader, whole *Array, rows int) error {
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
		if !slices.EqualFunc(a.Float64s(), (&Array{Values: want.Interface()}).Float64s(), testkit.Same) {
			return fmt.Errorf("rows %d to %d are %v, want %v", at, at+n-1, a.Values, want)
		}
		at += n
	}
}

func TestBlocksEqualWhole(t *testing.T) {
	paths, err := filepath.Glob("../formats/testdata/files/[in][dp][xy]_*")
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
			sameArray(t, testkit.Gzipped(t, raw), rows)
		}
	}
}

func TestFloats(t *testing.T) {
	for _, values := range []any{
		[]bool{true, false}, []uint8{1, 0}, []uint16{1, 0}, []uint32{1, 0}, []uint64{1, 0}, []int8{1, 0}, []int16{1, 0}, []int32{1, 0}, []int64{1, 0},
		[]Float16{0x3c00, 0}, []BFloat16{0x3f80, 0}, []float32{1, 0}, []float64{1, 0},
	} {
		a := &Array{Values: values}
		if !slices.Equal(a.Float64s(), []float64{1, 0}) || !slices.Equal(a.Float32s(), []float32{1, 0}) {
			t.Errorf("%s: %v %v", a.DType(), a.Float64s(), a.Float32s())
		}
	}
}
