package tables

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
)

// complete ends the reading of words: it puts the words of all columns in order, and leaves out the columns of which no two words
// are the same and that have too many.
func (t *Table) complete(d *dictionary) error {
	for j := range t.Cols {
		w := d.columns[j]
		switch {
		case w == nil || w.names != nil:
		case w.all == nil:
			w.complete()
		case w.distinct():
			t.leaveOut([]int{j})
			t.differ = append(t.differ, j)
		default:
			return fmt.Errorf("%s: %w", t.Title(j), &manyWords{t.ColumnName(j)})
		}
	}
	t.nameWords(d)
	return nil
}

// nameWords gives a table the words of its columns. One in which all cells are missing has none.
func (t *Table) nameWords(d *dictionary) {
	for j, w := range d.columns {
		if len(w.names) == 0 {
			continue
		}
		if t.Names == nil {
			t.Names = make([][]string, t.Cols)
		}
		t.Names[j] = w.names
	}
}

// sortNames completes the words, and renumbers those of each column. They were numbered in the order of the rows; the new numbers
// are places in sorted order, which do not depend on the order of the rows.
func (t *Table) sortNames(d *dictionary) error {
	came := map[int][]string{} // the words of each column by their first numbers
	for j, w := range d.columns {
		if w.names != nil {
			continue
		}
		came[j] = make([]string, len(w.ids))
		for n, id := range w.ids {
			came[j][id] = n
		}
	}
	if err := t.complete(d); err != nil {
		return err
	}
	for j, words := range came {
		for i := j; i < len(t.Values); i += t.Cols {
			if v := t.Values[i]; t.Left(j) {
				t.Values[i] = math.NaN()
			} else if v == v {
				t.Values[i] = float64(d.columns[j].ids[words[int(v)]])
			}
		}
	}
	return nil
}

// CompleteTarget refuses a word of the target, column j, that stands for a missing value and is not the name of a class that is known. A
// minus is a word beside a plus.
func (t *Table) CompleteTarget(j int, classes bool, known []string) error {
	words := t.Words(j)
	if slices.Contains(words, "+") || slices.Contains(known, "+") {
		known = append(slices.Clone(known), "-")
	}
	missing := func(v float64) bool { return isMissing(words[int(v)]) && !slices.Contains(known, words[int(v)]) }
	for i := 0; words != nil && i < t.Rows(); i++ {
		v := t.Values[i*t.Cols+j]
		if v != v || !missing(v) {
			continue
		}
		mend := "fill it or remove the row"
		if classes {
			mend = "fill it, remove the row, or write another word if it is a class"
		}
		return fmt.Errorf("%s: %s, %s: %s stands for a missing value: %s", t.Name, t.Where(i), t.Title(j), cells.Quote([]byte(words[int(v)])), mend)
	}
	return nil
}
