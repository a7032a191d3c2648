package table

import (
	"errors"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	tab := Table{Headings: []Heading{{1, "é, %"}, {3, "on"}}, Left: []int{3}}
	tab.Add("cell", "x", "ours", "machine")
	tab.Add("a heading between the others, longer than they are")
	tab.Add("ä", "1.25", "−2", "m")
	tab.Add("b", "10", "", "")
	want := `
      é, %        on
cell     x  ours  machine
a heading between the others, longer than they are
ä     1.25    −2  m
b       10
`
	var b strings.Builder
	if err := tab.Write(&b); err != nil || b.String() != want[1:] {
		t.Errorf("%v\n%swant\n%s", err, b.String(), want[1:])
	}
	if w := tab.Width(); w != 25 {
		t.Errorf("width %d, want 25", w)
	}
	if err := tab.Write(full{}); err == nil {
		t.Error("no error from a writer that fails")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }
