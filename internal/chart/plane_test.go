package chart

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// mapping returns where the chart has the points (0, 0), (1, 0) and (0, 1), by the ends of two lines that it draws.
func mapping(t *testing.T, c Chart) (ox, oy, perX, perY float64) {
	t.Helper()
	c.Marks = append(c.Marks, Line{X: []float64{0, 1}, Y: []float64{0, 0}, Class: "along-x"}, Line{X: []float64{0, 0}, Y: []float64{0, 1}, Class: "along-y"})
	svg := c.SVG()
	var u, v float64
	for class, per := range map[string]*float64{"line along-x": &perX, "line along-y": &perY} {
		found, _ := parse(t, svg, class)
		if _, err := fmt.Sscanf(strings.ReplaceAll(found[0]["d"], "L", " "), "M%f %f %f %f", &ox, &oy, &u, &v); err != nil {
			t.Fatal(err)
		}
		*per = u - ox + v - oy
	}
	return ox, oy, perX, perY
}

// TestEqual: a unit is as long to the right as upwards, whatever the marks, the height and the ends of the axes are, and all
// marks lie in the frame.
func TestEqual(t *testing.T) {
	box := func(w, h float64) Line { return Line{X: []float64{0, w, w, 0}, Y: []float64{0, 0, h, h}, Class: "s0"} }
	for _, c := range []Chart{
		{Marks: []Mark{box(10, 10)}},
		{Marks: []Mark{box(10, 1)}},
		{Marks: []Mark{box(1, 10)}},
		{Marks: []Mark{box(10, 3)}, Height: 500},
		{Marks: []Mark{box(4, 4)}, X: Axis{Min: -5, Max: 5}, Y: Axis{Min: -5, Max: 5}},
		{Marks: []Mark{box(1, 0)}},
		{Marks: []Mark{Line{X: []float64{1}, Y: []float64{1}, Class: "s0"}}},
	} {
		c.ID, c.Equal = "c", true
		_, _, perX, perY := mapping(t, c)
		if perX < 1 || !(math.Abs(perX+perY) <= .21) { // coordinates are written to a tenth
			t.Errorf("%+v: %v to the right, %v upwards", c, perX, -perY)
		}
		svg := c.SVG()
		frame, _ := parse(t, svg, "base")
		var left, right, foot float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(frame[0]["d"], "L", " "), "M%f %f %f", &left, &foot, &right); err != nil {
			t.Fatal(err)
		}
		line, _ := parse(t, svg, "line s0")
		places := regexp.MustCompile(`[ML](\S+) ([^LMh]+)`).FindAllStringSubmatch(line[0]["d"], -1)
		if len(places) == 0 {
			t.Fatal(line[0]["d"])
		}
		for _, p := range places {
			x, _ := strconv.ParseFloat(p[1], 64)
			y, _ := strconv.ParseFloat(p[2], 64)
			if x < left || x > right || y < top || y > foot {
				t.Errorf("%+v: the place %v, %v lies beyond the frame from %v to %v, down to %v", c, x, y, left, right, foot)
			}
		}
	}
}

// TestEllipse: every point of the ellipse has the squared Mahalanobis distance whose χ² probability with two degrees of freedom
// is the given one, and the picture shows those points, also where axes have different scales.
func TestEllipse(t *testing.T) {
	const chi2 = 5.991464547107979 // scipy.stats.chi2.ppf(.95, 2)
	for _, cov := range [][4]float64{{4, 0, 0, 1}, {1, 0, 0, 4}, {2, 1.2, 1.2, 1}, {2, -1.2, -1.2, 3}, {1, 0, 0, 1}} {
		e := EllipseOf(3, -2, cov, .95)
		det := cov[0]*cov[3] - cov[1]*cov[2]
		distance := func(dx, dy float64) float64 { return (cov[3]*dx*dx - 2*cov[1]*dx*dy + cov[0]*dy*dy) / det }
		for _, equal := range []bool{true, false} {
			c := Chart{ID: "c", Equal: equal, Marks: []Mark{Ellipses{Of: []Ellipse{e}, Class: "s0"}, Line{X: []float64{-12, 12}, Y: []float64{-12, 40}, Class: "s0"}}}
			ox, oy, perX, perY := mapping(t, c)
			found, _ := parse(t, c.SVG(), "outline s0")
			var x, y, a, b, angle, dx, dy float64
			if _, err := fmt.Sscanf(strings.ReplaceAll(found[0]["d"], "a", " "), "M%f %f %f %f %f 1 0 %f %f", &x, &y, &a, &b, &angle, &dx, &dy); err != nil {
				t.Fatal(err, found[0]["d"])
			}
			sin, cos := math.Sincos(angle * math.Pi / 180)
			for k := range 12 {
				at := float64(k) / 12 * 2 * math.Pi
				s, cs := math.Sincos(at)
				u, v := e.A*cs*math.Cos(e.Angle)-e.B*s*math.Sin(e.Angle), e.A*cs*math.Sin(e.Angle)+e.B*s*math.Cos(e.Angle)
				if !golden.Near(distance(u, v), chi2, 1e-12, 0) {
					t.Errorf("%v: distance %v at %v, want %v", cov, distance(u, v), at, chi2)
				}
				u, v = x+dx/2+a*cs*cos-b*s*sin, y+dy/2+a*cs*sin+b*s*cos // in the picture
				if d := distance((u-ox)/perX-3, (v-oy)/perY+2); !(math.Abs(d-chi2) < .7) {
					t.Errorf("%v: distance %v in the picture, want %v", cov, d, chi2)
				}
			}
		}
	}
}

// TestCells finds each count again by the shade of its cell: crowded cells are darker, and empty ones are not drawn.
func TestCells(t *testing.T) {
	const columns, rows = 60, 50
	cells := Cells{X: -100, Y: -50, Size: 2, Columns: columns, Counts: make([]int, columns*rows)}
	for i := range cells.Counts {
		if cells.Counts[i] = (i * 7919) % 11; i%97 == 0 {
			cells.Counts[i] = 900
		}
	}
	cells.Counts[len(cells.Counts)-1] = 10
	c := Chart{ID: "c", X: Axis{Min: -100, Max: 20}, Y: Axis{Min: -50, Max: 50}, Marks: []Mark{cells}, Left: 46}
	svg := c.SVG()
	if len(svg) > 4000+rows*600 {
		t.Errorf("%d bytes", len(svg))
	}
	// The frame is from 46 to 346 and from 196 up to 26: a cell is 5 × 3.4, and the middle of the lowest row at 194.3.
	if want := `<g transform="matrix(5 0 0 -3.4 46 194.3)">`; !strings.Contains(string(svg), want) {
		t.Errorf("no %s in %s", want, svg[:1000])
	}
	drawn := make([]int, len(cells.Counts))
	found, _ := parse(t, svg, "cells")
	all := cells.Shades()
	darkness := func(opacity string) float64 {
		v, _ := strconv.ParseFloat(opacity, 64)
		return v
	}
	for i, p := range found {
		if i > 0 && !(darkness(p["stroke-opacity"]) > darkness(found[i-1]["stroke-opacity"])) {
			t.Errorf("path %d is not darker", i)
		}
		i := 0 // the shade with the path's opacity
		for !strings.Contains(string(all[i].Sample), `"`+p["stroke-opacity"]+`"`) {
			i++
		}
		at := 0
		for _, m := range regexp.MustCompile(`M(\d+) (\d+)|m(\d+) 0|h(\d+)`).FindAllStringSubmatch(p["d"], -1) {
			n := [5]int{}
			for k := 1; k < 5; k++ {
				n[k], _ = strconv.Atoi(m[k])
			}
			if m[1] != "" {
				at = n[2]*columns + n[1]
			}
			at += n[3]
			for range n[4] {
				drawn[at] += i + 1
				at++
			}
		}
	}
	for i, n := range cells.Counts {
		want := 0
		for k, s := range all {
			if s.From <= n && n <= s.To {
				want = k + 1
			}
		}
		if drawn[i] != want || (n == 0) != (want == 0) {
			t.Fatalf("cell %d with %d has shade %d, want %d", i, n, drawn[i], want)
		}
	}
	if all[0].From != 1 || all[len(all)-1].To != 900 {
		t.Errorf("shades from %d to %d", all[0].From, all[len(all)-1].To)
	}
	for counts, want := range map[string][]int{"none": nil, "ones": {1}, "two": {1, 2}, "equal": {7}} {
		got := Cells{Columns: 1, Counts: map[string][]int{"none": {0, 0}, "ones": {1, 0, 1}, "two": {2, 1}, "equal": {7, 7}}[counts]}.Shades()
		if len(got) != len(want) {
			t.Errorf("%s: %d shades, want %d", counts, len(got), len(want))
			continue
		}
		for i, s := range got {
			if s.From != want[i] || s.To != want[i] {
				t.Errorf("%s: shade %d is from %d to %d", counts, i, s.From, s.To)
			}
		}
	}
}

// TestBand goes along the lower line and back along the upper one, in pieces where an end is missing.
func TestBand(t *testing.T) {
	nan := math.NaN()
	c := Chart{ID: "c", X: Axis{Min: 0, Max: 5}, Y: Axis{Min: 0, Max: 10}, Left: 46, Marks: []Mark{Band{
		X: []float64{0, 1, 2, 3, 4, 5}, Low: []float64{0, 0, nan, 5, 5, 0}, High: []float64{10, 5, 5, 10, nan, nan}, Class: "s0"}}}
	found, _ := parse(t, c.SVG(), "band s0")
	if want := "M46 196L106 196L106 111L46 26zM225.5 111h1V26h-1z"; found[0]["d"] != want {
		t.Errorf("%s, want %s", found[0]["d"], want)
	}
}
