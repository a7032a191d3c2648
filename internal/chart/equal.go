package chart

import "math"

const (
	tallest = 400  // height of a chart with equal scales, unless it is given
	around  = 1.04 // its axes reach beyond the marks by this factor
)

// equal gives a layout the same scale on both axes. The range that is too short for its axis is widened around its middle, also
// if the axis has fixed ends. The chart is as high as the marks ask for, within limits.
func (c *Chart) equal(l *layout) {
	x, y := l.x, l.y
	for { // until the labels of the widened y axis fit into the room on its left, which only grows
		l.x, l.y = x, y
		width := Width - right - l.left
		if c.Height == 0 {
			l.height = min(max(top+bottom+width*(y.high-y.low)/(x.high-x.low), defaultHeight), tallest)
			if !finite(l.height) { // all marks at one place
				l.height = defaultHeight
			}
		}
		height := l.height - top - bottom
		unit := around * max((x.high-x.low)/width, (y.high-y.low)/height)
		if size := max(math.Abs(x.low), math.Abs(x.high), math.Abs(y.low), math.Abs(y.high)); !(unit*width > 1e-9*size) {
			unit = max(size/10, 1e-9) / width
		}
		l.x.widen(unit * width)
		l.y.widen(unit * height)
		ticks := l.y
		margin := c.margin(c.Y.ticks(&ticks, rows(l.height), true))
		if margin <= l.left {
			return
		}
		l.left = margin
	}
}

// widen gives the extent a length, around its middle, and fixes it.
func (e *extent) widen(length float64) {
	middle, half := float64(e.low/2)+float64(e.high/2), float64(length/2)
	e.low, e.high, e.fixed = middle-half, middle+half, true
}
