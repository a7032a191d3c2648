package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/starling-smc/starling/internal/cells"
)

// A Parquet file is a table if its columns are flat: numbers, booleans and strings. It is read as the CSV that it would be, row by
// row: a missing value (null) is an empty cell, a boolean is true or false, and a number is the shortest text that is read back as
// its value. So all that holds for a CSV holds for it. In memory is one page of each column, not a row group.
//
// Format: https://parquet.apache.org/docs/file-format/. The library trusts what a file claims about its sizes, so they are checked
// before (parquet_check.go), and its panics become errors.

const parquetMagic = "PAR1"

// isParquet reports whether a file begins like Parquet.
func isParquet(head []byte) bool { return strings.HasPrefix(string(head), parquetMagic) }

// parquetFile is an open Parquet file.
type parquetFile struct {
	name    string // for errors, whose lines are those of the CSV
	raw     io.ReaderAt
	size    int64
	file    *parquet.File
	columns []parquetColumn
	named   bool // always true: the CSV begins with the names
}

// parquetColumn is a column; leaf is nil for one that is left out, which may have any type.
type parquetColumn struct {
	name  string
	leaf  *parquet.Column
	write func(text []byte, v parquet.Value) []byte // appends the text of a value that is not null
}

// ColumnTypeError says that a column of a Parquet file has values that a table cannot hold.
type ColumnTypeError struct {
	File, Name string
	Column     int    // from 1
	What       string // the values
	Mend       string
}

func (e *ColumnTypeError) Error() string {
	return fmt.Sprintf("%s: column %d (%s): holds %s, not numbers, booleans or strings: %s", e.File, e.Column, cells.Clip(e.Name), e.What, e.Mend)
}

// openParquet reads what a file says about its columns.
func openParquet(name string, raw io.ReaderAt, size int, o CSV) (p *parquetFile, err error) {
	defer func() { err = parquetFault(name, recover(), err) }()
	if o.schema == nil && (o.Delimiter != "" || o.Header != nil) {
		return nil, errors.New("delimiter and header are of CSV files, this one is Parquet: leave them out")
	}
	if err := checkFooter(raw, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(raw, int64(size), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(parquetBuffer))
	if err != nil {
		return nil, err
	}
	p = &parquetFile{name: name + ", as a CSV", raw: raw, size: int64(size), file: file, named: true}
	for j, c := range file.Root().Columns() {
		column := parquetColumn{name: c.Name()}
		if o.uses(c.Name()) {
			what, mend := "", ""
			if column.write, what, mend = textOf(c); what != "" {
				return nil, &ColumnTypeError{name, c.Name(), j + 1, what, mend}
			}
			column.leaf = c
		}
		p.columns = append(p.columns, column)
	}
	if len(p.columns) == 0 {
		return nil, errors.New("has no columns")
	}
	return p, checkGroups(p)
}

const parquetBuffer = 32 << 10

// uses reports whether the cells of a column are looked at: it is neither left out nor unknown to the run.
func (o *CSV) uses(column string) bool {
	s := o.schema
	switch {
	case s == nil:
		return !slices.Contains(o.Drop, column)
	case s.Columns == nil || !s.Named:
		return true
	}
	return column == s.Target || slices.Contains(s.Columns, column) && s.input(column)
}

// parquetFault returns an error that names the file, also for a panic of the library.
func parquetFault(name string, panicked any, err error) error {
	var column *ColumnTypeError
	switch {
	case panicked != nil:
		return fmt.Errorf("%s: the Parquet file is damaged: %v", name, panicked)
	case err == nil, errors.As(err, &column):
		return err
	}
	return fmt.Errorf("%s: %w", name, ended(err))
}

// textOf returns how the values of a column are written, or what they are and how to mend it if a table cannot hold them.
func textOf(c *parquet.Column) (write func([]byte, parquet.Value) []byte, what, mend string) {
	const asNumbers = "save it as numbers or strings, or leave it out"
	switch {
	case !c.Leaf():
		return nil, "nested values", "save each of its fields as a column of its own, or leave it out"
	case c.Repeated():
		return nil, "lists", "save each item as a column of its own, or leave it out"
	}
	var logical format.LogicalTypeValue
	if l := c.Type().LogicalType(); l != nil {
		logical = l.Value
	}
	switch kind := c.Type().Kind(); logical := logical.(type) {
	case nil:
		if write := plainly[kind]; write != nil {
			return write, "", ""
		}
		switch kind {
		case parquet.Int96:
			return nil, "times", asNumbers
		case parquet.FixedLenByteArray:
			return nil, "bytes of a fixed length, such as half-precision floats", asNumbers
		}
		return nil, "bytes", asNumbers
	case *format.IntType:
		switch {
		case logical.IsSigned:
			return plainly[kind], "", ""
		case kind == parquet.Int32:
			return writeUint32, "", ""
		}
		return writeUint64, "", ""
	case *format.StringType, *format.EnumType, *format.NullType: // of the last all values are missing
		return writeString, "", ""
	case *format.DecimalType:
		return nil, "decimals", "save it as floats, or leave it out"
	case *format.DateType:
		return nil, "dates", "save it as numbers, such as days since a date, or leave it out"
	case *format.TimestampType, *format.TimeType:
		return nil, "times", "save it as numbers, such as seconds since a time, or leave it out"
	default:
		return nil, "values of the type " + fmt.Sprint(logical), asNumbers
	}
}

// bytes estimates the memory that the table takes with the sets that are made of it.
func (p *parquetFile) bytes() int64 {
	return p.file.NumRows() * int64(len(p.columns)*(inTable+inSet)+inRow)
}

// checkFooter checks the end of a file, where its description is, before anything is allocated by what it claims.
func checkFooter(raw io.ReaderAt, size int) error {
	const tail = 8 // the length of the description, and the magic
	if size < len(parquetMagic)+tail {
		return errors.New("the file ends early")
	}
	var end [tail]byte
	if _, err := raw.ReadAt(end[:], int64(size-tail)); err != nil {
		return err
	}
	if string(end[4:]) != parquetMagic {
		return errors.New("the file ends early: Parquet ends with PAR1")
	}
	length := int(binary.LittleEndian.Uint32(end[:]))
	if length > size-len(parquetMagic)-tail {
		return fmt.Errorf("the file ends early: its description should have %s bytes", thousands(uint64(length)))
	}
	footer := make([]byte, length)
	if _, err := raw.ReadAt(footer, int64(size-tail-length)); err != nil {
		return err
	}
	t := thrift{r: &sliceReader{footer}}
	if err := t.structure(0); err != nil {
		return fmt.Errorf("the description at its end is damaged: %w", err)
	}
	return nil
}
