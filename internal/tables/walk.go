package tables

import "slices"

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

// numberedRows is the least number of rows for numbers. With so many, a column of random whole numbers is among those that it finds with
// a probability below 1/1000.
const numberedRows = 25

// LeaveOutCounters leaves out the columns that count the rows of the file, those of words that all differ, and those of whole numbers that a
// float64 does not tell apart, except the target and those to keep. They tell a row from the others, and say nothing of rows that are not in
// the table.
func (t *Table) LeaveOutCounters(target string, keep []string) {
	for j, c := range t.Profile().Columns {
		name := t.ColumnName(j)
		switch {
		case name == target || slices.Contains(keep, name):
			continue
		case c.Counts() && t.Words(j) != nil:
			t.differ = append(t.differ, j)
		case c.Counts():
			t.counts = append(t.counts, j)
		case !c.LeftOut && c.whole && t.Large(j) != "":
			t.inexact = append(t.inexact, j)
		default:
			continue
		}
		t.leaveOut([]int{j})
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
