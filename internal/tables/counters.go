package tables

import (
	"math"
	"slices"
)

// counter tells whether a column counts the rows of a file: 0, 1, 2, …, or 1, 2, …, or words of which no two are the same. The index that
// pandas writes also counts them where rows were shuffled or removed: whole numbers of which no two are the same.
type counter struct {
	index bool // it has one of indexNames
	rows  int
	start float64
	words []string

	sorted []float64 // the values of an index, once counts has put them in order
	other  bool      // it does not
}

// indexNames are the names that pandas gives to an index that has none: in CSV, in CSV that it has read and writes again, and in Parquet.
var indexNames = []string{"", "Unnamed: 0", "__index_level_0__"}

// IsIndex reports whether pandas gives this name to an index that has none.
func IsIndex(name string) bool { return slices.Contains(indexNames, name) }

// counterOf returns a counter of a column of that name.
func counterOf(name string) counter { return counter{index: IsIndex(name)} }

// add takes the next value of the column, and its words, which are nil for a column of numbers.
func (c *counter) add(v float64, words []string) {
	if c.other {
		return
	}
	if c.rows == 0 {
		c.start, c.words = v, words
		c.other = words == nil && !c.index && v != 0 && v != 1
	}
	c.rows++
	switch {
	case c.other:
	case words != nil:
		c.other = v != v || c.rows > len(words)
	case c.index:
		if c.other = v != math.Trunc(v); c.other {
			c.sorted = nil
			return
		}
		c.sorted = append(c.sorted, v)
	default:
		c.other = v != c.start+float64(c.rows-1)
	}
}

// counts reports whether the column counts the rows, of which there must be two. As many words as rows that all have one are all
// different.
func (c *counter) counts() bool {
	if c.other || c.rows < 2 || c.words != nil && c.rows != len(c.words) {
		return false
	}
	slices.Sort(c.sorted)
	for i := 1; i < len(c.sorted); i++ {
		if c.sorted[i] == c.sorted[i-1] {
			return false
		}
	}
	return true
}
