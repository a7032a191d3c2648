// Package packed opens files of numbers and texts, and unpacks those that gzip packed: it reads a file that is not changed meanwhile,
// within bounds of memory, and says of a fault at which byte it is.
package packed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/regular"
)

// Ratio and Floor bound the size of unpacked bytes in proportion to the file, so that a small file cannot fill the memory: at most Ratio
// times its size (MNIST's images unpack to five times their size), or Floor if that is more.
const (
	Ratio = 64
	Floor = 8 << 20
)

// Is reports whether gzip packed a file.
func Is(file io.ReaderAt) bool {
	const magic = "\x1f\x8b"
	var head [len(magic)]byte
	n, _ := file.ReadAt(head[:], 0) // a shorter file is not packed
	return string(head[:n]) == magic
}

// File is a file, or bytes in memory.
type File interface {
	io.Reader
	io.ReaderAt
}

// Source reads the bytes of a file, unpacked. Memory grows with the bytes that are read, not with the size that a header claims.
type Source struct {
	Name   string
	Size   int  // of the file
	Packed bool // with gzip
	At     int  // unpacked bytes read so far

	r io.Reader
}

// New begins to read a file of size bytes. Name stands for it in errors.
func New(name string, file File, size int) (*Source, error) {
	s := &Source{Name: name, r: file, Size: size}
	if Is(file) {
		z, err := newMembers(file)
		if err != nil {
			return nil, fmt.Errorf("%s: byte 0: damaged gzip header: %w", name, Ended(err))
		}
		s.r, s.Packed = z, true
	}
	return s, nil
}

// Bytes reads bytes as they are, whatever they begin with.
func Bytes(name string, raw []byte) *Source {
	return &Source{Name: name, r: bytes.NewReader(raw), Size: len(raw)}
}

// Most is the largest number of bytes that the file may unpack to.
func (s *Source) Most() int {
	if !s.Packed {
		return s.Size
	}
	return max(Ratio*s.Size, Floor)
}

// Errorf returns an error at a byte of the file, counted after unpacking.
func (s *Source) Errorf(at int, format string, args ...any) error {
	where := ""
	if s.Packed {
		where = " after unpacking"
	}
	return fmt.Errorf("%s: byte %d%s: %w", s.Name, at, where, fmt.Errorf(format, args...))
}

// Fill reads all of b.
func (s *Source) Fill(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.At += n
	return Ended(err)
}

// Read implements io.Reader. A damaged file, or one that ends early, does not end like one that is whole: the error says where, without
// the file's name.
func (s *Source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.At += n
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("byte %d after unpacking: %w", s.At, Ended(err))
	}
	return n, err
}

// End returns an error unless the file ends here. For a packed file gzip's checksum is compared now.
func (s *Source) End() error {
	var more [1]byte
	switch _, err := io.ReadFull(s.r, more[:]); err {
	case io.EOF:
		return nil
	case nil:
		return s.Errorf(s.At, "bytes follow after the last value")
	default:
		return s.Errorf(s.At, "%w", Ended(err))
	}
}

// Ended replaces the errors for a file that ends early or is damaged by plain sentences. Other errors stay as they are.
func Ended(err error) error {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return errors.New("the file ends early")
	case gzip.ErrHeader:
		return errors.New("what follows the packed data is not gzip")
	}
	return err
}

// Reading opens a file, lets read read it, and closes it. It is an error if the file was changed meanwhile.
func Reading[T any](path string, open func(path string) (*regular.File, error), read func(*regular.File) (T, error)) (T, error) {
	file, err := open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer file.Close()
	v, err := read(file)
	return v, Unchanged(file, err)
}

// Unchanged returns err, the error of reading a file, or an error if the file was changed since it was opened: what was read may be a
// part of it, and err may be about a place that was never in it.
func Unchanged(file *regular.File, err error) error {
	changed := file.Unchanged()
	switch {
	case changed == nil:
		return err
	case err == nil:
		return changed
	}
	return fmt.Errorf("%w (%w)", changed, err)
}
