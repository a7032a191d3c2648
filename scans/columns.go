package scans

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/config"
)

// Columns choose columns of CSV by their names.
type Columns struct {
	Time        string   `yaml:"time,omitempty"`        // default: time, or the first column if none has this name
	Measurement []string `yaml:"measurement,omitempty"` // numbers of a measurement, in this order; default: all other columns
}

// Check wants each column once.
func (c Columns) Check(f *config.Faults) {
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
