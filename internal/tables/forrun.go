package tables

import (
	"math"

	"github.com/starling-smc/starling/internal/cells"
)

// forRun is what the reader of a table for a run saw, and what a user may not expect.
type forRun struct {
	ignored []string    // the columns that are left out because the run's table had not got them
	byPlace bool        // there is no header, where the run's table had one
	words   *dictionary // counts the words that no training row had
	// constants are the columns that are left out because they were constant, by their places.
	constants map[int]*oneValue
}

// oneValue is a column that had one value in all training rows, and counts the cells of another table that have another one.
type oneValue struct {
	values []string // that one
	number float64  // its number; NaN: it is a word
	others int
}

func newOneValue(value string) *oneValue {
	k := &oneValue{values: []string{value}, number: math.NaN()}
	if v, err := cells.Number([]byte(value)); err == nil {
		k.number = v
	}
	return k
}

// see counts a cell. One without a value is no other value.
func (k *oneValue) see(text []byte) {
	v, err := cells.Number(text)
	switch {
	case err == nil && (v != v || v == k.number):
	case err != nil && (isMissing(string(text)) || Category(k.values, string(text)) == 0):
	default:
		k.others++
	}
}
