package scans

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
)

// Columns choose columns of CSV by their names, and say how their numbers are written.
type Columns struct {
	Time        string   `yaml:"time,omitempty"`              // the column of the time, as scans.time
	Measurement []string `yaml:"measurement,omitempty,brief"` // numbers of a measurement, in this order; default: all other columns, but for id and its kin
	Decimal     string   `yaml:"decimal,omitempty"`           // the decimal mark of measurements and times: . or ,; default: .
	Thousands   string   `yaml:"thousands,omitempty"`         // the mark between their thousands: , . ' or " ", which stands for blanks of all kinds; default: none
	Units       string   `yaml:"units,omitempty"`             // strip: a text around the numbers of a column, such as % or cm, is no part of them, and the same in all rows
}

// notation is how measurements are written; nil: as plain numbers.
func (c *Columns) notation() *cells.Notation {
	if c.Decimal != "," && c.Thousands == "" && c.Units == "" {
		return nil
	}
	n := &cells.Notation{Thousands: c.Thousands, Books: true}
	if c.Decimal == "," {
		n.Decimal = c.Decimal
	}
	return n
}

// Check wants each column once.
func (c Columns) Check(f *config.Faults) {
	if c.Decimal != "" {
		f.OneOf("decimal", c.Decimal, cells.DecimalMarks...)
	}
	if c.Thousands != "" {
		f.OneOf("thousands", c.Thousands, cells.ThousandsMarks...)
	}
	if c.Units != "" {
		f.OneOf("units", c.Units, "strip")
	}
	if n := c.notation(); n != nil && n.Check() != nil {
		f.Conflict([]string{"decimal", "thousands"}, "decimal and thousands are the same mark: want two different ones")
	}
	for i, name := range c.Measurement {
		field := fmt.Sprintf("measurement.%d", i)
		switch {
		case name == "":
			f.Add(field, "is empty: want the name of a column")
		case name == c.Time:
			f.Add(field, "%q is also the column of the time", name)
		case slices.Contains(c.Measurement[:i], name):
			f.Add(field, "%q comes twice", name)
		}
	}
}
