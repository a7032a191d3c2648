package report

import (
	"bytes"
	"strings"
	"testing"
)

func comparison(t *testing.T, shapes ...shape) (*Comparison, error) {
	t.Helper()
	var runs []Judged
	for i, s := range shapes {
		f := s.make(t)
		runs = append(runs, Judged{string(rune('a' + i)), f.run, f.j})
	}
	return NewComparison(runs)
}

func TestCompare(t *testing.T) {
	for _, shapes := range [][]shape{
		{{groups: []string{"far"}}, {groups: []string{"far"}, chains: true}},
		{{outputs: 1}, {outputs: 1}, {outputs: 1, islands: 9}},
		{{groups: []string{"far"}}, {}, {single: true, groups: []string{"near"}}},
	} {
		for i := range shapes { // the same network everywhere, and so the same draws for the test examples
			shapes[i].islands, shapes[i].lines = 3, 6
		}
		c, err := comparison(t, shapes...)
		if err != nil {
			t.Fatal(err)
		}
		var page, again bytes.Buffer
		if err := c.Write(&page); err != nil {
			t.Fatal(err)
		}
		if err := c.Write(&again); err != nil || again.String() != page.String() {
			t.Error("the same runs give another page")
		}
		checkPage(t, page.String())
		for _, row := range c.Rows() {
			if len(row) != 1 && len(row) != len(shapes)+1 {
				t.Errorf("row %q for %d runs", row, len(shapes))
			}
		}
	}
}

// TestSameExamples tells runs that were judged on the same examples from others, however these were standardised.
func TestSameExamples(t *testing.T) {
	c, err := comparison(t, shape{}, shape{})
	if err != nil || c.Warnings != nil {
		t.Errorf("the same run twice: %v, %q", err, c.Warnings)
	}
	c, err = comparison(t, shape{n: 60}, shape{n: 62})
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "a on 60 test examples of rows.csv (") || !strings.Contains(c.Warnings[0], "b on 62 test examples (") {
		t.Errorf("other examples: %v, %q", err, c.Warnings)
	}
	a, b := shape{}.make(t), shape{}.make(t)
	standardised := *b.j.Problem.Test
	b.run.Schema.Inputs = standard(3)
	standardised.F32 = nil
	for i := range a.j.Problem.Test.F32 {
		standardised.F32 = append(standardised.F32, (a.j.Problem.Test.F32[i]-5)/2)
	}
	b.j.Problem.Test = &standardised
	c, err = NewComparison([]Judged{{"a", a.run, a.j}, {"b", b.run, b.j}})
	if err != nil || c.Warnings != nil {
		t.Errorf("standardised: %v, %q", err, c.Warnings)
	}
	standardised.F32[7] += .1
	c, err = NewComparison([]Judged{{"a", a.run, a.j}, {"b", b.run, b.j}})
	if err != nil || c.Warnings == nil {
		t.Errorf("one value differs: %v, %q", err, c.Warnings)
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct {
		shapes []shape
		want   string
	}{
		{[]shape{{}}, "at least two"},
		{[]shape{{}, {outputs: 1}}, "a tells classes apart and b predicts numbers"},
		{[]shape{{}, {names: []string{"x", "y", "z"}}}, "a tells 2 classes apart and b 3"},
		{[]shape{{outputs: 1}, {outputs: 2}}, "a predicts 1 number and b 2"},
	} {
		if _, err := comparison(t, c.shapes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
