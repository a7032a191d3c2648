package chart

// Label is a name beside a place, on the side where there is more room.
type Label struct {
	X, Y  float64
	Text  string
	Below bool // the name stands below the place, not above it
}

func (l Label) extend(x, y *extent) { x.pair(y, l.X, l.Y) }

func (l Label) draw(c *canvas, x, y scale) {
	u, v, up := x.at(l.X), y.at(l.Y), 6.0
	if l.Below {
		up = -6 - Text*.75
	}
	switch {
	case !finite(u) || !finite(v):
	case u > (x.from+x.to)/2:
		c.text(u-6, v-up, "end", "label", shorten(l.Text, u-8))
	default:
		c.text(u+6, v-up, "start", "label", shorten(l.Text, x.to-u-8))
	}
}
