package tables

import (
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/parquet"
)

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

// OpenParquet opens a Parquet file, as Open does a text. A column may have any type if its cells are not looked at.
func OpenParquet(name string, raw io.ReaderAt, size int, o CSV) (*File, error) {
	if o.run == nil && (o.Delimiter != "" || o.Header != nil) {
		return nil, fmt.Errorf("%s: delimiter and header are of CSV files, this one is Parquet: leave them out", name)
	}
	p, err := parquet.Open(raw, int64(size), o.uses)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, packed.Ended(err))
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		if c.What != "" && !c.Unused && o.run != nil && o.run.Dropped(c.Name) { // its value is only compared
			c.Unused = true
		}
		if c.What != "" && !c.Unused && o.run == nil && c.Name != o.Target && slices.Contains(indexNames, c.Name) {
			c.Unused = true // an index of dates, as pandas writes it
			o.dates = append(o.dates, c.Name)
		}
		if c.What != "" && !c.Unused {
			return nil, &ColumnTypeError{name, c.Name, j + 1, c.What, c.Mend}
		}
	}
	f, named := newFile(name, raw, size, o), true
	f.p, f.o.Delimiter, f.o.Header = p, ",", &named
	return f, nil
}

// uses reports whether the cells of a column are looked at.
func (o *CSV) uses(column string) bool {
	switch {
	case column == o.keyed() && column != "":
		return true
	case o.run != nil:
		return o.run.Uses(column)
	}
	return !slices.Contains(o.Drop, column)
}
