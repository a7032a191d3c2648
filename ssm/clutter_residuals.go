package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Residuals implements Expandable, in float64. The step of a term is taken from the ratio of its weights at the two states,
//
//	l(to) − l(from) = log(1 + Σ_r w_r(from) (e^{h_r} − 1) / g(from)),   h_r = a_r·step_r − |step_r|²/2,
//
// so that a small step loses no digits. It costs two exponentials a target that moves, one a target that does not, and a logarithm.
func (l *clutterLikelihood) Residuals(from, to []float64, rows []int32, d []float64) {
	s, sd := l.series, l.model.Returns.SD
	if !positions(from, s.from) || !positions(to, s.to) {
		for j := range rows {
			d[j] = math.NaN()
		}
		return
	}
	for r := range s.steps {
		f, t, a := s.from[r], s.to[r], s.at[r]
		v := targetStep{from: point{(f.x - a.x) / sd, (f.y - a.y) / sd}, to: point{(t.x - a.x) / sd, (t.y - a.y) / sd},
			step: point{(t.x - f.x) / sd, (t.y - f.y) / sd}, moved: f != t}
		v.half = 0.5 * (float64(v.step.x*v.step.x) + float64(v.step.y*v.step.y))
		v.square = float64(v.step.x*(v.from.x+v.to.x)) + float64(v.step.y*(v.from.y+v.to.y))
		s.steps[r] = v
	}
	per := 1 / sd
	for j, row := range rows {
		i := int(row)
		if i >= l.points {
			i -= l.points
			z := l.bare[i]
			shares := s.shares[s.base[len(s.base)-1]+i*l.targets:][:l.targets]
			d[j] = l.bareStep(z) - s.proxy(z, l.every, shares, per)
			continue
		}
		z, c := l.sorted[i], i/perChunk
		targets := s.target[s.start[c]:s.start[c+1]]
		shares := s.shares[s.base[c]+i%perChunk*len(targets):][:len(targets)]
		d[j] = l.step(z, targets) - s.proxy(z, targets, shares, per)
	}
}

const nothing = 40 // e^−40 of the density of clutter does not change a float64

// step is l(to) − l(from) of a return in the cells. Targets are those within reach of its chunk at x⁺; of the others only one whose old or new
// place is within reach of the return counts, as at x⁺.
func (l *clutterLikelihood) step(z point, targets []int32) float64 {
	s, per := l.series, 1/l.model.Returns.SD
	before, after, change := 1.0, 1.0, 0.0
	for r := range s.steps {
		f, t, v := s.from[r], s.to[r], &s.steps[r]
		fx, fy := (z.x-f.x)*per, (z.y-f.y)*per
		old := float64(0.5 * (float64(fx*fx) + float64(fy*fy)))
		next, h := old, 0.0
		if v.moved {
			if h = float64(fx*v.step.x) + float64(fy*v.step.y) - v.half; math.Abs(h) < 1 {
				next = old - h
			} else {
				tx, ty := (z.x-t.x)*per, (z.y-t.y)*per
				next = 0.5 * (float64(tx*tx) + float64(ty*ty))
			}
		}
		far := l.ratio + float64(25*math.Ln2)
		if len(targets) > 0 && int(targets[0]) == r {
			targets, far = targets[1:], l.ratio+nothing
		}
		if !(min(old, next) <= far) {
			continue
		}
		w := rng.Exp(l.ratio - old)
		before += w
		if !v.moved {
			after += w
			continue
		}
		if math.Abs(h) < 1 {
			grown := float64(w * rng.Expm1(h))
			after += w + grown
			change += grown
		} else {
			now := rng.Exp(l.ratio - next)
			after += now
			change += now - w
		}
	}
	if q := change / before; q > -0.5 {
		return rng.Log1p(q)
	}
	return rng.Log(after / before)
}

// bareStep is l(to) − l(from) of a return that is not in the cells.
func (l *clutterLikelihood) bareStep(z point) float64 {
	s, sd := l.series, l.model.Returns.SD
	l.logShares(z, s.from, s.bare)
	q := 0.0
	for r, share := range s.bare {
		f, v := s.from[r], &s.steps[r]
		if !v.moved {
			continue
		}
		h := float64((z.x-f.x)/sd*v.step.x) + float64((z.y-f.y)/sd*v.step.y) - v.half
		if !(math.Abs(h) < 1) {
			return l.logTerm(z, s.to) - l.logTerm(z, s.from)
		}
		q += float64(share * rng.Expm1(h))
	}
	return rng.Log1p(q)
}
