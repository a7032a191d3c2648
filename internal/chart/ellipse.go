package chart

import (
	"fmt"
	"math"
	"strings"
)

// Ellipse is an ellipse in the units of the axes. A and B are its semi-axes. Angle is that of A, in radians anticlockwise from
// the x axis.
type Ellipse struct {
	X, Y, A, B, Angle float64
}

// EllipseOf returns the ellipse that holds probability p of the normal distribution with mean (x, y) and a covariance matrix,
// whose elements are [xx, xy, yx, yy]. The squared Mahalanobis distance of a draw has a χ² distribution with two degrees of
// freedom, whose quantile is −2 ln(1 − p): 5.991 for 95 %.
func EllipseOf(x, y float64, cov [4]float64, p float64) Ellipse {
	a, b, angle := axes(cov[0], cov[1], cov[3])
	r := math.Sqrt(-2 * math.Log1p(-p))
	return Ellipse{X: x, Y: y, A: r * a, B: r * b, Angle: angle}
}

// axes returns the roots of the eigenvalues of the matrix [xx, xy; xy, yy], the larger first, and the direction of its vector.
func axes(xx, xy, yy float64) (a, b, angle float64) {
	middle, half := float64((xx+yy)/2), math.Hypot((xx-yy)/2, xy)
	return math.Sqrt(max(middle+half, 0)), math.Sqrt(max(middle-half, 0)), math.Atan2(2*xy, xx-yy) / 2
}

// matrix returns the matrix whose axes are those of the ellipse.
func (e Ellipse) matrix() (xx, xy, yy float64) {
	sin, cos := math.Sincos(e.Angle)
	a, b := float64(e.A*e.A), float64(e.B*e.B)
	return float64(a*cos*cos) + float64(b*sin*sin), (a - b) * sin * cos, float64(a*sin*sin) + float64(b*cos*cos)
}

// Ellipses are outlines. They are drawn between linear axes alone.
type Ellipses struct {
	Of    []Ellipse
	Class string
}

func (e Ellipses) extend(x, y *extent) {
	for _, o := range e.Of {
		xx, _, yy := o.matrix()
		u, v := math.Sqrt(xx), math.Sqrt(yy)
		x.pair(y, o.X-u, o.Y-v)
		x.pair(y, o.X+u, o.Y+v)
	}
}

func (e Ellipses) draw(c *canvas, x, y scale) {
	if x.log || y.log {
		return
	}
	perX, perY := (x.to-x.from)/(x.high-x.low), (y.to-y.from)/(y.high-y.low) // an ellipse stays one when each axis is stretched
	var d strings.Builder
	for _, o := range e.Of {
		xx, xy, yy := o.matrix()
		a, b, angle := axes(xx*perX*perX, xy*perX*perY, yy*perY*perY)
		sin, cos := math.Sincos(angle)
		u, v := x.at(o.X), y.at(o.Y)
		if !finite(u) || !finite(v) || !finite(a) || !finite(b) || !finite(angle) {
			continue
		}
		arc := "a" + num(a) + " " + num(b) + " " + num(angle*180/math.Pi) + " 1 0 "
		d.WriteString("M" + num(u+float64(a*cos)) + " " + num(v+float64(a*sin)) + arc + num(-2*a*cos) + " " + num(-2*a*sin) + arc + num(2*a*cos) + " " + num(2*a*sin) + "z")
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="outline %s" d="%s"/>`, e.Class, d.String())
	}
}
