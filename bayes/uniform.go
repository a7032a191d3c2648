package bayes

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Uniform is the uniform distribution on the interval from Lower to Upper.
type Uniform struct{ Lower, Upper float64 }

// Support is the interval.
func (p Uniform) Support() (lower, upper float64) { return p.Lower, p.Upper }

// Draw is a draw that is no end of the interval.
func (p Uniform) Draw(s *mcmc.Stream, _ []float64) float64 {
	for {
		if x := p.Lower + float64((p.Upper-p.Lower)*s.Float64()); p.Lower < x && x < p.Upper {
			return x
		}
	}
}

// LogDensity is −log(Upper − Lower).
func (p Uniform) LogDensity(_ float64, _, slopes []float64) float64 {
	slopes[0] = 0
	return -rng.Log(p.Upper - p.Lower)
}

func (p Uniform) check() error {
	if err := errors.Join(wantFinite("Lower", p.Lower), wantFinite("Upper", p.Upper)); err != nil {
		return err
	}
	switch {
	case !(p.Lower < p.Upper):
		return fmt.Errorf("the interval from %v to %v is empty", p.Lower, p.Upper)
	case math.IsInf(p.Upper-p.Lower, 0):
		return fmt.Errorf("the interval from %v to %v is wider than the largest number: want ends that are nearer", p.Lower, p.Upper)
	case math.Nextafter(p.Lower, p.Upper) == p.Upper:
		return fmt.Errorf("there is no number between %v and %v: want ends that are farther apart", p.Lower, p.Upper)
	}
	return nil
}
