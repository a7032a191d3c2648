// Package parquet reads Parquet files whose columns are flat, numbers, booleans and strings, as the CSV that the file would be: a missing
// value (null) is an empty cell, a boolean is true or false, and a number is the shortest text that is read back as its value. The
// memory holds one page of each column.
//
// A package of parquet-go decodes the metadata. It trusts the counts in a file, and a few bytes could claim all memory: this package first
// compares the counts with the size of the file (limits.go). The library's own reader does not, and it brings an HTTP client. Format:
// https://parquet.apache.org/docs/file-format/.
package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// Is reports whether a file begins like Parquet.
func Is(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// Tail is the number of bytes with which a file ends: the length of the description before them, and the magic.
const Tail = 8

// Ends reports whether a file of some size ends like Parquet, of which tail are the last bytes.
func Ends(tail []byte, size int) bool {
	return len(tail) == Tail && string(tail[4:]) == magic && uint64(little.Uint32(tail)) <= uint64(max(0, size-Tail))
}

// File is an open file.
type File struct {
	Columns []Column
	Rows    int64
	Groups  int // of rows

	raw  io.ReaderAt
	size int64
	body int64 // bytes before the description
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
	var begin [len(magic)]byte
	var end [Tail]byte
	for at, b := range map[int64][]byte{0: begin[:], f.size - Tail: end[:]} {
		if _, err := f.raw.ReadAt(b, at); err != nil && f.size >= int64(len(magic)+Tail) {
			return nil, err
		}
	}
	if n := f.after(); Is(begin[:]) && n > 0 {
		return nil, fmt.Errorf("the Parquet file goes on after its end (bytes that follow: %d): cut them off, or copy the file again", n)
	}
	switch begins, ends := Is(begin[:]), string(end[4:]) == magic; {
	case begins && (f.size < int64(len(magic)+Tail) || !ends):
		return nil, fmt.Errorf("%w: Parquet ends with PAR1", errEarly)
	case !begins && ends:
		return nil, errors.New("the file ends as Parquet does, with PAR1, and does not begin so: its beginning is lost or damaged: copy it again")
	case !begins:
		return nil, errors.New("the file neither begins nor ends as Parquet does, with PAR1: it is damaged, or its name is not that of its format")
	}
	length := int64(little.Uint32(end[:]))
	if f.body = f.size - Tail - length; f.body < int64(len(magic)) {
		return nil, fmt.Errorf("the file ends early: its description should have %d bytes", length)
	}
	footer := make([]byte, length)
	if _, err := f.raw.ReadAt(footer, f.body); err != nil {
		return nil, err
	}
	t := thrift{r: &sliceReader{footer}}
	if err := t.structure(0); err != nil {
		return nil, fmt.Errorf("the description at its end is damaged: %w", err)
	}
	if t.parts > max(fewParts, len(footer)/leastPart) {
		return nil, fmt.Errorf("the description at its end is damaged: it lists %d parts in %d bytes", t.parts, len(footer))
	}
	return footer, nil
}

// after counts the bytes that follow after what looks like the end of the file: at most mostLoose are looked at.
func (f *File) after() int {
	tail := make([]byte, min(f.size, mostLoose))
	n, _ := f.raw.ReadAt(tail, f.size-int64(len(tail)))
	tail = tail[:n]
	k := bytes.LastIndex(tail, []byte(magic))
	end := k + len(magic)
	if k < Tail-len(magic) || end == len(tail) {
		return 0
	}
	rest := len(tail) - end
	if length := int64(little.Uint32(tail[end-Tail:])); length == 0 || length > f.size-int64(rest+Tail+len(magic)) {
		return 0
	}
	return rest
}

// columns lists the columns. The schema is a tree, each group before its fields, and its first element is the table.
func (f *File) columns() error {
	schema := f.meta.Schema
	if len(schema) == 0 || schema[0].Type.Valid {
		return errors.New("its schema lists no table: it is damaged")
	}
	leaf, next := 0, 1
	var pass func(depth int) error // over an element and what is in it
	pass = func(depth int) error {
		if depth > thriftDeep {
			return fmt.Errorf("its schema has columns within columns, more than %d deep", thriftDeep)
		}
		if next >= len(schema) {
			return fmt.Errorf("its schema lists %d columns and groups, and claims more: it is damaged", len(schema)-1)
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
	n := schema[0].NumChildren.V
	switch {
	case n < 0 || int64(n) > int64(len(schema)-1):
		return fmt.Errorf("its schema claims %d columns, and lists %d: it is damaged", n, len(schema)-1)
	case n > mostColumns:
		return fmt.Errorf("has %d columns: at most %d are read", n, mostColumns)
	}
	for ; n > 0; n-- {
		if next >= len(schema) {
			return errors.New("its schema claims more columns than it lists: it is damaged")
		}
		e := &schema[next]
		if !utf8.ValidString(e.Name) {
			return fmt.Errorf("the name of column %d is not UTF-8 text: the Parquet file is damaged, or a program wrote it wrongly", len(f.Columns)+1)
		}
		c := Column{Name: e.Name, leaf: leaf, kind: e.Type.V, optional: e.RepetitionType.Valid && e.RepetitionType.V == format.Optional}
		c.What, c.Mend = c.of(e)
		f.Columns = append(f.Columns, c)
		if err := pass(0); err != nil {
			return err
		}
	}
	if next < len(schema) {
		return fmt.Errorf("its schema lists %d columns and groups more than it claims: it is damaged", len(schema)-next)
	}
	if f.Columns == nil {
		return errors.New("has no columns")
	}
	return nil
}
