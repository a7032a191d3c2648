package ssm

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// clutterBounds are the least bounds on the derivatives of a return's term in the region, l = log(1 + Σ_r c exp(−|a_r|²/2)), in standard
// deviations, for all places of one target or of several. Along unit vectors u, whose part of target r is u_r, under the law ρ of the targets
// and the clutter, with α_r = a_r·u_r for the targets and α = 0, |u|² = 0 for the clutter,
//
//	second derivative: Var(α) − E|u_r|²,   third: κ₃(α) − 3 Cov(α, |u_r|²).
//
// They depend on c alone and are found by search: over |a|, and the angle between a and u, for each of one or two targets, and over the share of
// each in u. With two targets the second derivative is largest between them, where α = ±|a|/√2. A third target makes that no larger: it takes
// its part of u.
type clutterBounds [2][2]float64 // [targets − 1][order − 1]; 0: not known yet

// of returns a bound, found at the first call.
func (b *clutterBounds) of(ratio float64, targets, order int) float64 {
	if targets == 0 || math.IsInf(ratio, -1) {
		return 0
	}
	targets = min(targets, len(b))
	at := &b[targets-1][order-1]
	if *at == 0 {
		*at = margin * largestDerivative(ratio, targets, order)
		if targets == 2 { // one of which may be far away
			*at = max(*at, b.of(ratio, 1, order))
		}
	}
	return *at
}

// margin is for what a search leaves, and for terms that are left out beyond reach.
const margin = 1.001

// largestDerivative is the largest absolute value of the derivative of order + 1 of the term, for one or two targets; ratio is log c. The third
// derivative of a function along three unit vectors is largest where they are one (Banach 1938), so that one is enough.
func largestDerivative(ratio float64, targets, order int) float64 {
	top := math.Sqrt(2 * max(ratio, 0)) // where a target's density is that of the clutter
	distances := []float64{0, 0.6, 1.2, 1.8, 2.5, top - 2, top - 1, top - 0.5, top, top + 0.5, top + 1, top + 2}
	angles, parts := []float64{0, 0.4}, []float64{0}
	if targets == 2 {
		parts = []float64{-0.41, -0.27, -0.13, 0.13, 0.27, 0.41}
	}
	f := func(v *[5]float64) float64 { return math.Abs(derivative(ratio, targets, order, v)) }
	var starts []climber
	for _, a := range distances {
		for _, b := range distances {
			for _, angle := range angles {
				for _, part := range parts {
					v := [5]float64{a, angle, part, b}
					starts = append(starts, climber{v, f(&v)})
				}
			}
			if targets == 1 {
				break
			}
		}
	}
	slices.SortStableFunc(starts, func(a, b climber) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return 0
	})
	best := 0.0
	for _, s := range starts[:min(climbs, len(starts))] {
		best = max(best, s.climb(f))
	}
	return best
}

const climbs = 16 // from the best of the starts

// climber is a place of a search and the value there.
type climber struct {
	at    [5]float64
	value float64
}

// enough is the gain of a step that leads upwards: less is a creep along a flat ridge.
const enough = 1 + 1e-7

// climb goes up along the coordinates, with steps that are halved when none leads upwards (Hooke and Jeeves 1961).
func (c climber) climb(f func(*[5]float64) float64) float64 {
	for step := 0.25; step > 1e-4; {
		was := c
		for i := range c.at {
			for _, by := range [2]float64{step, -step} {
				next := c.at
				next[i] += by
				if v := f(&next); v > c.value*enough {
					c = climber{next, v}
					break
				}
			}
		}
		if c.value == was.value {
			step /= 2
			continue
		}
		next := c.at // the same move once more
		for i := range next {
			next[i] += c.at[i] - was.at[i]
		}
		if v := f(&next); v > c.value*enough {
			c = climber{next, v}
		}
	}
	return c.value
}

// derivative is that of order + 1 at [|a_1|, angle of u_1 to a_1, angle of which |u_1| is the cosine and |u_2| the sine, |a_2|, angle of u_2 to
// a_2], for one target at the first two. Angles are given by the tangents of their halves.
func derivative(ratio float64, targets, order int, v *[5]float64) float64 {
	var alpha, square, weight [2]float64
	length := [2]float64{1, 0}
	if targets == 2 {
		length[0], length[1] = onCircle(v[2])
	}
	scale := max(ratio, 0) // so that nothing overflows
	for r := range targets {
		a := v[3*r]
		cos, _ := onCircle(v[3*r+1])
		alpha[r], square[r] = float64(a*cos*length[r]), float64(length[r]*length[r])
		weight[r] = rng.Exp(ratio - scale - float64(0.5*a*a))
	}
	sum := rng.Exp(-scale) + weight[0] + weight[1]
	var m1, m2, m3, s1, cross float64
	for r := range targets {
		p := weight[r] / sum
		one := float64(p * alpha[r])
		two := float64(one * alpha[r])
		m1, m2, m3 = m1+one, m2+two, m3+float64(two*alpha[r])
		s1, cross = s1+float64(p*square[r]), cross+float64(one*square[r])
	}
	if order == 1 {
		return m2 - float64(m1*m1) - s1
	}
	return m3 - float64(3*m1*m2) + float64(2*m1*m1*m1) - float64(3*(cross-float64(m1*s1)))
}

// onCircle returns the cosine and the sine of an angle, given the tangent h of its half.
func onCircle(h float64) (cos, sin float64) {
	h2 := float64(h * h)
	return (1 - h2) / (1 + h2), 2 * h / (1 + h2)
}
