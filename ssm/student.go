package ssm

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Student is a model for many measurements with heavy tails: numbers around a common location μ, whose scale s changes too.
//
//	state [μ, log s]: independent random walks,   z^i = μ + s·(Student-t with ν degrees of freedom),   i = 1 … M
//
// Over dt seconds μ moves by N(0, Location²·dt/interval), log s by N(0, LogScale²·dt/interval). The likelihood has no sufficient
// statistic: every filter evaluates all terms.
type Student struct {
	Interval float64 `yaml:"interval"`           // seconds; default 1
	Degrees  float64 `yaml:"degrees"`            // ν, above 0, at most 1e6; default 4
	Location float64 `yaml:"location,required"`  // sd of the walk of μ over one interval, in units of a measurement
	LogScale float64 `yaml:"log_scale,required"` // sd of the walk of log s over one interval
	Initial  Initial `yaml:"start,required"`     // of μ and log s, one interval before the first scan
	Returns  int     `yaml:"returns"`            // number of measurements of a simulated scan; default 1
}

// Defaults implements config.Defaulter.
func (m *Student) Defaults() {
	m.Interval, m.Degrees, m.Returns = cmp.Or(m.Interval, 1), cmp.Or(m.Degrees, 4), cmp.Or(m.Returns, 1)
}

// Check implements config.Checker.
func (m Student) Check(f *config.Faults) {
	checkInterval(f, m.Interval)
	f.If(!(m.Degrees >= 0 && m.Degrees <= 1e6), "degrees", "want a number above 0, at most 1e6, have %.12g", m.Degrees)
	f.Positive("location", m.Location)
	f.Positive("log_scale", m.LogScale)
	m.Initial.check(f.In("start"), "location", "log scale")
	checkReturns(f, m.Returns)
}

func (m Student) String() string {
	return fmt.Sprintf("Student-t measurements with %v degrees of freedom", m.degrees())
}

func (m Student) degrees() float64 { return cmp.Or(m.Degrees, 4) }

// Dim implements Model.
func (Student) Dim() int { return 2 }

// Coordinates implements Named.
func (Student) Coordinates() []string { return []string{"location", "log_scale"} }

// Observed implements Observed: measurements are about the location.
func (Student) Observed() int { return 0 }

// Period implements Timed.
func (m Student) Period() float64 { return cmp.Or(m.Interval, 1) }

// StartMoments implements GaussianStart.
func (m Student) StartMoments() (mean, cov []float64) { return m.Initial.moments() }

// Start implements Model.
func (m Student) Start(s *Stream, x []float64) { m.Initial.draw(s, x) }

// Transition implements Model, for any dt > 0.
func (m Student) Transition(dt float64) (Transition, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("Student model: %w", err)
	}
	intervals := dt / m.Period()
	if !(intervals > 0) {
		return nil, fmt.Errorf("Student model: a step of %.12g s is not above 0", dt)
	}
	variance := func(sd float64) float64 { return float64(sd*sd) * intervals }
	t, err := newGaussian([]float64{1, 0, 0, 1}, []float64{variance(m.Location), 0, 0, variance(m.LogScale)}, 2)
	if err != nil {
		return nil, fmt.Errorf("Student model: a step of %.12g s: %w", dt, err)
	}
	return t, nil
}

// Measure implements Simulator. Student's t is a normal number over the root of a mean of squares, a Gamma(ν/2, ν/2) number.
func (m Student) Measure(s *Stream, x []float64, scan *Scan) {
	scan.Width = 1
	half, scale := m.degrees()/2, rng.Exp(x[1])
	for range cmp.Or(m.Returns, 1) {
		z := s.Normal()
		scan.Values = append(scan.Values, x[0]+float64(scale*z*math.Sqrt(half/gamma(s, half))))
	}
}

// gamma draws from Gamma(shape, 1) (Marsaglia and Tsang 2000); a shape below 1 is drawn one higher and multiplied by U^(1/shape).
func gamma(s *Stream, shape float64) float64 {
	if shape < 1 {
		return gamma(s, shape+1) * rng.Exp(rng.Log(1-s.Float64())/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if rng.Log(1-s.Float64()) < float64(0.5*x*x)+float64(d*(1-v+rng.Log(v))) {
			return float64(d * v)
		}
	}
}
