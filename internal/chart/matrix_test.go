package chart

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// TestMatrixShades: a square's opacity is .05 + .3 √(its share of the row), row by row; a row without counts is pale.
func TestMatrixShades(t *testing.T) {
	counts := [][]int{{90, 9, 1}, {300, 100, 0}, {0, 0, 0}}
	drawn := string((&Matrix{ID: "m", Names: []string{"a", "b", "c"}, Counts: counts}).SVG())
	found := regexp.MustCompile(`fill-opacity="([^"]*)"`).FindAllStringSubmatch(drawn, -1)
	var got, want []string
	for _, m := range found {
		got = append(got, m[1])
	}
	for i, row := range counts {
		for _, n := range row {
			sum := []float64{100, 400, 1}[i]
			want = append(want, fmt.Sprintf("%.2f", .05+.3*math.Sqrt(float64(n)/sum)))
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMatrixHeads: columns have names of their own, as many as there are, and squares have texts in place of counts.
func TestMatrixHeads(t *testing.T) {
	m := Matrix{ID: "m", Names: []string{"a", "b", "c"}, Heads: []string{"yes", "no"}, Counts: [][]int{{1, 2}, {3, 4}, {0, 6}}, Texts: [][]string{{"p", "q"}, {"r", "s"}, {"0 %", "u"}}}
	var got []string
	for _, found := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(string(m.SVG()), -1) {
		got = append(got, found[1])
	}
	if want := "a p q b r s c 0 % u yes no"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %v", got, want)
	}
	m.Texts = nil
	if drawn := string(m.SVG()); strings.Contains(drawn, ">0<") || strings.Count(drawn, `class="count"`) != 5 {
		t.Errorf("squares without texts:\n%s", drawn)
	}
}

// TestLabelSide: a label stands above its place, or below it.
func TestLabelSide(t *testing.T) {
	for below, want := range map[bool]bool{false: true, true: false} {
		c := Chart{ID: "l", Equal: false, Marks: []Mark{Line{X: []float64{0, 2}, Y: []float64{0, 2}}, Label{1, 1, "here", below}}}
		var y, place float64
		drawn := string(c.SVG())
		if _, err := fmt.Sscanf(regexp.MustCompile(`<text x="[^"]*" y="([^"]*)"[^>]*>here`).FindStringSubmatch(drawn)[1], "%f", &y); err != nil {
			t.Fatal(err)
		}
		place = top + (defaultHeight-bottom-top)/2. // the middle of the axis
		if above := y < place; above != want || math.Abs(y-place) > 20 {
			t.Errorf("below %v: the label is at %v, its place at %v", below, y, place)
		}
	}
}
