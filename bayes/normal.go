package bayes

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Normal is the distribution N(Mean, SD²).
type Normal struct{ Mean, SD float64 }

// Support is the real line.
func (Normal) Support() (lower, upper float64) { return math.Inf(-1), math.Inf(1) }

// Draw is a draw.
func (p Normal) Draw(s *mcmc.Stream, _ []float64) float64 { return p.Mean + float64(p.SD*s.Normal()) }

// LogDensity is −½ ((x − Mean)/SD)² − log SD − ½ log 2π.
func (p Normal) LogDensity(x float64, _, slopes []float64) float64 {
	z := (x - p.Mean) / p.SD
	slopes[0] = -z / p.SD
	return float64(-0.5*z*z) - rng.Log(p.SD) - 0.5*log2Pi
}

// Gaussian returns Mean and SD.
func (p Normal) Gaussian() (mean, sd float64) { return p.Mean, p.SD }

func (p Normal) check() error {
	return errors.Join(wantFinite("Mean", p.Mean), wantPositive("SD", p.SD))
}

// HierarchicalNormal is the distribution N(Mean, SD²) whose mean and standard deviation are parameters of the model, given by
// their names. The parameter SD needs a prior of positive values. Where the data say little about each component, take
// Normal{SD: 1} and multiply in the log-likelihood instead (the non-centred form): SD then does not squeeze the components.
type HierarchicalNormal struct{ Mean, SD string }

// Given returns the two names.
func (p HierarchicalNormal) Given() []string { return []string{p.Mean, p.SD} }

// Positive returns the name of the standard deviation.
func (p HierarchicalNormal) Positive() []string { return []string{p.SD} }

// Support is the real line.
func (HierarchicalNormal) Support() (lower, upper float64) { return math.Inf(-1), math.Inf(1) }

// Draw is a draw, given mean and standard deviation.
func (HierarchicalNormal) Draw(s *mcmc.Stream, given []float64) float64 {
	return given[0] + float64(given[1]*s.Normal())
}

// LogDensity is that of Normal.
func (HierarchicalNormal) LogDensity(x float64, given, slopes []float64) float64 {
	l := Normal{given[0], given[1]}.LogDensity(x, nil, slopes)
	z := (x - given[0]) / given[1]
	slopes[1], slopes[2] = -slopes[0], (float64(z*z)-1)/given[1]
	return l
}

// HalfNormal is the distribution of |x| where x ~ N(0, SD²).
type HalfNormal struct{ SD float64 }

// Support is the positive half line.
func (HalfNormal) Support() (lower, upper float64) { return 0, math.Inf(1) }

// Draw is a draw.
func (p HalfNormal) Draw(s *mcmc.Stream, _ []float64) float64 { return p.SD * math.Abs(s.Normal()) }

// LogDensity is log 2 above that of Normal.
func (p HalfNormal) LogDensity(x float64, given, slopes []float64) float64 {
	return Normal{SD: p.SD}.LogDensity(x, given, slopes) + math.Ln2
}

func (p HalfNormal) check() error { return wantPositive("SD", p.SD) }

// PositiveNormal is the distribution N(Mean, SD²) restricted to positive values, as Stan has a normal parameter with a lower
// bound of 0.
type PositiveNormal struct{ Mean, SD float64 }

// Support is the positive half line.
func (PositiveNormal) Support() (lower, upper float64) { return 0, math.Inf(1) }

// Draw is the first positive draw from the normal distribution.
func (p PositiveNormal) Draw(s *mcmc.Stream, given []float64) float64 {
	for {
		if x := (Normal(p)).Draw(s, given); x > 0 {
			return x
		}
	}
}

// LogDensity is log Φ(Mean/SD) above that of Normal, Φ being the standard normal distribution function.
func (p PositiveNormal) LogDensity(x float64, given, slopes []float64) float64 {
	return Normal(p).LogDensity(x, given, slopes) - rng.Log(0.5*rng.Erfc(-p.Mean/p.SD/math.Sqrt2))
}

func (p PositiveNormal) check() error {
	if p.Mean < -3*p.SD {
		return fmt.Errorf("Mean is %v, more than three SD of %v below 0; take Gamma{Shape: 1} in its place", p.Mean, p.SD)
	}
	return Normal(p).check()
}

// LogNormal is the distribution of x where log x ~ N(Mean, SD²).
type LogNormal struct{ Mean, SD float64 }

// Support is the positive half line.
func (LogNormal) Support() (lower, upper float64) { return 0, math.Inf(1) }

// Draw is a draw.
func (p LogNormal) Draw(s *mcmc.Stream, given []float64) float64 {
	return rng.Exp(Normal(p).Draw(s, given))
}

// LogDensity is that of Normal at log x, less log x.
func (p LogNormal) LogDensity(x float64, given, slopes []float64) float64 {
	log := rng.Log(x)
	l := Normal(p).LogDensity(log, given, slopes)
	slopes[0] = (slopes[0] - 1) / x
	return l - log
}

// Gaussian returns Mean and SD: the coordinate is log x.
func (p LogNormal) Gaussian() (mean, sd float64) { return p.Mean, p.SD }

func (p LogNormal) check() error {
	if err := Normal(p).check(); err != nil {
		return err
	}
	if most := 700.0; math.Abs(p.Mean)+float64(8*p.SD) > most {
		return fmt.Errorf("Mean %v and SD %v are of log x: draws would be 0 or infinite; |Mean| + 8 SD may be %v at most", p.Mean, p.SD, most)
	}
	return nil
}
