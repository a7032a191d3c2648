package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/spelling"
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
		if v, err := cells.Number([]byte(c)); err == nil || k > 0 && c <= e.Categories[k-1] {
			return fmt.Errorf("column %q: category %q: want words in order, not numbers (%v)", e.Column, c, v)
		}
	}
	if len(e.Categories) > tables.MaxCategories || e.Indicator && !e.Missing || !(math.Abs(e.Mean) <= math.MaxFloat64) || e.Mean != 0 && (e.Categories != nil || !e.Missing) {
		return fmt.Errorf("column %q: %d categories, missing %v, indicator %v, mean %v", e.Column, len(e.Categories), e.Missing, e.Indicator, e.Mean)
	}
	return nil
}

// expansion returns the expansion of a column; nil: it is one number.
func (s *Schema) expansion(column string) *Expansion {
	for i := range s.Expand {
		if s.Expand[i].Column == column {
			return &s.Expand[i]
		}
	}
	return nil
}

// InputNames returns the names of the inputs that a table's columns become, without an intercept; nil for arrays.
func (s *Schema) InputNames() (names []string) {
	for _, c := range s.Features() {
		e := s.expansion(c)
		if e == nil {
			e = &Expansion{Column: c}
		}
		names = e.names(names)
	}
	return names
}

// Cells returns the cells of a table's inputs in the order of Features, of an example's inputs without an intercept and in the units
// of the file: numbers as number writes those of an input, words, or nothing where a value is missing.
func (s *Schema) Cells(x []float64, number func(input int) string) (texts []string) {
	at := 0
	for _, c := range s.Features() {
		e := s.expansion(c)
		if e == nil {
			e = &Expansion{Column: c}
		}
		first := at
		at += e.width()
		texts = append(texts, e.text(x[first:at], func(k int) string { return number(first + k) }))
	}
	return texts
}

// expansions returns those of all features, nil where there is none; nil if there is none at all.
func (s *Schema) expansions() []*Expansion {
	if s.Expand == nil {
		return nil
	}
	features := s.Features()
	all := make([]*Expansion, len(features))
	for k, c := range features {
		all[k] = s.expansion(c)
	}
	return all
}

// unknown is the error for a word that is none of a column's categories.
func (s *Schema) unknown(text string, categories []string) error {
	mend := ": write"
	if hint := spelling.Suggest(text, categories); hint != "" {
		mend = hint + " Write"
	}
	return fmt.Errorf("%s is no category that the training rows have (%s)%s one of them, or train with data.csv.other: zeros, which takes a new word for no category",
		cells.Quote([]byte(text)), cells.QuoteSome(categories), mend)
}

// numberings returns, for each feature that is a column of words, the number of the category of each word of the table's column,
// len(Categories) for a word that is none. It is nil for other columns, and where the table's reader knew the categories. A table that has a
// number in such a column is an error.
func (s *Schema) numberings(t *Table, rows []int32, columns []int, expand []*Expansion) ([][]int, error) {
	numberings := make([][]int, len(columns))
	for k, e := range expand {
		if e == nil || e.Categories == nil {
			continue
		}
		words := t.Words(columns[k])
		if len(words) > 0 && len(words) == len(e.Categories) && &words[0] == &e.Categories[0] {
			continue
		}
		if words == nil {
			for _, i := range rows {
				if v := t.Values[int(i)*t.Cols+columns[k]]; v == v {
					return nil, fmt.Errorf("%s: line %d, %s: %s is a number, where the run's table has words: %s", t.Name, t.Line(int(i)), t.Title(columns[k]),
						strconv.FormatFloat(v, 'g', -1, 64), cells.QuoteSome(e.Categories))
				}
			}
		}
		numberings[k] = make([]int, len(words))
		for n, w := range words {
			numberings[k][n] = tables.Category(e.Categories, w)
		}
	}
	return numberings, nil
}
