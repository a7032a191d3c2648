package tables

import (
	"math"
	"slices"
)

// Profile is what a walk over rows of a table says of its columns: what data show prints of them, and what fit leaves out, takes for
// classes and fills in. Tables that do not fit in memory are added block by block.
type Profile struct {
	Rows    int
	Columns []Column
}

// Column is what a Profile says of a column. Of one that is left out it says nothing else.
type Column struct {
	LeftOut        bool
	Count, Missing int     // rows, and those without a value
	Sum, Low, High float64 // of the values that are there, if any is; of words they are those of their numbers
	Of             []int   // the rows of each word; nil: the column holds numbers

	counter
	values       []float64 // the different values in order, no more than MostFew and one; those of words are not looked at
	whole        bool      // all rows have a whole number
	rises, falls bool      // each from every row to the next
	last         float64
}

func (c *Column) add(v float64, words []string) {
	c.counter.add(v, words)
	first := c.Count == c.Missing
	c.Count++
	if v != v {
		c.Missing++
		c.whole = false
		return
	}
	if first || v < c.Low {
		c.Low = v
	}
	if first || v > c.High {
		c.High = v
	}
	c.Sum += v
	if words != nil {
		if k := int(v); k < len(c.Of) { // a word that a run does not know is none of them
			c.Of[k]++
		}
		return
	}
	if len(c.values) <= MostFew {
		if k, there := slices.BinarySearch(c.values, v); !there {
			c.values = slices.Insert(c.values, k, v)
		}
	}
	if c.whole = c.whole && v == math.Trunc(v) && !math.IsInf(v, 0); c.whole && !first {
		c.rises, c.falls = c.rises && v > c.last, c.falls && v < c.last
	}
	c.last = v
}

// Lacks reports whether a row lacks a value.
func (c *Column) Lacks() bool { return c.Missing > 0 }

// Empty reports whether no row has a value.
func (c *Column) Empty() bool { return c.Missing == c.Count }

// Constant reports whether all rows have the same value, or none has one.
func (c *Column) Constant() bool { return c.Empty() || !c.Lacks() && c.Low == c.High }

// Mean is the mean of the values that are there, NaN if there is none. It is between the least and the largest, which a sum that is rounded
// may miss.
func (c *Column) Mean() float64 { return max(c.Low, min(c.High, c.Sum/float64(c.Count-c.Missing))) }

// Largest is the largest magnitude, 0 without rows, and NaN if a value is missing.
func (c *Column) Largest() float64 {
	if c.Lacks() {
		return math.NaN()
	}
	return max(math.Abs(c.Low), math.Abs(c.High))
}

// MostFew is the number of values up to which a column of numbers has few, and FewestOf the least number of rows of each on average.
const (
	MostFew  = 30
	FewestOf = 5
)

// Values returns the values of a column of numbers in order; nil if there are more than 30, or if one is missing.
func (c *Column) Values() []float64 {
	if c.Lacks() || len(c.values) > MostFew {
		return nil
	}
	return c.values
}

// Few reports whether a column of numbers takes few values, each in five rows on average.
func (c *Column) Few() bool {
	n := len(c.Values())
	return n > 0 && c.Count >= FewestOf*n
}

// Classes reports whether the values look like classes: two integers, or all of the integers 0 … C−1, which are few.
func (c *Column) Classes() bool {
	values := c.Values()
	n := len(values)
	return c.whole && (n == 2 || n > 2 && values[0] == 0 && values[n-1] == float64(n-1) && c.Few())
}

// Amounts is the number of different values if they are few whole numbers, at least two; else 0.
func (c *Column) Amounts() int {
	if n := len(c.Values()); n > 1 && c.whole && c.Few() {
		return n
	}
	return 0
}

// Counts reports whether the column counts the rows.
func (c *Column) Counts() bool { return !c.LeftOut && c.counts() }
