package data

import (
	"math"
	"slices"
)

// Look is what a table offers to a network that predicts one of its columns.
type Look struct {
	Rows   int
	Inputs int // of the network; a column of words has one for each category

	Classes int  // of the target; 0: the target is a number
	Words   bool // the target holds words

	Missing  []string // columns in which values are missing
	OneHot   []string // columns of words
	Counted  []string // columns that count the rows, which are left out
	Constant []string // columns that are the same in all rows, which are dropped
}

// mostClasses is the largest number of integers 0 … C−1 that are taken for classes, and fewestOf the least number of rows of each on
// average.
const (
	mostClasses = 30
	fewestOf    = 5
)

// Look reads the table and says what its target is and how many inputs a network has. The target is a class if it holds words, two
// integers, or all of the integers 0 … C−1 with C at most 30 and five rows of each on average; else it is a number. A fault of the
// settings is a *FieldError.
func (o CSV) Look() (*Look, error) {
	t, err := o.load()
	if err != nil {
		return nil, err
	}
	t.leaveOutCounters(o.Target, nil)
	target, err := t.Column(o.Target)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, t.Rows())
	for i := range rows {
		rows[i] = int32(i)
	}
	classes := t.areClasses(target)
	s, err := Columns{Target: o.Target, Classes: classes, Missing: true}.Schema(t, rows)
	if err != nil {
		return nil, err
	}
	l := &Look{Rows: t.Rows(), Inputs: s.Shape[0], Classes: s.Classes, Words: t.words(target) != nil, Counted: s.Counted, Constant: s.Dropped}
	for _, e := range s.Expand {
		if e.Missing {
			l.Missing = append(l.Missing, e.Column)
		}
		if e.Categories != nil {
			l.OneHot = append(l.OneHot, e.Column)
		}
	}
	return l, nil
}

// areClasses reports whether column j looks like classes.
func (t *Table) areClasses(j int) bool {
	if t.words(j) != nil {
		return true
	}
	var values []float64
	for i := j; i < len(t.Values); i += t.Cols {
		v := t.Values[i]
		if v != math.Trunc(v) { // NaN too, which Schema refuses where it stands
			return false
		}
		if k, ok := slices.BinarySearch(values, v); !ok {
			if values = slices.Insert(values, k, v); len(values) > mostClasses {
				return false
			}
		}
	}
	n := len(values)
	return n == 2 || n > 2 && values[0] == 0 && values[n-1] == float64(n-1) && t.Rows() >= fewestOf*n
}
