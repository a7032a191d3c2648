package formats

import (
	"bytes"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/tables"
)

// ReadArray reads a whole file, NPY or IDX, compressed with gzip or not; the content tells which.
func ReadArray(path string) (*arrays.Array, error) { return ReadArrayAs(path, anyArray) }

// ReadArrayAs reads a whole file of one format.
func ReadArrayAs(path string, header arrays.Header) (*arrays.Array, error) {
	return packed.Reading(path, open, func(file *regular.File) (*arrays.Array, error) {
		s, err := packed.New(path, file, int(file.Size()))
		if err != nil {
			return nil, err
		}
		return arrays.Whole(s, header)
	})
}

// StoreArray is ReadArray of a file whose numbers stay there if they can (arrays.Store): those of an NPY of float16 or float32, in C order,
// little-endian and not compressed, where the system maps files.
func StoreArray(path string) (*arrays.Array, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	a, err := arrays.Store(path, file, anyArray)
	if err = packed.Unchanged(file, err); err != nil || a.Stored == nil {
		file.Close()
	}
	return a, err
}

// LayoutOf reads the type and the shape of an array in a file, and returns the number of its values.
func LayoutOf(path string) (l *arrays.Layout, n int, err error) {
	_, err = packed.Reading(path, open, func(file *regular.File) (none struct{}, err error) {
		s, err := packed.New(path, file, int(file.Size()))
		if err == nil {
			l, n, err = arrays.Begin(s, anyArray)
		}
		return none, err
	})
	return l, n, err
}

// OpenArray opens a file, NPY or IDX, compressed with gzip or not, to read its rows. It is an error if the array has no rows,
// is a scalar, or has rows without values.
func OpenArray(path string) (*arrays.Reader, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	r, err := arrays.NewReader(path, file, int(file.Size()), anyArray)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// IsArray reports whether a file begins like NPY or IDX, as no table does, packed with gzip or not. For a file of another known
// format, the error names the format. Of a file that is too short, or is damaged, its reader reports the error.
func IsArray(path string) (bool, error) {
	file, err := open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	b, err := beginningOf(path, file, int(file.Size()))
	if err != nil {
		return false, err
	}
	return b.packed && len(b.head) < 2 || arrayOf(b.head) != nil, nil
}

// arrayOf is the format of an array that begins like this; nil: it is none.
func arrayOf(head []byte) *format {
	return first(func(f *format) bool {
		return f.array != nil && (f.begins != nil && f.begins(head) || f.may != nil && f.may(head))
	})
}

// anyArray is the arrays.Header of every format of arrays.
func anyArray(s *packed.Source, head [4]byte) (*arrays.Layout, error) {
	if f := arrayOf(head[:]); f != nil {
		return f.array(s, head)
	}
	if f := (&beginning{head: head[:]}).known(); f != nil && f.table != nil {
		return nil, fmt.Errorf("%s: is %s, which is a table: want an array, NPY or IDX", s.Name, f.what)
	}
	return nil, s.Errorf(0, "% x begins neither a NumPy file (93 4e 55 4d) nor an IDX file (00 00)", head)
}

// openTable opens a table; what no other format begins like is a text.
func openTable(name string, raw io.ReaderAt, size int, o tables.CSV) (*tables.File, error) {
	b, err := beginningOf(name, raw, size)
	if err != nil {
		return nil, err
	}
	if f := b.known(); f != nil && f.table != nil && !b.packed {
		return f.table(name, raw, size, o)
	}
	return tables.Open(name, raw, size, o)
}

// Table calls read with a table in a file: text, packed with gzip or not, or Parquet.
func Table[T any](path string, o tables.CSV, read func(f *tables.File) (T, error)) (T, error) {
	return packed.Reading(path, open, func(file *regular.File) (T, error) {
		f, err := openTable(path, file, int(file.Size()), o)
		if err != nil {
			var none T
			return none, err
		}
		return read(f)
	})
}

// ReadCSV reads a table. Errors name file, line and column.
func ReadCSV(path string, o tables.CSV) (*tables.Table, error) {
	return Table(path, o, (*tables.File).Table)
}

// DecodeCSV decodes the bytes of a file; name stands for it in errors.
func DecodeCSV(name string, raw []byte, o tables.CSV) (*tables.Table, error) {
	f, err := openTable(name, bytes.NewReader(raw), len(raw), o)
	if err != nil {
		return nil, err
	}
	return f.Table()
}

// ScanCSV reads a table in blocks, as tables.File.Scan does. That the file was changed is found after the last block.
func ScanCSV(path string, o tables.CSV, rows int, fn func(*tables.Table) error) error {
	_, err := Table(path, o, func(f *tables.File) (none struct{}, err error) { return none, f.Scan(rows, fn) })
	return err
}
