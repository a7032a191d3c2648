package scans

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
)

// csvScans reads scans as CSV: a header, then a row a measurement. Successive rows of equal time are a scan. A measurement whose
// cells are all empty is missing; one with some empty cells is a part.
//
// A row whose time cannot be read belongs to the scan of the row before it. One whose time cannot be is of a bad scan of its own.
type csvScans struct {
	*table
	measurement []int    // columns
	names       []string // of the columns that are not read
	ids         []string // of those among them that tell rows or targets apart
	values      numbers
	parts       parts
	numbers     []float64 // of a row
	there       []int     // and their places in the measurement

	ahead bool // the row was read, but not taken: it begins the next scan
	row   []cells.Cell
	fault *BadError // of the row

	cannot []byte // the time of the last bad scan, if it could be read and cannot be
}

// newCSVScans reads the header and chooses columns: that of the time is the one of that name, if it is not empty. unit is that of times that
// are numbers; empty: the header or their size tells it.
func newCSVScans(text *bufio.Reader, columns *Columns, time string, unit Unit) (*csvScans, error) {
	t, err := newTable(text)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = &Columns{}
	}
	c := &csvScans{table: t}
	for _, name := range columns.Measurement {
		j, err := t.column(name)
		if err != nil {
			return nil, err
		}
		c.measurement = append(c.measurement, j)
	}
	if err := t.chooseTime(cmp.Or(time, columns.Time), c.measurement); err != nil {
		return nil, err
	}
	t.unit = cmp.Or(unit, t.unit)
	if columns.Measurement == nil {
		c.chooseMeasurement()
	}
	if n := columns.notation(); n != nil {
		c.comma = n.Decimal == ","
		c.units, c.written = columns.Units != "", map[int]*cells.Notation{}
		for _, j := range c.measurement {
			c.written[j] = n
		}
	}
	switch {
	case len(c.header) == 1 && strings.ContainsAny(c.header[0], " |:"):
		return nil, fmt.Errorf("the header, %s, is one column: separate columns by commas, semicolons or tabs, as in time,x,y", t.title(0))
	case len(c.measurement) == 0:
		return nil, errors.New("the CSV has a time, but no columns of measurements: want a header as in time,x,y")
	case slices.Contains(c.measurement, t.time):
		return nil, fmt.Errorf("the column of the time, %s, is also one of the measurement: choose another with scans.time", t.title(t.time))
	}
	var names []string
	for j, name := range c.header {
		if j != c.time && !slices.Contains(c.measurement, j) {
			names = append(names, name)
		}
	}
	if c.ids != nil {
		t.note("columns that are not read, since they look like names of rows or targets: %s; scans.columns lists those to read", strings.Join(c.ids, ", "))
	} else if names != nil {
		t.note("columns that are not read: %s", strings.Join(names, ", "))
	}
	c.names = names
	c.numbers, c.there = make([]float64, 0, len(c.measurement)), make([]int, 0, len(c.measurement))
	return c, nil
}

// chooseMeasurement takes all columns but that of the time and those that tell rows or targets apart.
func (c *csvScans) chooseMeasurement() {
	var ids []int
	for j, name := range c.header {
		switch {
		case j == c.time:
		case isID(name) && !c.headless:
			ids = append(ids, j)
			c.ids = append(c.ids, c.title(j))
		default:
			c.measurement = append(c.measurement, j)
		}
	}
	if c.measurement == nil {
		c.measurement, c.ids = ids, nil
	}
}

func (c *csvScans) chosen() []string {
	var names []string
	for _, j := range c.measurement {
		names = append(names, c.title(j))
	}
	return names
}

func (c *csvScans) ignored() []string { return c.names }

// next returns the scan that the next rows are.
func (c *csvScans) next() (*draft, error) {
	var d *draft
	var fault *BadError // the first of the scan
	c.values.n = 0
	c.parts.take()
	for {
		if !c.ahead {
			var err error
			if c.row, c.fault, err = c.table.row(); err == io.EOF && d != nil {
				return c.ended(d, fault)
			} else if err != nil {
				return nil, err
			}
			c.ahead = true
		}
		at, untimed := c.at(c.row)
		if c.fault == nil {
			c.fault = untimed
		}
		if untimed == nil {
			c.cannot = nil
		}
		cannot := untimed != nil && errors.As(untimed, new(impossibleTime))
		switch {
		case cannot && bytes.Equal(c.row[c.time].Text, c.cannot): // of the bad scan before
			c.ahead = false
			continue
		case cannot && d != nil:
			return c.ended(d, fault)
		case d == nil && untimed != nil:
			c.ahead, c.cannot = false, nil
			if cannot {
				c.cannot = bytes.Clone(c.row[c.time].Text)
			}
			return nil, c.fault
		case d == nil:
			d = &draft{rec: &Record{Line: c.cells.Start}, at: at, column: c.time + 1}
			d.rec.Text, d.rec.Width = string(c.row[c.time].Text), len(c.measurement)
		case untimed == nil && (at.kind != d.at.kind || at.compare(d.at) != 0):
			return c.ended(d, fault)
		}
		c.ahead = false
		if c.fault == nil {
			c.fault = c.measure(d.rec)
		}
		if fault == nil {
			fault = c.fault
		}
	}
}

// ended returns the scan whose last row was read, or the first fault in it.
func (c *csvScans) ended(d *draft, fault *BadError) (*draft, error) {
	if fault != nil {
		return nil, fault
	}
	d.rec.Values, d.rec.Parts = c.values.take(), c.parts.take()
	return d, nil
}

// measure adds the row's measurement to the scan.
func (c *csvScans) measure(r *Record) *BadError {
	c.numbers, c.there = c.numbers[:0], c.there[:0]
	for i, j := range c.measurement {
		if len(c.row[j].Text) == 0 {
			continue
		}
		v, fault := c.number(c.row[j], j)
		if fault != nil {
			return fault
		}
		c.numbers, c.there = append(c.numbers, v), append(c.there, i)
	}
	switch len(c.there) {
	case len(c.measurement):
		c.values.add(c.numbers...)
	case 0:
		r.Missing++
	default:
		c.parts.add(c.there, c.numbers)
	}
	return nil
}
