// Package parquet reads Parquet files whose columns are flat, numbers, booleans and strings, as the CSV that the file would be: a missing
// value (null) is an empty cell, a boolean is true or false, and a number is the shortest text that is read back as its value. The
// memory holds one page of each column.
//
// Packages of parquet-go decode the metadata and the differences. They trust the counts in a file, and a few bytes could claim all memory:
// this package first compares the counts with the size of the file. The library's own reader does not, and it brings an HTTP client. Format: https://parquet.apache.org/docs/file-format/.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// Is reports whether a file begins like Parquet.
func Is(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// File is an open file.
type File struct {
	Columns []Column
	Rows    int64
	Groups  int // of rows

	raw  io.ReaderAt
	size int64
	meta format.FileMetaData
}

// Open reads what a file says about itself: its columns. use says which of them are looked at. An error does not name the file.
func Open(raw io.ReaderAt, size int64, use func(column string) bool) (f *File, err error) {
	defer recovered(&err)
	f = &File{raw: raw, size: size}
	footer, err := f.footer()
	if err != nil {
		return nil, err
	}
	if err := compact.Unmarshal(new(compact.CompactProtocol), footer, &f.meta); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := f.columns(); err != nil {
		return nil, err
	}
	for j := range f.Columns {
		f.Columns[j].Unused = !use(f.Columns[j].Name)
	}
	f.Rows, f.Groups = f.meta.NumRows, len(f.meta.RowGroups)
	return f, f.check()
}

// footer returns the description of the file, which stands at its end. It is walked over before anything is allocated by what it says.
func (f *File) footer() ([]byte, error) {
	const tail = 8 // the length of the description, and the magic
	if f.size < int64(len(magic)+tail) {
		return nil, errEarly
	}
	var end [tail]byte
	if _, err := f.raw.ReadAt(end[:], f.size-tail); err != nil {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, errors.New("the file ends early: Parquet ends with PAR1")
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > f.size-int64(len(magic))-tail {
		return nil, fmt.Errorf("the file ends early: its description should have %d bytes", length)
	}
	footer := make([]byte, length)
	if _, err := f.raw.ReadAt(footer, f.size-tail-length); err != nil {
		return nil, err
	}
	t := thrift{r: &sliceReader{footer}}
	if err := t.structure(0); err != nil {
		return nil, fmt.Errorf("the description at its end is damaged: %w", err)
	}
	return footer, nil
}

// columns lists the columns. The schema is a tree, each group before its fields, and its first element is the table.
func (f *File) columns() error {
	schema := f.meta.Schema
	if len(schema) == 0 || schema[0].Type.Valid {
		return errDamaged
	}
	leaf, next := 0, 1
	var pass func(depth int) error // over an element and what is in it
	pass = func(depth int) error {
		if next >= len(schema) || depth > thriftDeep {
			return errDamaged
		}
		e := &schema[next]
		if next++; e.Type.Valid {
			leaf++
			return nil
		}
		for n := e.NumChildren.V; n > 0; n-- {
			if err := pass(depth + 1); err != nil {
				return err
			}
		}
		return nil
	}
	for n := schema[0].NumChildren.V; n > 0; n-- {
		if next >= len(schema) {
			return errDamaged
		}
		e := &schema[next]
		c := Column{Name: e.Name, leaf: leaf, kind: e.Type.V, optional: e.RepetitionType.Valid && e.RepetitionType.V == format.Optional}
		c.What, c.Mend = c.of(e)
		f.Columns = append(f.Columns, c)
		if err := pass(0); err != nil {
			return err
		}
	}
	if f.Columns == nil {
		return errors.New("has no columns")
	}
	return nil
}

// check checks what the file says of its row groups.
func (f *File) check() error {
	rows := int64(0)
	for g, group := range f.meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > 1<<40 {
			return fmt.Errorf("row group %d claims %d rows", g, group.NumRows)
		}
		rows += group.NumRows
		for _, c := range f.Columns {
			if c.Unused || c.What != "" {
				continue
			}
			if c.leaf >= len(group.Columns) {
				return fmt.Errorf("row group %d lacks column %s", g, short(c.Name))
			}
			m := &group.Columns[c.leaf].MetaData
			if m.NumValues != group.NumRows || m.Type != c.kind {
				return fmt.Errorf("row group %d has %d rows, and %d values of column %s, of type %v", g, group.NumRows, m.NumValues, short(c.Name), m.Type)
			}
			if codecs[m.Codec] == nil {
				return fmt.Errorf("column %s is packed with %v: write the file with snappy, zstd or gzip", short(c.Name), m.Codec)
			}
			if from, n := place(m); from < 0 || n < 0 || from > f.size || n > f.size-from {
				return fmt.Errorf("the file ends early: row group %d has column %s beyond its end", g, short(c.Name))
			}
		}
	}
	if f.Rows != rows {
		return fmt.Errorf("says that it has %d rows, and its row groups have %d", f.Rows, rows)
	}
	return nil
}

// place returns where the pages of a column of a row group begin, and their bytes.
func place(m *format.ColumnMetaData) (from, n int64) {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset, m.TotalCompressedSize
	}
	return m.DataPageOffset, m.TotalCompressedSize
}
