package safetensors

import (
	"fmt"
	"io"
	"slices"
)

// File is a file whose values are read when they are wanted.
type File struct {
	Tensors  []Tensor // without Data
	Metadata map[string]string

	from   io.ReaderAt
	begins []int64 // of each tensor's values in the file
	sizes  []int   // bytes of a value
}

// Open reads the header of a file of some size. It is as strict as Parse.
func Open(from io.ReaderAt, size int64) (*File, error) {
	first := make([]byte, min(8, max(0, size)))
	if err := readAt(from, first, 0); err != nil {
		return nil, err
	}
	n, err := headerLength(first, size)
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	if err := readAt(from, text, 8); err != nil {
		return nil, err
	}
	h, err := parseHeader(text, int(size-8-int64(n)))
	if err != nil {
		return nil, err
	}
	f := &File{Tensors: h.tensors, Metadata: h.metadata, from: from}
	for i, t := range h.tensors {
		f.begins = append(f.begins, int64(8+n+h.begins[i]))
		f.sizes = append(f.sizes, sizes[t.DType])
	}
	return f, nil
}

// Find returns the number of the tensor of that name; −1 if there is none.
func (f *File) Find(name string) int {
	return slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
}

// Values returns n values of tensor i, from one on.
func (f *File) Values(i, from, n int) ([]float64, error) {
	t := f.Tensors[i]
	t.Data = make([]byte, n*f.sizes[i])
	if err := readAt(f.from, t.Data, f.begins[i]+int64(from*f.sizes[i])); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return t.Float64s(), nil
}

// All returns tensor i with its Data.
func (f *File) All(i int) (Tensor, error) {
	t := f.Tensors[i]
	n := f.sizes[i]
	for _, d := range t.Shape {
		n *= d
	}
	t.Data = make([]byte, n)
	return t, readAt(f.from, t.Data, f.begins[i])
}

// readAt fills b.
func readAt(from io.ReaderAt, b []byte, at int64) error {
	n, err := from.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
