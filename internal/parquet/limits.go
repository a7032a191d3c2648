package parquet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/starling-smc/starling/internal/numeral"
)

// What a file claims is compared with its size before anything is allocated by it. A page may have many values in few bytes, since a
// column that hardly changes takes almost none, so that values alone are no memory: they are read one after another from the bytes of
// their page. What is in memory are the bytes of one page of each column, unpacked, and of its dictionary.
const (
	mostPage    = 256 << 20 // bytes of a page, unpacked
	fewValues   = 4 << 20   // values of a page that any file may have
	ratio       = 1024      // values of a page for each byte of the file that it may have beyond these
	mostValues  = 1 << 26   // values of a page of any file
	leastPage   = 8         // bytes of the header of a page
	mostColumns = 1 << 16   // of a table, as of a CSV
	mostRow     = 4<<20 - 1 // bytes of a row's text, as of a CSV
	mostRows    = 1 << 40   // of a row group

	mostHeld  = 256 << 20 // bytes of the pages of all columns together, unpacked, that any file may have
	heldRatio = 64        // bytes of them for each byte of the file, if these are more

	fewParts  = 4096 // structures of a description that any file may have
	leastPart = 4    // bytes of a structure beyond these, on the average: in memory it takes many times as many
)

// room is the memory that is left for the pages of all columns of a row group.
type room struct{ left, whole int64 }

func newRoom(size int64) *room {
	whole := max(mostHeld, heldRatio*min(size, 1<<40))
	return &room{whole, whole}
}

// take takes n bytes.
func (r *room) take(n int64) error {
	if n < 0 || n > r.left {
		return fmt.Errorf("a page that takes %s bytes: with those of the columns before it that is more than %s bytes of memory, far more than the file's size allows: write the file with smaller pages, or with smaller row groups",
			numeral.Count(int(n)), numeral.Count(int(r.whole)))
	}
	r.left -= n
	return nil
}

func (r *room) give(n int64) { r.left += n }

// mostOf is the largest number of values that a page may have.
func (f *File) mostOf() int64 { return max(fewValues, min(mostValues, ratio*min(f.size, mostValues))) }

// inProportion returns an error if a page has far more bytes than its values can take, each of a width in bytes: values, levels and
// places in a dictionary, in runs of one.
func inProportion(size, values int64, width int) error {
	const (
		beside = 16 // bytes of a value beside its own
		few    = 1024
	)
	if width > 0 && size > few+values*int64(width+beside) {
		return fmt.Errorf("a page of %s bytes for %s of %d bytes each", numeral.Count(int(size)), numeral.Several(int(values), "value"), width)
	}
	return nil
}

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
