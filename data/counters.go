package data

import "slices"

// leaveOutCounters leaves out the columns that count the rows of the file, except the target and those to keep: 0, 1, 2, …, or 1, 2, …,
// or words of which no two are the same. They tell a row from the others, and say nothing of rows that are not in the table.
func (t *Table) leaveOutCounters(target string, keep []string) {
	for j := range t.Cols {
		if name := t.name(j); !t.leftOut(j) && name != target && !slices.Contains(keep, name) && t.isCounter(j) {
			t.leaveOut([]int{j})
			t.counts = append(t.counts, j)
		}
	}
}

// isCounter reports whether column j counts the rows, of which there must be two.
func (t *Table) isCounter(j int) bool {
	n := t.Rows()
	if n < 2 {
		return false
	}
	if words := t.words(j); words != nil {
		if len(words) != n {
			return false
		}
		for i := range n { // n words in n rows are all different, unless a row has none
			if v := t.Values[i*t.Cols+j]; v != v {
				return false
			}
		}
		return true
	}
	first := t.Values[j]
	if first != 0 && first != 1 {
		return false
	}
	for i := range n {
		if t.Values[i*t.Cols+j] != first+float64(i) {
			return false
		}
	}
	return true
}
