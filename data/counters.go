package data

import "slices"

// counter tells whether a column counts the rows of a file: 0, 1, 2, …, or 1, 2, …, or words of which no two are the same.
type counter struct {
	rows  int
	first float64
	words []string
	other bool // it does not
}

// add takes the next values of the column, and its words, which are nil for a column of numbers.
func (c *counter) add(values []float64, words []string) {
	if c.rows == 0 && len(values) > 0 {
		c.first, c.words = values[0], words
		c.other = words == nil && c.first != 0 && c.first != 1
	}
	for _, v := range values {
		if c.other {
			return
		}
		if c.rows++; words != nil {
			c.other = v != v || c.rows > len(words)
		} else {
			c.other = v != c.first+float64(c.rows-1)
		}
	}
}

// counts reports whether the column counts the rows, of which there must be two. As many words as rows that all have one are all
// different.
func (c *counter) counts() bool {
	return !c.other && c.rows > 1 && (c.words == nil || c.rows == len(c.words))
}

// leaveOutCounters leaves out the columns that count the rows of the file, except the target and those to keep. They tell a row from
// the others, and say nothing of rows that are not in the table.
func (t *Table) leaveOutCounters(target string, keep []string) {
	for j := range t.Cols {
		if name := t.name(j); t.leftOut(j) || name == target || slices.Contains(keep, name) {
			continue
		}
		c, words := counter{}, t.words(j)
		for i := j; i < len(t.Values) && !c.other; i += t.Cols {
			c.add(t.Values[i:i+1], words)
		}
		if c.counts() {
			t.leaveOut([]int{j})
			t.counts = append(t.counts, j)
		}
	}
}
