package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/starling-smc/starling/internal/cells"
)

// plainly writes the values of types that say no more of themselves.
var plainly = map[parquet.Kind]func([]byte, parquet.Value) []byte{
	parquet.Boolean: func(b []byte, v parquet.Value) []byte { return strconv.AppendBool(b, v.Boolean()) },
	parquet.Int32:   func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, int64(v.Int32()), 10) },
	parquet.Int64:   func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, v.Int64(), 10) },
	parquet.Float:   func(b []byte, v parquet.Value) []byte { return strconv.AppendFloat(b, float64(v.Float()), 'g', -1, 64) },
	parquet.Double:  func(b []byte, v parquet.Value) []byte { return strconv.AppendFloat(b, v.Double(), 'g', -1, 64) },
}

func writeUint32(b []byte, v parquet.Value) []byte {
	return strconv.AppendUint(b, uint64(v.Uint32()), 10)
}
func writeUint64(b []byte, v parquet.Value) []byte { return strconv.AppendUint(b, v.Uint64(), 10) }
func writeString(b []byte, v parquet.Value) []byte { return appendQuoted(b, v.ByteArray()) }

// appendQuoted appends a cell in double quotes, a quote within it doubled.
func appendQuoted(b, cell []byte) []byte {
	b = append(b, '"')
	for {
		k := bytes.IndexByte(cell, '"')
		if k < 0 {
			return append(append(b, cell...), '"')
		}
		b = append(append(b, cell[:k+1]...), '"')
		cell = cell[k+1:]
	}
}

// missing is the text of a missing value. A row of nothing else would be a blank line.
const missing = `""`

// parquetRows writes the rows of a file as the lines of a CSV.
type parquetRows struct {
	p       *parquetFile
	line    []byte // text that is not yet read
	group   int    // the next row group
	left    int64  // rows of the present one
	columns []pageValues
	err     error
}

// text begins to read the file as a CSV.
func (p *parquetFile) text() io.Reader {
	r := &parquetRows{p: p}
	for j, c := range p.columns {
		if j > 0 {
			r.line = append(r.line, ',')
		}
		r.line = appendQuoted(r.line, []byte(c.name))
	}
	r.line = append(r.line, '\n')
	return r
}

// Read implements io.Reader.
func (r *parquetRows) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(r.line) == 0 && r.err == nil {
			r.err = r.next()
		}
		if len(r.line) == 0 {
			break
		}
		k := copy(b[n:], r.line)
		n, r.line = n+k, r.line[k:]
	}
	if n > 0 || len(b) == 0 {
		return n, nil
	}
	return 0, r.err
}

// next writes the next rows. At the end of the file the error is io.EOF.
func (r *parquetRows) next() (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the Parquet file is damaged: %v", panicked)
		}
		if err != nil {
			r.close()
		}
	}()
	groups := r.p.file.RowGroups()
	for r.left == 0 {
		r.close()
		if r.group == len(groups) {
			return io.EOF
		}
		r.group++
		if err := r.begin(r.group-1, groups[r.group-1]); err != nil {
			return err
		}
	}
	const enough = 16 << 10
	text := r.line[:0]
	for ; r.left > 0 && len(text) < enough; r.left-- {
		for j := range r.columns {
			if j > 0 {
				text = append(text, ',')
			}
			if text, err = r.columns[j].append(text); err != nil {
				return fmt.Errorf("column %d (%s): %w", j+1, cells.Clip(r.p.columns[j].name), err)
			}
		}
		text = append(text, '\n')
	}
	if r.left == 0 {
		for j := range r.columns {
			if err := r.columns[j].end(); err != nil {
				return fmt.Errorf("column %d (%s): %w", j+1, cells.Clip(r.p.columns[j].name), err)
			}
		}
	}
	r.line = text
	return nil
}

// begin opens the columns of a row group.
func (r *parquetRows) begin(k int, g parquet.RowGroup) error {
	r.left = g.NumRows()
	chunks := g.ColumnChunks()
	for j := range r.p.columns {
		c := &r.p.columns[j]
		v := pageValues{write: c.write}
		if c.leaf != nil {
			if err := r.p.checkPages(k, c); err != nil {
				return fmt.Errorf("column %d (%s): %w", j+1, cells.Clip(c.name), err)
			}
			v.pages, v.kind = chunks[c.leaf.Index()].Pages(), c.leaf.Type().Kind()
		}
		r.columns = append(r.columns, v)
	}
	return nil
}

// close closes the columns of a row group.
func (r *parquetRows) close() {
	for j := range r.columns {
		r.columns[j].close()
	}
	r.columns = r.columns[:0]
}

// pageValues are the values of a column in a row group, a page at a time.
type pageValues struct {
	write  func([]byte, parquet.Value) []byte
	kind   parquet.Kind
	pages  parquet.Pages // nil: the column is left out
	page   parquet.Page
	reader parquet.ValueReader
	values [64]parquet.Value
	at, n  int
}

// append appends the text of the next value.
func (v *pageValues) append(text []byte) ([]byte, error) {
	if v.pages == nil {
		return append(text, missing...), nil
	}
	if v.at == v.n {
		if err := v.more(); err != nil {
			if err == io.EOF {
				err = errors.New("has fewer values than its row group has rows")
			}
			return nil, err
		}
	}
	value := v.values[v.at]
	v.at++
	if value.IsNull() {
		return append(text, missing...), nil
	}
	if value.Kind() != v.kind {
		return nil, errDamaged
	}
	return v.write(text, value), nil
}

// more reads the next values; io.EOF after the last.
func (v *pageValues) more() error {
	for {
		if v.page == nil {
			page, err := v.pages.ReadPage()
			if err != nil {
				return err
			}
			v.page, v.reader = page, page.Values()
		}
		n, err := v.reader.ReadValues(v.values[:])
		if v.at, v.n = 0, n; n > 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		parquet.Release(v.page)
		v.page = nil
	}
}

// end returns an error unless all values were read.
func (v *pageValues) end() error {
	if v.pages == nil {
		return nil
	}
	if v.at < v.n {
		return errors.New("has more values than its row group has rows")
	}
	switch err := v.more(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("has more values than its row group has rows")
	default:
		return err
	}
}

func (v *pageValues) close() {
	if v.page != nil {
		parquet.Release(v.page)
	}
	if v.pages != nil {
		v.pages.Close()
	}
}
