package data

import (
	"math"
	"slices"
)

// counter tells whether a column counts the rows of a file: 0, 1, 2, …, or 1, 2, …, or words of which no two are the same. The index that
// pandas writes also counts them where rows were shuffled or removed: whole numbers of which no two are the same.
type counter struct {
	index bool // it has one of indexNames
	rows  int
	first float64
	words []string
	whole []float64 // the values of an index
	other bool      // it does not
}

// indexNames are the names that pandas gives to an index that has none: in CSV, in CSV that it has read and writes again, and in Parquet.
var indexNames = []string{"", "Unnamed: 0", "__index_level_0__"}

// counterOf returns a counter of a column of that name.
func counterOf(name string) counter { return counter{index: slices.Contains(indexNames, name)} }

// add takes the next values of the column, and its words, which are nil for a column of numbers.
func (c *counter) add(values []float64, words []string) {
	if c.rows == 0 && len(values) > 0 {
		c.first, c.words = values[0], words
		c.other = words == nil && !c.index && c.first != 0 && c.first != 1
	}
	for _, v := range values {
		if c.other {
			c.whole = nil
			return
		}
		c.rows++
		switch {
		case words != nil:
			c.other = v != v || c.rows > len(words)
		case c.index:
			c.other = v != math.Trunc(v)
			c.whole = append(c.whole, v)
		default:
			c.other = v != c.first+float64(c.rows-1)
		}
	}
}

// counts reports whether the column counts the rows, of which there must be two. As many words as rows that all have one are all
// different.
func (c *counter) counts() bool {
	if c.other || c.rows < 2 || c.words != nil && c.rows != len(c.words) {
		return false
	}
	slices.Sort(c.whole)
	for i := 1; i < len(c.whole); i++ {
		if c.whole[i] == c.whole[i-1] {
			return false
		}
	}
	return true
}

// leaveOutCounters leaves out the columns that count the rows of the file, except the target and those to keep. They tell a row from
// the others, and say nothing of rows that are not in the table.
func (t *Table) leaveOutCounters(target string, keep []string) {
	for j := range t.Cols {
		name := t.name(j)
		if t.leftOut(j) || name == target || slices.Contains(keep, name) {
			continue
		}
		c, words := counterOf(name), t.words(j)
		for i := j; i < len(t.Values) && !c.other; i += t.Cols {
			c.add(t.Values[i:i+1], words)
		}
		if c.counts() {
			t.leaveOut([]int{j})
			t.counts = append(t.counts, j)
		}
	}
}

// numberedRows is the least number of rows for numbered. With so many, a column of random whole numbers is among them with a probability below
// 1/1000.
const numberedRows = 25

// numbered lists the columns that do not count the rows but may number them, for example from 1000 on, or after rows were removed or shuffled.
// Their whole numbers rise from every row to the next, or fall, or are all different in a range of twice as many numbers as there are
// rows. Some are inputs, such as years, so they are not left out. Columns to keep are not listed.
func (t *Table) numbered(target string, keep []string) (names []string) {
	for j := range t.Cols {
		name := t.name(j)
		if t.Rows() >= numberedRows && !t.leftOut(j) && t.words(j) == nil && name != target && !slices.Contains(keep, name) && t.numbers(j) {
			names = append(names, name)
		}
	}
	return names
}

// numbers reports whether column j of whole numbers looks as if it numbered the rows.
func (t *Table) numbers(j int) bool {
	low, high, rises, falls := math.Inf(1), math.Inf(-1), true, true
	for i := j; i < len(t.Values); i += t.Cols {
		v := t.Values[i]
		if v != math.Trunc(v) || math.IsInf(v, 0) { // a missing value is NaN
			return false
		}
		low, high = min(low, v), max(high, v)
		if i > j {
			rises, falls = rises && v > t.Values[i-t.Cols], falls && v < t.Values[i-t.Cols]
		}
	}
	if rises || falls {
		return true
	}
	if high-low >= float64(2*t.Rows()) {
		return false
	}
	seen := make([]bool, int(high-low)+1)
	for i := j; i < len(t.Values); i += t.Cols {
		k := int(t.Values[i] - low)
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}
