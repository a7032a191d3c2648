package tables

import "slices"

// SkipWithoutTarget leaves out the rows in which column j has no value, or a text that stands for one, and returns their number. A minus is a
// word beside a plus, and a class that is known is no missing value.
func (t *Table) SkipWithoutTarget(j int, known []string) int {
	words := t.Words(j)
	if slices.Contains(words, "+") {
		known = append(slices.Clone(known), "-")
	}
	without := make([]bool, len(words))
	for k, w := range words {
		without[k] = isMissing(w) && !slices.Contains(known, w)
	}
	kept := 0
	u := Table{Cols: t.Cols}
	for i := range t.Rows() {
		v := t.Values[i*t.Cols+j]
		if v != v || words != nil && without[int(v)] {
			continue
		}
		u.Values = t.Values[:kept*t.Cols]
		u.startsOn(t.Line(i))
		copy(t.Values[kept*t.Cols:], t.Values[i*t.Cols:(i+1)*t.Cols])
		if t.Keys != nil {
			t.Keys[kept] = t.Keys[i]
		}
		kept++
	}
	skipped := t.Rows() - kept
	if skipped == 0 {
		return 0
	}
	t.Values, t.lines, t.profile = t.Values[:kept*t.Cols], u.lines, nil
	if t.Keys != nil {
		t.Keys = t.Keys[:kept]
	}
	t.rename(j, without)
	return skipped
}

// rename takes words, which no row has, from those of column j.
func (t *Table) rename(j int, gone []bool) {
	if !slices.Contains(gone, true) {
		return
	}
	number := make([]float64, len(gone))
	var left []string
	for k, w := range t.Names[j] {
		if number[k] = float64(len(left)); !gone[k] {
			left = append(left, w)
		}
	}
	t.Names = slices.Clone(t.Names)
	t.Names[j] = left
	for i := j; i < len(t.Values); i += t.Cols {
		t.Values[i] = number[int(t.Values[i])]
	}
}
