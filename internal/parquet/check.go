package parquet

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/starling-smc/starling/internal/numeral"
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
	if err := apart(spans); err != nil {
		return err
	}
	return f.closes()
}

// mostLoose bounds the bytes before the description that belong to nothing that it lists. Older programs leave some behind each column.
const mostLoose = 64 << 10

// closes returns an error if the description does not follow what it describes: in two files that stand one behind the other the second
// describes bytes of the first, which could be read as its own.
func (f *File) closes() error {
	end := int64(len(magic))
	for g := range f.meta.RowGroups {
		for j := range f.meta.RowGroups[g].Columns {
			c := &f.meta.RowGroups[g].Columns[j]
			m := &c.MetaData
			from, n := place(m)
			end = max(end, from+n, c.ColumnIndexOffset+int64(c.ColumnIndexLength), c.OffsetIndexOffset+int64(c.OffsetIndexLength))
			if at := m.BloomFilterOffset; at > 0 {
				if m.BloomFilterLength == 0 {
					return nil // how far it goes is not said
				}
				end = max(end, at+int64(m.BloomFilterLength))
			}
		}
	}
	loose := f.body - end
	if loose < int64(len(magic)+Tail) {
		return nil
	}
	joined := loose > mostLoose || f.joined(loose, loose)
	if !joined {
		joined = f.joined(end, f.body)
	}
	if joined {
		return fmt.Errorf("the description at its end does not follow what it describes (%s bytes lie between them): are these two files joined? "+
			"Read each of them by itself and save them as one", numeral.Count(int(loose)))
	}
	return nil
}

// joined reports whether one file ends, and the next begins, between two places.
func (f *File) joined(from, to int64) bool {
	from, to = max(0, from-int64(len(magic))), to+int64(len(magic))
	b := make([]byte, min(to, f.size)-from)
	n, _ := f.raw.ReadAt(b, from)
	return bytes.Contains(b[:n], []byte(magic+magic))
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
