package safetensors

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// File is a file whose values are read when they are wanted.
type File struct {
	Tensors  []Tensor // without Data
	Metadata map[string]string

	places [][]place // of each tensor's values: one, or several that follow each other
}

// place is where values lie.
type place struct {
	from  io.ReaderAt
	begin int64
	bytes int
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
	f := &File{Tensors: h.tensors, Metadata: h.metadata}
	for i, begin := range h.begins {
		f.places = append(f.places, []place{{from, int64(8 + n + begin), h.ends[i] - begin}})
	}
	return f, nil
}

// Find returns the number of the tensor of that name; −1 if there is none.
func (f *File) Find(name string) int {
	return slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
}

// bytes is the number of bytes of tensor i.
func (f *File) bytes(i int) (n int) {
	for _, p := range f.places[i] {
		n += p.bytes
	}
	return n
}

// Values calls visit with n values of tensor i, from one on, a few at a time, in memory that is used again: values is valid until visit
// returns. An error is one of reading, or of visit.
func (f *File) Values(i, from, n int, visit func(values []float64) error) error {
	t, size, s := f.Tensors[i], sizes[f.Tensors[i].DType], stretches.Get().(*stretch)
	defer stretches.Put(s)
	for end := from + n; from < end; from += len(s.values) {
		values := s.values[:min(len(s.values), end-from)]
		t.Data = s.bytes[:len(values)*size]
		if err := f.read(i, t.Data, from*size); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		t.float64s(values)
		if err := visit(values); err != nil {
			return err
		}
	}
	return nil
}

// stretch is memory for values that are read together.
type stretch struct {
	values [1 << 13]float64
	bytes  [1 << 16]byte
}

var stretches = sync.Pool{New: func() any { return new(stretch) }}

// All returns tensor i with its Data.
func (f *File) All(i int) (Tensor, error) {
	t := f.Tensors[i]
	t.Data = make([]byte, f.bytes(i))
	return t, f.read(i, t.Data, 0)
}

// read fills b with bytes of tensor i, from one on.
func (f *File) read(i int, b []byte, from int) error {
	for _, p := range f.places[i] {
		if n := min(len(b), p.bytes-from); n > 0 {
			if err := readAt(p.from, b[:n], p.begin+int64(from)); err != nil {
				return err
			}
			b, from = b[n:], from+n
		}
		from -= p.bytes
	}
	return nil
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
