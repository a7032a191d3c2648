package scans

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
)

// csvScans reads scans as CSV: a header, then a row a measurement. Successive rows of equal time are a scan. A measurement with an
// empty cell is missing.
//
// A row whose time cannot be read belongs to the scan of the row before it.
type csvScans struct {
	*table
	measurement []int // columns
	values      numbers
	numbers     []float64 // of a row

	ahead bool // the row was read, but not taken: it begins the next scan
	row   []cells.Cell
	fault *BadError // of the row
}

// newCSVScans reads the header and chooses columns.
func newCSVScans(text *bufio.Reader, columns *Columns) (*csvScans, error) {
	t, err := newTable(text)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = &Columns{}
	}
	c := &csvScans{table: t}
	if columns.Time != "" {
		t.time, err = t.column(columns.Time)
	} else {
		t.time, err = t.usual("time", 0)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range columns.Measurement {
		j, err := t.column(name)
		if err != nil {
			return nil, err
		}
		c.measurement = append(c.measurement, j)
	}
	if columns.Measurement == nil {
		for j := range t.header {
			if j != t.time {
				c.measurement = append(c.measurement, j)
			}
		}
	}
	if n := columns.notation(); n != nil {
		c.units, c.written = columns.Units != "", map[int]*cells.Notation{}
		for _, j := range c.measurement {
			c.written[j] = n
		}
	}
	switch {
	case len(c.measurement) == 0:
		return nil, errors.New("the CSV has a time, but no columns of measurements: want a header as in time,x,y")
	case slices.Contains(c.measurement, t.time):
		return nil, errors.New("the column of the time is also one of the measurement: choose another with columns: {time: …}")
	}
	return c, nil
}

func (c *csvScans) ignored() []string {
	var names []string
	for j, name := range c.header {
		if j != c.time && !slices.Contains(c.measurement, j) {
			names = append(names, name)
		}
	}
	return names
}

// next returns the scan that the next rows are.
func (c *csvScans) next() (*draft, error) {
	var d *draft
	var fault *BadError // the first of the scan
	c.values.n = 0
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
		switch {
		case d == nil && untimed != nil:
			c.ahead = false
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
	d.rec.Values = c.values.take()
	return d, nil
}

// measure adds the row's measurement to the scan.
func (c *csvScans) measure(r *Record) *BadError {
	c.numbers = c.numbers[:0]
	missing := false
	for _, j := range c.measurement {
		if len(c.row[j].Text) == 0 {
			missing = true
			continue
		}
		v, fault := c.number(c.row[j], j)
		if fault != nil {
			return fault
		}
		c.numbers = append(c.numbers, v)
	}
	if missing {
		r.Missing++
		return nil
	}
	c.values.add(c.numbers...)
	return nil
}
