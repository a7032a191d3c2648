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
