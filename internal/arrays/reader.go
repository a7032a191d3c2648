package arrays

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
)

// Reader reads an array in blocks of rows, in the memory of a block; only a file in Fortran order is held whole.
type Reader struct {
	file  *regular.File // nil: bytes in memory
	s     *packed.Source
	c     *packed.Source // the values in C order: s, or a copy
	l     *Layout
	left  int // rows
	width int // values of a row
}

// ErrNoRows says that an array has no rows for Reader.Next to return.
var ErrNoRows = errors.New("the array has no rows of values")

// NewReader begins to read the rows of a file of size bytes; name stands for it in errors. It is an error if the array has no rows, is a
// scalar, or has rows without values.
func NewReader(name string, file packed.File, size int, header Header) (*Reader, error) {
	s, err := packed.New(name, file, size)
	if err != nil {
		return nil, err
	}
	l, n, err := Begin(s, header)
	if err != nil {
		return nil, err
	}
	r := &Reader{s: s, l: l}
	r.file, _ = file.(*regular.File)
	switch {
	case len(l.Shape) == 0:
		return nil, fmt.Errorf("%s: %w: it is a single number", name, ErrNoRows)
	case n == 0 && l.Shape[0] > 0:
		return nil, fmt.Errorf("%s: %w: its shape is %v", name, ErrNoRows, l.Shape)
	case n == 0:
		return r, s.End()
	}
	r.left, r.width = l.Shape[0], n/l.Shape[0]
	r.c, err = l.InC(s, n)
	return r, err
}

// Shape is the array's shape: the number of rows, then the shape of a row.
func (r *Reader) Shape() []int { return slices.Clone(r.l.Shape) }

// Next returns the next rows, at most the given number, and io.EOF when none are left. Before it returns the last rows, it
// checks the end of the file, and that it was not changed, so that it does not return the last rows of a damaged file.
func (r *Reader) Next(rows int) (*Array, error) {
	if rows < 1 {
		panic("arrays: Reader.Next of no rows")
	}
	if r.left == 0 {
		return nil, io.EOF
	}
	rows = min(rows, r.left)
	first := r.l.Shape[0] - r.left
	values, err := r.l.Read(r.c, rows*r.width)
	if r.left -= rows; r.left == 0 && err == nil {
		err = r.s.End()
	}
	if r.file != nil && (r.left == 0 || err != nil) {
		err = packed.Unchanged(r.file, err)
	}
	if err != nil {
		return nil, err
	}
	shape := r.Shape()
	shape[0] = rows
	return &Array{Name: r.s.Name, Shape: shape, First: first, Values: values}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }
