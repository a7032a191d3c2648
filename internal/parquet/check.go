package parquet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// mostOf is the largest number of values that a page may have.
func (f *File) mostOf() int64 { return max(fewValues, min(mostValues, ratio*min(f.size, mostValues))) }

// span is where a column of a row group lies.
type span struct {
	from, to int64
	group    int
	column   *Column
}

// check checks what the file says of its row groups.
func (f *File) check() error {
	var spans []span
	rows := int64(0)
	for g := range f.meta.RowGroups {
		group := &f.meta.RowGroups[g]
		if group.NumRows < 0 || group.NumRows > mostRows {
			return fmt.Errorf("row group %d claims %d rows", g, group.NumRows)
		}
		rows += group.NumRows // of at most as many groups as a description has bytes: no overflow
		for j := range f.Columns {
			c := &f.Columns[j]
			if c.Unused || c.What != "" {
				continue
			}
			s, err := f.span(g, c)
			if err != nil {
				return err
			}
			if s.to > s.from {
				spans = append(spans, s)
			}
		}
	}
	if f.Rows != rows {
		return fmt.Errorf("says that it has %d rows, and its row groups have %d", f.Rows, rows)
	}
	return apart(spans)
}

// span checks what the file says of a column of row group g.
func (f *File) span(g int, c *Column) (span, error) {
	group := &f.meta.RowGroups[g]
	if c.leaf >= len(group.Columns) {
		return span{}, fmt.Errorf("row group %d lacks column %s", g, short(c.Name))
	}
	m := &group.Columns[c.leaf].MetaData
	if m.NumValues != group.NumRows || m.Type != c.kind {
		return span{}, fmt.Errorf("row group %d has %d rows, and %d values of column %s, of type %v", g, group.NumRows, m.NumValues, short(c.Name), m.Type)
	}
	if _, known := codecs[m.Codec]; !known {
		return span{}, fmt.Errorf("column %s is packed with %v: write the file with snappy, zstd or gzip", short(c.Name), m.Codec)
	}
	from, n := place(m)
	if from < 0 || n < 0 || from > f.size || n > f.size-from {
		return span{}, fmt.Errorf("the file ends early: row group %d has column %s beyond its end", g, short(c.Name))
	}
	if n > 0 && (from < int64(len(magic)) || from+n > f.body) {
		return span{}, fmt.Errorf("row group %d has column %s in bytes %d to %d, which are not those of values", g, short(c.Name), from, from+n)
	}
	if group.NumRows > n/leastPage*f.mostOf() {
		return span{}, fmt.Errorf("row group %d claims %d rows of column %s in %d bytes", g, group.NumRows, short(c.Name), n)
	}
	return span{from, from + n, g, c}, nil
}

// apart returns an error if columns share bytes: a few bytes would be a table of any size.
func apart(spans []span) error {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.from < a.to {
			return fmt.Errorf("column %s of row group %d and column %s of row group %d are in the same bytes of the file, from %d on: it is damaged",
				short(a.column.Name), a.group, short(b.column.Name), b.group, b.from)
		}
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
