package bayes

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// HalfCauchy is the distribution of |x| where x has the Cauchy distribution with location 0:
//
//	p(x) = 2 / (π Scale (1 + (x/Scale)²)).
type HalfCauchy struct{ Scale float64 }

// Support is the positive half line.
func (HalfCauchy) Support() (lower, upper float64) { return 0, math.Inf(1) }

// Draw is Scale |z/z'| for two standard normal numbers.
func (p HalfCauchy) Draw(s *mcmc.Stream, _ []float64) float64 {
	return p.Scale * math.Abs(s.Normal()/s.Normal())
}

// LogDensity is log(2/(π Scale)) − log(1 + (x/Scale)²).
func (p HalfCauchy) LogDensity(x float64, _, slopes []float64) float64 {
	z := x / p.Scale
	if z > 1e100 { // z² may overflow
		slopes[0] = -2 / x
		return rng.Log(2/(math.Pi*p.Scale)) - float64(2*rng.Log(z))
	}
	square := float64(z * z)
	slopes[0] = -2 * z / (1 + square) / p.Scale
	return rng.Log(2/(math.Pi*p.Scale)) - rng.Log(1+square)
}

func (p HalfCauchy) check() error { return wantPositive("Scale", p.Scale) }
