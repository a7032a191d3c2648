package data

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/regular"
)

// ReadArray reads a whole file, NPY or IDX, compressed with gzip or not; the content tells which.
func ReadArray(path string) (*Array, error) {
	return withSource(path, func(s *source) (*Array, error) { return s.array((*source).anyHeader) })
}

// IsArray reports whether a file begins like NPY or IDX, as no table does, packed with gzip or not. For a file of another known
// format, the error names the format.
func IsArray(path string) (bool, error) {
	file, err := openReadable(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	return beginsArray(path, file, int(file.Size())), nil
}

// beginsArray is IsArray of an open file. Of a file that is too short, or is damaged, its reader reports the error.
func beginsArray(name string, file io.ReaderAt, size int) bool {
	s, err := newSource(name, io.NewSectionReader(file, 0, int64(size)), size)
	if err != nil {
		return true
	}
	var magic [2]byte
	if s.fill(magic[:]) != nil {
		return s.packed
	}
	return string(magic[:]) == npyMagic[:2] || magic == [2]byte{}
}

// anyHeader reads a header of either format, whose first four bytes have been read.
func (s *source) anyHeader(first [4]byte) (*layout, error) {
	switch {
	case string(first[:]) == npyMagic[:4]:
		return s.npyHeader(first)
	case first[0] == 0 && first[1] == 0:
		return s.idxHeader(first)
	case parquet.Is(first[:]):
		return nil, fmt.Errorf("%s: is a Parquet file, which is a table: want an array, NPY or IDX", s.name)
	}
	return nil, s.errorf(0, "% x begins neither a NumPy file (93 4e 55 4d) nor an IDX file (00 00)", first)
}

// ArrayReader reads an array in blocks of rows, in the memory of a block; only a file in Fortran order is held whole.
type ArrayReader struct {
	file  *regular.File // nil: bytes in memory
	s     *source
	c     *source // the values in C order: s, or a copy
	l     *layout
	left  int // rows
	width int // values of a row
}

// errNoRows says that an array has no rows for ArrayReader.Next to return.
var errNoRows = errors.New("the array has no rows of values")

// OpenArray opens a file, NPY or IDX, compressed with gzip or not, to read its rows. It is an error if the array has no rows,
// is a scalar, or has rows without values.
func OpenArray(path string) (*ArrayReader, error) {
	file, err := openReadable(path)
	if err != nil {
		return nil, err
	}
	r, err := newArrayReader(path, file, int(file.Size()))
	if err != nil {
		file.Close()
		return nil, err
	}
	r.file = file
	return r, nil
}

func newArrayReader(name string, c content, size int) (*ArrayReader, error) {
	s, err := newSource(name, c, size)
	if err != nil {
		return nil, err
	}
	l, err := s.header((*source).anyHeader)
	if err != nil {
		return nil, err
	}
	n, err := s.check(l)
	if err != nil {
		return nil, err
	}
	switch {
	case len(l.shape) == 0:
		return nil, fmt.Errorf("%s: %w: it is a single number", name, errNoRows)
	case n == 0 && l.shape[0] > 0:
		return nil, fmt.Errorf("%s: %w: its shape is %v", name, errNoRows, l.shape)
	case n == 0:
		return &ArrayReader{s: s, l: l}, s.end()
	}
	r := &ArrayReader{s: s, c: s, l: l, left: l.shape[0], width: n / l.shape[0]}
	if l.fortran {
		if r.c, err = s.toC(l, n); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Shape is the array's shape: the number of rows, then the shape of a row.
func (r *ArrayReader) Shape() []int { return slices.Clone(r.l.shape) }

// Next returns the next rows, at most the given number, and io.EOF when none are left. Before it returns the last rows, it
// checks the end of the file, and that it was not changed, so that it does not return the last rows of a damaged file.
func (r *ArrayReader) Next(rows int) (*Array, error) {
	if rows < 1 {
		panic("data: ArrayReader.Next of no rows")
	}
	if r.left == 0 {
		return nil, io.EOF
	}
	rows = min(rows, r.left)
	first := r.l.shape[0] - r.left
	values, err := r.l.read(r.c, rows*r.width)
	if r.left -= rows; r.left == 0 && err == nil {
		err = r.s.end()
	}
	if r.file != nil && (r.left == 0 || err != nil) {
		err = unchanged(r.file, err)
	}
	if err != nil {
		return nil, err
	}
	shape := r.Shape()
	shape[0] = rows
	return &Array{Name: r.s.name, Shape: shape, First: first, Values: values}, nil
}

// Close closes the file.
func (r *ArrayReader) Close() error { return r.file.Close() }
