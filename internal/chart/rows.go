package chart

import (
	"html/template"

	"github.com/starling-smc/starling/internal/numeral"
)

// Ridges shows distributions of values: one histogram in each row, above a common axis. Every histogram is as high as its
// row, so shapes are compared, not counts.
type Ridges struct {
	ID, Title, Desc string
	X               Axis
	Bins            int
	Rows            []Ridge
}

// Ridge is a row: its name, and the values.
type Ridge struct {
	Name   string
	Values []float64
	Class  string
}

const (
	ridge = 48 // height of a row
	room  = 20 // of that for its name
)

// SVG draws the rows.
func (r *Ridges) SVG() template.HTML {
	height := float64(ridge*len(r.Rows)) + 8 + bottom
	p := newCanvas(r.ID, r.Title, r.Desc, height)
	x := newExtent(r.X)
	for _, row := range r.Rows {
		for _, v := range row.Values {
			x.add(v)
		}
	}
	if !x.any {
		p.text(Width/2, height/2, "middle", "", "nothing to show")
		return p.end()
	}
	ticks := r.X.ticks(&x, 5, false)
	xs := scale{x.low, x.high, 2, Width - right, r.X.Log}
	base := height - bottom
	for _, t := range ticks {
		p.line(xs.at(t.value), 4, xs.at(t.value), base, "grid")
	}
	for i, row := range r.Rows {
		foot := float64((i + 1) * ridge)
		p.line(xs.from, foot, xs.to, foot, "base")
		edges, counts := Histogram(row.Values, x.low, x.high, r.Bins)
		most := 0.0
		for _, n := range counts {
			most = max(most, n)
		}
		ys := scale{0, max(most, 1), foot, foot - ridge + room + 2, false}
		Bars{edges, counts, row.Class}.draw(p, xs, ys)
		if m := numeral.Median(row.Values); finite(m) {
			p.line(xs.at(m), foot-ridge+room, xs.at(m), foot+2, "median")
		}
		p.text(xs.from, foot-ridge+room-5, "start", "label", row.Name)
	}
	p.xAxis(ticks, xs, base, r.X.Label)
	return p.end()
}

// Dots shows one value in each row, with a note at the right end of the row.
type Dots struct {
	ID, Title, Desc string
	X               Axis
	Rule            float64 // a value to compare with, across all rows; 0: none
	Rows            []Dot
}

// Dot is a row.
type Dot struct {
	Name, Note string
	Value      float64
	Low, High  float64 // ends of an interval; equal: none
	Class      string
}

// SVG draws the rows.
func (d *Dots) SVG() template.HTML {
	const row = 19
	height := float64(row*len(d.Rows)) + 10 + bottom
	p := newCanvas(d.ID, d.Title, d.Desc, height)
	x := newExtent(d.X)
	left, noted := 0.0, 0.0
	for _, r := range d.Rows {
		x.add(r.Value)
		if r.Low != r.High {
			x.add(r.Low)
			x.add(r.High)
		}
		left = max(left, letter*float64(len([]rune(r.Name))))
		noted = max(noted, letter*float64(len([]rune(r.Note))))
	}
	if !x.any {
		p.text(Width/2, height/2, "middle", "", "nothing to show")
		return p.end()
	}
	if d.Rule != 0 {
		x.add(d.Rule)
	}
	ticks := d.X.ticks(&x, 4, true)
	left = min(left, Width/2) + 14
	xs := scale{x.low, x.high, left, Width - max(right, noted+12), d.X.Log}
	base := height - bottom
	for _, t := range ticks {
		p.line(xs.at(t.value), 4, xs.at(t.value), base, "grid")
	}
	if u := xs.at(d.Rule); d.Rule != 0 && finite(u) {
		p.line(u, 4, u, base, "rule")
	}
	for i, r := range d.Rows {
		y := 4 + float64(row*(float64(i)+.5))
		p.text(left-10, y+4, "end", "", shorten(r.Name, Width/2))
		p.text(Width-2, y+4, "end", "", r.Note)
		if u, v := xs.at(r.Low), xs.at(r.High); r.Low != r.High && finite(u) && finite(v) {
			p.line(u, y, v, y, "span "+r.Class)
		}
		if u := xs.at(r.Value); finite(u) {
			p.b.WriteString(`<circle class="mark ` + r.Class + `" cx="` + num(u) + `" cy="` + num(y) + `" r="4"/>`)
		}
	}
	p.xAxis(ticks, xs, base, d.X.Label)
	return p.end()
}

// shorten cuts a name that is wider than width.
func shorten(s string, width float64) string {
	if n := int(width / letter); len([]rune(s)) > n {
		return string([]rune(s)[:n-1]) + "…"
	}
	return s
}

// Histogram counts values in bins of equal width between low and high. Values outside and NaN do not count.
func Histogram(values []float64, low, high float64, bins int) (edges, counts []float64) {
	edges, counts = make([]float64, bins+1), make([]float64, bins)
	for i := range edges {
		edges[i] = low + (high-low)*float64(i)/float64(bins)
	}
	for _, v := range values {
		if v >= low && v <= high {
			counts[min(int(float64(bins)*((v-low)/(high-low))), bins-1)]++
		}
	}
	return edges, counts
}

// Sample is a short piece of a line, or a bar, for a legend.
func Sample(class string, filled bool) template.HTML {
	if filled {
		return swatch(`<path class="mark ` + class + `" d="M9 1H19V11H9z"/>`)
	}
	return swatch(`<path class="line ` + class + `" d="M1 6H27"/>`)
}

// SampleBand is a piece of a band, for a legend.
func SampleBand(class string) template.HTML {
	return swatch(`<path class="band ` + class + `" d="M1 1H27V11H1z"/>`)
}

// swatch is the small picture that stands before an entry of a legend.
func swatch(shape string) template.HTML {
	return template.HTML(`<svg class="sample" viewBox="0 0 28 12" aria-hidden="true">` + shape + `</svg>`)
}
