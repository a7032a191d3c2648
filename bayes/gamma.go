package bayes

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Gamma is the gamma distribution of mean Shape/Rate:
//
//	p(x) = Rate^Shape / Γ(Shape) · x^(Shape−1) e^(−Rate x).
//
// Shape 1 is the exponential distribution.
type Gamma struct{ Shape, Rate float64 }

// Support is the positive half line.
func (Gamma) Support() (lower, upper float64) { return 0, math.Inf(1) }

// Draw is a draw by the method of Marsaglia and Tsang (2000): for a shape of at least 1, d v with d = Shape − 1/3,
// v = (1 + z/√(9d))³ and z ~ N(0, 1) is accepted with probability e^(z²/2 + d − d v + d log v). A smaller shape a is drawn as
// shape a+1 times u^(1/a).
func (p Gamma) Draw(s *mcmc.Stream, _ []float64) float64 {
	shape, boost := p.Shape, 1.0
	if shape < 1 {
		boost = rng.Exp(rng.Log(1-s.Float64()) / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := s.Normal()
		v := 1 + float64(c*z)
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		if rng.Log(1-s.Float64()) < float64(0.5*z*z)+d-float64(d*v)+float64(d*rng.Log(v)) {
			return boost * d * v / p.Rate
		}
	}
}

// LogDensity is Shape log Rate − log Γ(Shape) + (Shape−1) log x − Rate x.
func (p Gamma) LogDensity(x float64, _, slopes []float64) float64 {
	slopes[0] = (p.Shape-1)/x - p.Rate
	l := float64(p.Shape*rng.Log(p.Rate)) - logGamma(p.Shape)
	return l + float64((p.Shape-1)*rng.Log(x)) - float64(p.Rate*x)
}

func (p Gamma) check() error {
	if p.Shape > 0 && p.Shape < leastShape {
		return fmt.Errorf("%s is %v: draws of less than %v are 0 in floating point now and then; take LogNormal or HalfCauchy for a wide prior", "Shape",
			p.Shape, leastShape)
	}
	return errors.Join(wantPositive("Shape", p.Shape), wantPositive("Rate", p.Rate))
}

// leastShape is the smallest shape whose draws do not underflow: u^(1/Shape) < 1e-308 has probability 1e-308^Shape.
const leastShape = 0.05

// logGamma is log Γ(x) for x > 0, by Stirling's series at x + n ≥ 10 and Γ(x+1) = x Γ(x). Its error is below 1e-13.
func logGamma(x float64) float64 {
	product := 1.0
	for ; x < 10; x++ {
		product *= x
	}
	y := 1 / float64(x*x)
	series := 1.0 / 1188
	for _, c := range []float64{-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12} {
		series = float64(series*y) + c
	}
	return float64((x-0.5)*rng.Log(x)) - x + 0.5*log2Pi + series/x - rng.Log(product)
}
