package chart

import (
	"fmt"
	"strings"
)

// Band is the area between two lines. Where one of them is not finite, it has a gap.
type Band struct {
	X, Low, High []float64
	Class        string
}

func (b Band) extend(x, y *extent) {
	for i := range b.X {
		if x.shows(b.X[i]) && y.shows(b.Low[i]) && y.shows(b.High[i]) {
			x.pair(y, b.X[i], b.Low[i])
			x.pair(y, b.X[i], b.High[i])
		}
	}
}

func (b Band) draw(c *canvas, x, y scale) {
	var d strings.Builder
	shown := func(i int) bool { return finite(x.at(b.X[i])) && finite(y.at(b.Low[i])) && finite(y.at(b.High[i])) }
	point := func(i int, v float64) string { return num(x.at(b.X[i])) + " " + num(y.at(v)) }
	for from := 0; from < len(b.X); {
		to := from
		for to < len(b.X) && shown(to) {
			to++
		}
		if to-from == 1 { // a place by itself is a stroke
			d.WriteString("M" + num(x.at(b.X[from])-.5) + " " + num(y.at(b.Low[from])) + "h1V" + num(y.at(b.High[from])) + "h-1z")
		} else if to > from {
			d.WriteString("M" + point(from, b.Low[from]))
			for i := from + 1; i < to; i++ {
				d.WriteString("L" + point(i, b.Low[i]))
			}
			for i := to - 1; i >= from; i-- {
				d.WriteString("L" + point(i, b.High[i]))
			}
			d.WriteString("z")
		}
		from = max(to, from+1)
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="band %s" d="%s"/>`, b.Class, d.String())
	}
}
