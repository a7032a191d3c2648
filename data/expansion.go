package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// Expansion says which inputs a column of a table becomes. A column of numbers without one is one input.
//
// A column of words becomes an input for each of its categories, in order: 1 where the cell holds it and else 0. A column of numbers
// stays one input. With Indicator, one more input follows: 1 where the cell is missing and else 0. Inputs of 0 and 1 are not
// standardised: a prior takes them as they are, and a rare category would otherwise become a number far from 0 with much more
// weight than the others (docs/adr/0019-columns-of-words.md).
type Expansion struct {
	Column     string   `json:"column"`
	Categories []string `json:"categories,omitempty"` // the words of the training rows, in order; nil: the column holds numbers
	Codes      bool     `json:"codes,omitempty"`      // numbers are categories, too, as the config says
	// Missing says that a cell may be missing: a number is then Mean, the mean of the training rows that have one, and a word is no
	// category. Indicator says that there is an input for it; there is none if it would be the same in all training rows.
	Missing   bool    `json:"missing,omitempty"`
	Indicator bool    `json:"indicator,omitempty"`
	Mean      float64 `json:"mean,omitempty"`
}

// width is the number of inputs.
func (e *Expansion) width() int {
	n := max(1, len(e.Categories))
	if e.Indicator {
		n++
	}
	return n
}

// append appends the inputs of a cell: a number or the index of a category, len(Categories) for a word that is none, and NaN where
// the cell is missing.
func (e *Expansion) append(x []float64, v float64) []float64 {
	missing := v != v
	switch {
	case e.Categories != nil:
		from := len(x)
		for range e.Categories {
			x = append(x, 0)
		}
		if !missing && int(v) < len(e.Categories) {
			x[from+int(v)] = 1
		}
	case missing:
		x = append(x, e.Mean)
	default:
		x = append(x, v)
	}
	if !e.Indicator {
		return x
	}
	if missing {
		return append(x, 1)
	}
	return append(x, 0)
}

// names appends the names of the inputs.
func (e *Expansion) names(names []string) []string {
	if e.Categories == nil {
		names = append(names, e.Column)
	}
	for _, c := range e.Categories {
		names = append(names, e.Column+" = "+c)
	}
	if e.Indicator {
		names = append(names, e.Column+" missing")
	}
	return names
}

// text is the cell of a file whose inputs are given, with number to write a number; empty where it is missing or was a word that is
// no category.
func (e *Expansion) text(x []float64, number func(k int) string) string {
	switch k := slices.Index(x[:len(e.Categories)], 1); {
	case e.Categories != nil && k >= 0:
		return e.Categories[k]
	case e.Categories != nil || e.Indicator && x[len(x)-1] == 1:
		return ""
	}
	return number(0)
}

// check returns the first inconsistency of an expansion that came from a file.
func (e *Expansion) check() error {
	for k, c := range e.Categories {
		if v, err := cells.Number([]byte(c)); err == nil && !e.Codes || k > 0 && c <= e.Categories[k-1] {
			return fmt.Errorf("column %q: category %q: want words in order, not numbers (%v)", e.Column, c, v)
		}
	}
	if len(e.Categories) > tables.MaxCategories || e.Indicator && !e.Missing || !(math.Abs(e.Mean) <= math.MaxFloat64) || e.Mean != 0 && (e.Categories != nil || !e.Missing) {
		return fmt.Errorf("column %q: %d categories, missing %v, indicator %v, mean %v", e.Column, len(e.Categories), e.Missing, e.Indicator, e.Mean)
	}
	return nil
}
