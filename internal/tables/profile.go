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

// Profile walks over all rows. It does so once: a table is not changed when it is read.
func (t *Table) Profile() *Profile {
	if t.profile == nil {
		t.profile = new(Profile)
		t.profile.Add(t)
	}
	return t.profile
}

// ProfileOf walks over some rows.
func (t *Table) ProfileOf(rows []int32) *Profile {
	p := new(Profile)
	p.begin(t)
	for j := range p.Columns {
		if c := &p.Columns[j]; !c.LeftOut {
			for _, i := range rows {
				c.add(t.Values[int(i)*t.Cols+j], t.Words(j))
			}
		}
	}
	p.Rows = len(rows)
	return p
}

// Add adds all rows of the next block of a table.
func (p *Profile) Add(t *Table) {
	if p.Columns == nil {
		p.begin(t)
	}
	for j := range p.Columns {
		if c := &p.Columns[j]; !c.LeftOut {
			words := t.Words(j)
			for i := j; i < len(t.Values); i += t.Cols {
				c.add(t.Values[i], words)
			}
		}
	}
	p.Rows += t.Rows()
}

func (p *Profile) begin(t *Table) {
	p.Columns = make([]Column, t.Cols)
	for j := range p.Columns {
		c := &p.Columns[j]
		*c = Column{LeftOut: t.Left(j), counter: counterOf(t.ColumnName(j)), whole: true, rises: true, falls: true}
		if words := t.Words(j); words != nil {
			c.Of = make([]int, len(words))
		}
	}
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
		c.Of[int(v)]++
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

// Mean is the mean of the values that are there, NaN if there is none.
func (c *Column) Mean() float64 { return c.Sum / float64(c.Count-c.Missing) }

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

// LeaveOutCounters leaves out the columns that count the rows of the file, except the target and those to keep. They tell a row from
// the others, and say nothing of rows that are not in the table.
func (t *Table) LeaveOutCounters(target string, keep []string) {
	for j, c := range t.Profile().Columns {
		if name := t.ColumnName(j); c.Counts() && name != target && !slices.Contains(keep, name) {
			t.leaveOut([]int{j})
			t.counts = append(t.counts, j)
		}
	}
}

// Numbered lists the columns that do not count the rows but may number them, except the target and those to keep.
func (t *Table) Numbered(target string, keep []string) (names []string) {
	for j := range t.Cols {
		if name := t.ColumnName(j); name != target && !slices.Contains(keep, name) && t.numbers(j) {
			names = append(names, name)
		}
	}
	return names
}

// numberedRows is the least number of rows for numbers. With so many, a column of random whole numbers is among those that it finds with
// a probability below 1/1000.
const numberedRows = 25

// numbers reports whether column j, which does not count the rows, looks as if it numbered them, for example from 1000 on, or after rows
// were removed or shuffled. Its whole numbers rise from every row to the next, or fall, or are all different in a range of twice as many
// numbers as there are rows. Some such columns are inputs, such as years.
func (t *Table) numbers(j int) bool {
	c := &t.Profile().Columns[j]
	switch {
	case t.Left(j) || c.Of != nil || !c.whole || c.Count < numberedRows:
		return false
	case c.rises || c.falls:
		return true
	case c.High-c.Low >= float64(2*c.Count):
		return false
	}
	seen := make([]bool, int(c.High-c.Low)+1)
	for i := j; i < len(t.Values); i += t.Cols {
		k := int(t.Values[i] - c.Low)
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}
