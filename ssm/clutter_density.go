package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// logTerm is the logarithm of one return's density, in float64.
func (l *clutterLikelihood) logTerm(z point, at []point) float64 {
	top := math.Inf(-1)
	if l.inRegion(z) {
		top = l.uniform
	}
	var few [8]float64
	each := append(few[:0], top)
	for _, p := range at {
		dx, dy := (z.x-p.x)/l.model.Returns.SD, (z.y-p.y)/l.model.Returns.SD
		a := l.peak - float64(0.5*(float64(dx*dx)+float64(dy*dy)))
		top = max(top, a)
		each = append(each, a)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, a := range each {
		if a-top > -40 { // less would not change the sum
			sum += rng.Exp(a - top)
		}
	}
	return top + rng.Log(sum)
}

// barely is the sum over the returns that are not in the cells.
func (l *clutterLikelihood) barely(at []point) float64 {
	sum := 0.0
	for _, z := range l.bare {
		sum += l.logTerm(z, at)
	}
	l.evaluated += int64(len(l.bare))
	return sum
}
