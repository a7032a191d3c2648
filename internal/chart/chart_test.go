package chart

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// parse reads a picture as XML and returns the attributes of the elements of one class, in order, and all texts.
func parse(t *testing.T, svg template.HTML, class string) (found []map[string]string, texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found, texts
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			if attr["class"] == class {
				found = append(found, attr)
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		}
	}
}

// TestCoordinates places known data in a plot from x = 46 to 346 and from y = 196 up to 26.
func TestCoordinates(t *testing.T) {
	c := Chart{ID: "c", Title: "t", X: Axis{Min: 0, Max: 4}, Y: Axis{Min: 0, Max: 10}, Left: 46, Marks: []Mark{
		Line{X: []float64{0, 1, 4}, Y: []float64{0, 10, 5}, Class: "s0"},
		Line{X: []float64{0, 2, 4}, Y: []float64{0, 10, 5}, Class: "s1", Step: true},
		Line{X: []float64{0, 1, 2, 3, 4}, Y: []float64{0, math.NaN(), 10, math.Inf(1), 0}, Class: "s2"},
		Points{X: []float64{2, math.NaN()}, Y: []float64{5, 5}, Low: []float64{0, 0}, High: []float64{10, 10}, Class: "s3", Radius: 2},
		Bars{Edges: []float64{0, 2, 4}, Y: []float64{5, 0}, Class: "s4"},
		Rule{X: math.NaN(), Y: 5}, Rule{X: 4, Y: 10}, Rule{X: 1, Y: math.NaN()},
	}}
	svg := c.SVG()
	for _, w := range []struct {
		class string
		d     []string
	}{
		{"line s0", []string{"M46 196L121 26L346 111"}},
		{"line s1", []string{"M46 196L196 196L196 26L346 26L346 111"}},
		{"line s2", []string{"M46 196h.1M196 26h.1M346 196h.1"}},
		{"span s3", []string{"M196 196V26"}},
		{"dots s3", []string{"M196 111h.01"}},
		{"mark s4", []string{"M46.5 196V111H195.5V196z"}},
		{"rule", []string{"M46 111L346 111", "M46 196L346 26", "M121 196L121 26"}},
		{"grid", []string{"M46 196L346 196", "M46 153.5L346 153.5", "M46 111L346 111", "M46 68.5L346 68.5", "M46 26L346 26"}},
	} {
		found, _ := parse(t, svg, w.class)
		var d []string
		for _, f := range found {
			d = append(d, f["d"])
		}
		if !reflect.DeepEqual(d, w.d) {
			t.Errorf("%s: %q, want %q", w.class, d, w.d)
		}
	}
	_, texts := parse(t, svg, "")
	if want := []string{"0.0", "2.5", "5.0", "7.5", "10.0", "0", "1", "2", "3", "4"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("ticks %q, want %q", texts, want)
	}
}

func ticksOf(a Axis, n int, outward bool, values ...float64) (texts []string, low, high float64) {
	e := newExtent(a)
	for _, v := range values {
		e.add(v)
	}
	for _, t := range a.ticks(&e, n, outward) {
		texts = append(texts, t.text)
	}
	return texts, e.low, e.high
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		outward   bool
		values    []float64
		want      string
		low, high float64
	}{
		{Axis{}, true, []float64{3, 17}, "0 5 10 15 20", 0, 20},
		{Axis{}, false, []float64{3, 17}, "5 10 15", 3, 17},
		{Axis{}, true, []float64{-.0123, .034}, "−0.02 0.00 0.02 0.04", -.02, .04},
		{Axis{Percent: true, Min: 0, Max: 1}, true, nil, "0\u00a0% 25\u00a0% 50\u00a0% 75\u00a0% 100\u00a0%", 0, 1},
		{Axis{Whole: true}, true, []float64{1, 3}, "1 2 3", 1, 3},
		{Axis{Whole: true}, true, []float64{2}, "1 2 3", 1, 3},
		{Axis{Zero: true}, true, []float64{7, 9}, "0.0 2.5 5.0 7.5 10.0", 0, 10},
		{Axis{}, true, []float64{5}, "4.50 4.75 5.00 5.25 5.50", 4.5, 5.5},
		{Axis{}, true, []float64{0}, "−1.0 −0.5 0.0 0.5 1.0", -1, 1},
		{Axis{Log: true}, true, []float64{.003, 40}, "0.0001 0.01 1 100", .0001, 100},
		{Axis{Log: true}, true, []float64{1.2, 30}, "1 2 5 10 20 50", 1, 50},
		{Axis{Log: true}, true, []float64{0, -3, 7}, "2 5 10 20", 2, 20},
		{Axis{}, true, []float64{1e6, 4e6}, "10⁶ 2·10⁶ 3·10⁶ 4·10⁶", 1e6, 4e6},
		{Axis{}, true, []float64{math.NaN(), math.Inf(1), 1, 2}, "1.00 1.25 1.50 1.75 2.00", 1, 2},
		{Axis{}, true, []float64{-1e99, 1e99}, "−10⁹⁹ −5·10⁹⁸ 0 5·10⁹⁸ 10⁹⁹", -1e99, 1e99},
	} {
		got, low, high := ticksOf(c.axis, 4, c.outward, c.values...)
		if strings.Join(got, " ") != c.want || !golden.Near(low, c.low, 1e-9, 1e-12) || !golden.Near(high, c.high, 1e-9, 0) {
			t.Errorf("%+v of %v: %q from %v to %v, want %q from %v to %v", c.axis, c.values, got, low, high, c.want, c.low, c.high)
		}
	}
}

// TestHostile draws extreme and malformed data: drawing ends, and every picture is well-formed and small.
func TestHostile(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	name := `<script>"&'</svg>`
	for _, values := range [][]float64{nil, {nan}, {inf, -inf}, {0}, {0, 0}, {1e308, -1e308}, {5e-324}, {1, 1 + 1e-16}, {nan, 1, inf, 2}, {math.MaxFloat64}} {
		for _, axis := range []Axis{{}, {Log: true}, {Whole: true}, {Zero: true}, {Percent: true}, {Min: 0, Max: 1}, {Log: true, Min: 1, Max: 10}} {
			axis.Label = name
			edges := append(append([]float64{}, values...), 1)
			for _, svg := range []template.HTML{
				(&Chart{ID: "a", Title: name, Desc: name, X: axis, Y: axis, Marks: []Mark{
					Line{X: values, Y: values, Class: "s0"}, Points{X: values, Y: values, Low: values, High: values},
					Bars{Edges: edges, Y: values}, Band{X: values, Low: values, High: values}, Label{first(values), first(values), name, false}, Ellipses{Of: []Ellipse{EllipseOf(first(values), first(values), [4]float64{first(values), 1, 1, nan}, .95)}},
					Cells{X: first(values), Y: first(values), Size: first(values), Columns: 2, Counts: []int{0, 1, 1 << 40, 0}}, Cells{}, Rule{nan, nan}, Rule{inf, 1}, Rule{nan, 2}}}).SVG(),
				(&Chart{ID: "e", Title: name, Desc: name, X: Axis{Label: name, Min: axis.Min, Max: axis.Max}, Equal: true, Marks: []Mark{
					Line{X: values, Y: values, Class: "s0"}, Ellipses{Of: []Ellipse{{first(values), 1, inf, nan, 1}, {first(values), 1, 2, 1, 1}}}}}).SVG(),
				(&Ridges{ID: "b", Title: name, X: axis, Bins: 5, Rows: []Ridge{{Name: name, Values: values}, {}}}).SVG(),
				(&Dots{ID: "c", Title: name, X: axis, Rows: []Dot{{Name: name, Note: name}, {Value: nan}, {Value: first(values), Low: nan, High: inf}}}).SVG(),
				(&Matrix{ID: "d", Title: name, Names: []string{name, ""}, Counts: [][]int{{0, 0}, {1 << 40, 3}}}).SVG(),
			} {
				if parse(t, svg, ""); strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") || len(svg) > 20_000 {
					t.Fatalf("%v on %+v: %s", values, axis, svg)
				}
			}
		}
	}
}

func first(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return values[0]
}

// TestRuleInView: a rule is in the picture, however far it is from the marks, but not in a picture without marks.
func TestRuleInView(t *testing.T) {
	c := Chart{ID: "c", Left: 46, Marks: []Mark{Rule{X: math.NaN(), Y: 10}, Line{X: []float64{0, 4}, Y: []float64{0, 1}, Class: "s0"}}}
	if rules, texts := parse(t, c.SVG(), "rule"); len(rules) != 1 || rules[0]["d"] != "M46 26L346 26" {
		t.Errorf("rules %v, ticks %q", rules, texts)
	}
	c.Marks = c.Marks[:1]
	if _, texts := parse(t, c.SVG(), ""); !reflect.DeepEqual(texts, []string{"nothing to show"}) {
		t.Errorf("texts %q", texts)
	}
}

// TestThin keeps peaks, ends and order.
func TestThin(t *testing.T) {
	n := 10_000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i)/500)
	}
	y[4321], y[77] = 50, -50
	y[5000] = math.NaN()
	tx, ty := Thin(x, y, 100)
	if len(tx) > 102 || tx[0] != 0 || tx[len(tx)-1] != float64(n-1) {
		t.Fatalf("%d points from %v to %v", len(tx), tx[0], tx[len(tx)-1])
	}
	low, high := 0., 0.
	for i, v := range ty {
		low, high = min(low, v), max(high, v)
		if i > 0 && tx[i] <= tx[i-1] {
			t.Fatalf("point %d at %v after %v", i, tx[i], tx[i-1])
		}
	}
	if low != -50 || high != 50 {
		t.Errorf("peaks %v and %v", low, high)
	}
	if tx, _ := Thin(x[:7], y[:7], 100); len(tx) != 7 {
		t.Error("a short line is thinned")
	}
}

// TestSmooth keeps the mean of a line whose points are not spaced evenly.
func TestSmooth(t *testing.T) {
	x := []float64{0, .1, .2, .3, 5, 10}
	y := []float64{1, 3, 1, 3, 7, 9}
	sx, sy := Smooth(x, y, 2)
	if len(sx) != 2 || !(math.Abs(sx[0]-5.6/5) <= 1e-12) || sy[0] != 3 || sx[1] != 10 || sy[1] != 9 {
		t.Errorf("%v, %v", sx, sy)
	}
}

// Values outside the range of a histogram are left out.
func TestHistogram(t *testing.T) {
	_, counts := Histogram([]float64{0, .1, .5, 1, 2, -1, math.NaN()}, 0, 1, 2)
	if !reflect.DeepEqual(counts, []float64{2, 2}) {
		t.Errorf("counts %v", counts)
	}
}
