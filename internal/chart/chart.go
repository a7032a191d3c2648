// Package chart draws small charts as SVG for a page: without scripts, fonts and colours of its own. Each chart has a title
// and a description for people who cannot see it. A style sheet gives the classes their look, so that one picture serves
// light, dark and print:
//
//	text, .label            tick labels; names of axes and rows
//	.grid, .base            lines of the grid, the lines that marks stand on
//	.s0 … .s5               series: colour and dashes (.mark for filled shapes, .band for areas, .outline for ellipses)
//	.cells                  squares of a grid, shaded by their counts
//	.faint, .strong, .rule  one of many lines, the main line, a value to compare with
//
// The same chart gives the same bytes. Values that are not finite are left out: the line has a gap, the point is missing.
package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Width is the width of every chart, in its own units. A unit is about a pixel of a phone's screen, so that text of size Text
// is legible there.
const (
	Width = 360
	Text  = 12
)

const (
	defaultHeight = 236
	top           = 26 // for the name of the y axis
	bottom        = 40 // for ticks and the name of the x axis
	right         = 14
	letter        = 7.7 // of a digit in the widest of common fonts
)

// Chart is a picture of marks between two axes.
type Chart struct {
	ID     string // unique in its page
	Title  string // what it shows
	Desc   string // the same in words
	X, Y   Axis
	Height float64 // 0: a default
	Equal  bool    // a unit is as long on both axes, which are linear, as for places on a map
	Left   float64 // least room for the ticks of the y axis, so that charts above one another align
	Marks  []Mark  // later marks cover earlier ones
}

// Axis is one axis. Min and Max are its ends; if they are equal, the axis reaches as far as the marks.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool // values that are not positive are left out
	Whole    bool // ticks at whole numbers only
	Percent  bool // 0.5 is written 50 %
	Zero     bool // reaches to 0
}

// Mark is an element of a chart, such as a Line.
type Mark interface {
	extend(x, y *extent)
	draw(c *canvas, x, y scale)
}

// Line connects points in their order.
type Line struct {
	X, Y  []float64
	Class string
	Step  bool // the value stays until the next one
}

// Points are dots; Low and High, if given, are the ends of an interval at each.
type Points struct {
	X, Y      []float64
	Low, High []float64
	Class     string
	Radius    float64 // 0: 3
}

// Bars stand on the lower end of the y axis, or on 0: bar i between Edges[i] and Edges[i+1].
type Bars struct {
	Edges, Y []float64
	Class    string
}

// Rule is a line across the chart, to compare with. It lies at X or at Y, and the other one is NaN. With both it is the
// diagonal from (0, 0) to (X, Y).
type Rule struct{ X, Y float64 }

// Margin is the width of the chart's y axis with its labels.
func (c *Chart) Margin() float64 { return c.layout().left }

// layout is where a chart's axes lie, and how far they reach.
type layout struct {
	x, y           extent
	xTicks, yTicks []tick
	left, height   float64
}

func (c *Chart) layout() layout {
	l := layout{left: max(c.Left, 12)}
	l.x, l.y, l.height = c.extents()
	if !l.x.any || !l.y.any {
		return l
	}
	if c.Equal {
		c.equal(&l)
	}
	l.yTicks = c.Y.ticks(&l.y, rows(l.height), true)
	l.xTicks = c.X.ticks(&l.x, 5, false)
	if !c.Equal {
		l.left = c.margin(l.yTicks)
	}
	return l
}

// margin is the room to the left of the y axis, for its labels.
func (c *Chart) margin(ticks []tick) float64 {
	margin := max(c.Left, 12)
	for _, t := range ticks {
		margin = max(margin, 10+float64(letter*float64(len([]rune(t.text)))))
	}
	return margin
}

func (c *Chart) extents() (x, y extent, height float64) {
	x, y = newExtent(c.X), newExtent(c.Y)
	for _, m := range c.Marks {
		if _, rule := m.(Rule); !rule {
			m.extend(&x, &y)
		}
	}
	for _, m := range c.Marks { // a rule is shown if there are marks to compare with it
		if r, rule := m.(Rule); rule && x.any && y.any {
			r.extend(&x, &y)
		}
	}
	if height = c.Height; height == 0 {
		height = defaultHeight
	}
	return x, y, height
}

// rows is how many ticks a y axis has room for.
func rows(height float64) int { return max(3, int(height-top-bottom)/38) }

// SVG draws the chart.
func (c *Chart) SVG() template.HTML {
	l := c.layout()
	p := newCanvas(c.ID, c.Title, c.Desc, l.height)
	if !l.x.any || !l.y.any {
		p.text(Width/2, l.height/2, "middle", "", "nothing to show")
		return p.end()
	}
	left, height := l.left, l.height
	xs := scale{l.x.low, l.x.high, left, Width - right, c.X.Log}
	ys := scale{l.y.low, l.y.high, height - bottom, top, c.Y.Log}
	for _, t := range l.yTicks {
		p.line(left, ys.at(t.value), Width-right, ys.at(t.value), "grid")
		p.text(left-6, ys.at(t.value)+4, "end", "", t.text)
	}
	p.xAxis(l.xTicks, xs, height-bottom, c.X.Label)
	p.text(2, 13, "start", "label", c.Y.Label)
	p.clip(left, top, Width-right, height-bottom)
	for _, m := range c.Marks {
		m.draw(p, xs, ys)
	}
	p.unclip()
	return p.end()
}

func (l Line) extend(x, y *extent) {
	for i := range l.X {
		x.pair(y, l.X[i], l.Y[i])
	}
}

func (l Line) draw(c *canvas, x, y scale) {
	var d strings.Builder
	pen, last := "M", 0.0
	for i := range l.X {
		u, v := x.at(l.X[i]), y.at(l.Y[i])
		if !finite(u) || !finite(v) {
			pen = "M"
			continue
		}
		if pen == "L" && l.Step {
			d.WriteString("L" + num(u) + " " + num(last))
		}
		d.WriteString(pen + num(u) + " " + num(v))
		if pen == "M" && (i+1 == len(l.X) || !finite(y.at(l.Y[i+1]))) { // a point by itself
			d.WriteString("h.1")
		}
		pen, last = "L", v
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="line %s" d="%s"/>`, l.Class, d.String())
	}
}

func (p Points) extend(x, y *extent) {
	for i := range p.X {
		x.pair(y, p.X[i], p.Y[i])
		if p.Low != nil {
			x.pair(y, p.X[i], p.Low[i])
			x.pair(y, p.X[i], p.High[i])
		}
	}
}

func (p Points) draw(c *canvas, x, y scale) {
	radius := p.Radius
	if radius == 0 {
		radius = 3
	}
	var spans strings.Builder
	for i := range p.Low {
		if u, v, w := x.at(p.X[i]), y.at(p.Low[i]), y.at(p.High[i]); finite(u) && finite(v) && finite(w) {
			spans.WriteString("M" + num(u) + " " + num(v) + "V" + num(w))
		}
	}
	if spans.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="span %s" d="%s"/>`, p.Class, spans.String())
	}
	var dots strings.Builder // a path of round caps is far smaller than as many circles
	for i := range p.X {
		if u, v := x.at(p.X[i]), y.at(p.Y[i]); finite(u) && finite(v) {
			dots.WriteString("M" + num(u) + " " + num(v) + "h.01")
		}
	}
	if dots.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="dots %s" stroke-width="%s" d="%s"/>`, p.Class, num(2*radius), dots.String())
	}
}

func (b Bars) extend(x, y *extent) {
	for i, v := range b.Y {
		x.pair(y, b.Edges[i], v)
		x.pair(y, b.Edges[i+1], v)
	}
}

func (b Bars) draw(c *canvas, x, y scale) {
	base := y.from
	if !y.log && y.low < 0 {
		base = y.at(0)
	}
	var d strings.Builder
	for i, v := range b.Y {
		u, w, h := x.at(b.Edges[i]), x.at(b.Edges[i+1]), y.at(v)
		if finite(u) && finite(w) && finite(h) && h != base {
			d.WriteString("M" + num(u+.5) + " " + num(base) + "V" + num(h) + "H" + num(w-.5) + "V" + num(base) + "z")
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="mark %s" d="%s"/>`, b.Class, d.String())
	}
}

func (r Rule) extend(x, y *extent) {
	x.add(r.X)
	y.add(r.Y)
}

func (r Rule) draw(c *canvas, x, y scale) {
	switch u, v := x.at(r.X), y.at(r.Y); {
	case finite(u) && finite(v):
		c.line(x.at(0), y.at(0), u, v, "rule")
	case finite(v):
		c.line(x.from, v, x.to, v, "rule")
	case finite(u):
		c.line(u, y.from, u, y.to, "rule")
	}
}

// canvas is an SVG while it is drawn.
type canvas struct {
	b  strings.Builder
	id string
}

func newCanvas(id, title, desc string, height float64) *canvas {
	c := &canvas{id: template.HTMLEscapeString(id)}
	fmt.Fprintf(&c.b, `<svg class="chart" role="img" viewBox="0 0 %d %s" aria-labelledby="%s-title %[3]s-desc"><title id="%[3]s-title">%[4]s</title><desc id="%[3]s-desc">%[5]s</desc>`,
		Width, num(height), c.id, template.HTMLEscapeString(title), template.HTMLEscapeString(desc))
	return c
}

func (c *canvas) end() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String())
}

func (c *canvas) text(x, y float64, anchor, class, s string) {
	if s == "" {
		return
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" text-anchor="%s"%s>%s</text>`, num(x), num(y), anchor, class, template.HTMLEscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// clip restricts the following marks to a frame, with room for half a dot around it.
func (c *canvas) clip(x0, y0, x1, y1 float64) {
	const room = 5
	fmt.Fprintf(&c.b, `<clipPath id="%s-clip"><path d="M%s %sH%sV%sH%[2]sz"/></clipPath><g clip-path="url(#%[1]s-clip)">`,
		c.id, num(x0-room), num(y0-room), num(x1+room), num(y1+room))
}

func (c *canvas) unclip() { c.b.WriteString("</g>") }

// xAxis draws the lower axis at height y. Labels that would overlap are left out.
func (c *canvas) xAxis(ticks []tick, x scale, y float64, name string) {
	c.line(x.from, y, x.to, y, "base")
	end := math.Inf(-1)
	for _, t := range ticks {
		u := x.at(t.value)
		c.line(u, y, u, y+4, "base")
		half := float64(letter * float64(len([]rune(t.text))) / 2)
		anchor := "middle"
		from := u - half
		switch {
		case u+half > Width:
			anchor, u, from = "end", Width, Width-2*half
		case u-half < 0:
			anchor, u, from = "start", 0, 0
		}
		if from < end+4 {
			continue
		}
		c.text(u, y+17, anchor, "", t.text)
		end = from + 2*half
	}
	c.text(x.to, y+34, "end", "label", name)
}

// num writes a coordinate to a tenth.
func num(v float64) string {
	s := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

func finite(v float64) bool { return v-v == 0 }
