package ssm

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Clutter is a model of N_T targets that move with nearly constant velocity in the plane, and of a sensor that cannot tell
// their returns from clutter (De Freitas, Septier and Mihaylova 2015, section V-B; spec 3.2). A target's state is [x, y, vx,
// vy]. In a scan each target has a Poisson number of returns, with rate λ_X, each N(position, sd² I). There is also a
// Poisson number of returns from clutter, with rate λ_C, uniform over a region of area A_C. So (eq. 40) for a scan of M
// returns z_i
//
//	log p(z | x) = −μ − log M! + Σ_i log(λ_C/A_C·[z_i in the region] + λ_X Σ_r N(z_i; position_r, sd² I)),   μ = λ_C + N_T λ_X
//
// Outside the region the density is the targets' alone.
type Clutter struct {
	Interval     float64    `yaml:"interval"`              // s between simulated scans, and before the first; default 1
	Acceleration float64    `yaml:"acceleration,required"` // σ_x, sd of the noise of the velocity over 1 s (not its variance)
	Returns      Returns    `yaml:"returns,required"`      // of a target
	Background   Background `yaml:"clutter,required"`      // returns of no target
	Initial      []Initial  `yaml:"start,required"`        // of each target, one interval before the first scan
	Outside      string     `yaml:"outside"`               // what to do with returns outside the region: keep (default) or drop
	// Evaluate says which measurements a decision evaluates: near, those near a target that it moves, or all; default near.
	// Both give the same bytes.
	Evaluate string `yaml:"evaluate"`
}

// Returns are the returns of one target in a scan.
type Returns struct {
	Rate float64 `yaml:"rate,required"` // λ_X, their mean number
	SD   float64 `yaml:"sd,required"`   // of each coordinate about the target's position
}

// Background are the returns of clutter in a scan.
type Background struct {
	Rate   float64    `yaml:"rate,required"`    // λ_C, their mean number
	Region [4]float64 `yaml:"region,omitempty"` // where they are: x from, x to, y from, y to
}

// mostReturns bounds the rates, so that a scan fits in memory.
const mostReturns = 1e8

// Defaults implements config.Defaulter.
func (m *Clutter) Defaults() {
	m.Interval, m.Outside, m.Evaluate = cmp.Or(m.Interval, 1), cmp.Or(m.Outside, "keep"), cmp.Or(m.Evaluate, "near")
}

// Check implements config.Checker.
func (m Clutter) Check(f *config.Faults) {
	rate := func(f *config.Faults, v float64) {
		f.If(!(v >= 0 && v <= mostReturns), "rate", "want a number from 0 to %g, have %.12g", mostReturns, v)
	}
	checkInterval(f, m.Interval)
	f.Positive("acceleration", m.Acceleration)
	returns, clutter := f.In("returns"), f.In("clutter")
	rate(returns, m.Returns.Rate)
	sd := m.Returns.SD
	returns.If(!(sd >= 1e-100 && sd <= 1e100), "sd", "want a number from 1e-100 to 1e100, have %.12g", sd)
	rate(clutter, m.Background.Rate)
	g := m.Background.Region
	some := g[0] < g[1] && g[2] < g[3] && m.area() > 0
	clutter.If(!isFinite(m.area()) || m.Background.Rate > 0 && !some, "region",
		"want [x from, x to, y from, y to], each from below its to, have %v", g)
	f.If(len(m.Initial) == 0, "start", "want an entry for each target, as in [{mean: [0, 0, 1, 1], sd: [1, 1, 1, 1]}]")
	for i, t := range m.Initial {
		t.check(f.In("start").In(strconv.Itoa(i)), m.Coordinates()...)
	}
	f.OneOf("outside", cmp.Or(m.Outside, "keep"), "keep", "drop")
	f.OneOf("evaluate", cmp.Or(m.Evaluate, "near"), "near", "all")
}

// area is A_C.
func (m Clutter) area() float64 {
	g := m.Background.Region
	return float64((g[1] - g[0]) * (g[3] - g[2]))
}

func (m Clutter) String() string { return fmt.Sprintf("%d targets in clutter", len(m.Initial)) }

// Dim implements Model.
func (m Clutter) Dim() int { return 4 * len(m.Initial) }

// Targets implements Tracker.
func (m Clutter) Targets() int { return len(m.Initial) }

// Coordinates implements Tracker.
func (Clutter) Coordinates() []string { return []string{"x", "y", "vx", "vy"} }

// Rate implements Poisson.
func (m Clutter) Rate() float64 {
	return m.Background.Rate + float64(float64(len(m.Initial))*m.Returns.Rate)
}

// Thinned implements Poisson.
func (m Clutter) Thinned(share float64) Model {
	m.Returns.Rate *= share
	m.Background.Rate *= share
	return m
}

// Bounds are those of the region.
func (m Clutter) Bounds() (x0, x1, y0, y1 float64) {
	g := m.Background.Region
	return g[0], g[1], g[2], g[3]
}

// Period implements Timed.
func (m Clutter) Period() float64 { return cmp.Or(m.Interval, 1) }

// StartMoments implements GaussianStart.
func (m Clutter) StartMoments() (mean, cov []float64) {
	d := m.Dim()
	cov = make([]float64, d*d)
	for r, t := range m.Initial {
		own, square := t.moments()
		mean = append(mean, own...)
		for i := range own {
			cov[(4*r+i)*(d+1)] = square[i*(len(own)+1)]
		}
	}
	return mean, cov
}

// Start implements Model.
func (m Clutter) Start(s *Stream, x []float64) {
	for r, t := range m.Initial {
		t.draw(s, x[4*r:4*r+4])
	}
}

// Transition implements Model, for any dt > 0.
func (m Clutter) Transition(dt float64) (Transition, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("clutter model: %w", err)
	}
	if !(dt > 0) || !isFinite(dt) {
		return nil, fmt.Errorf("clutter model: a step of %.12g s is not above 0", dt)
	}
	return newVelocity(len(m.Initial), m.Acceleration, dt), nil
}

// Measure implements Simulator: the returns of the targets, in their order, and then those of clutter.
func (m Clutter) Measure(s *Stream, x []float64, scan *Scan) {
	scan.Width = 2
	for r := range m.Initial {
		for range poisson(s, m.Returns.Rate) {
			scan.Values = append(scan.Values,
				x[4*r]+float64(m.Returns.SD*s.Normal()), x[4*r+1]+float64(m.Returns.SD*s.Normal()))
		}
	}
	g := m.Background.Region
	for range poisson(s, m.Background.Rate) {
		scan.Values = append(scan.Values, g[0]+float64((g[1]-g[0])*s.Float64()), g[2]+float64((g[3]-g[2])*s.Float64()))
	}
}

// poisson draws from the Poisson law: the number of events of a Poisson process before the time rate. It multiplies uniforms
// (Knuth, The Art of Computer Programming 2, 3.4.1), for at most 500 units of time at once, lest the product underflow.
func poisson(s *Stream, rate float64) (n int) {
	for ; rate > 0; rate -= 500 {
		floor := rng.Exp(-min(rate, 500))
		for p := s.Float64(); p > floor; p *= s.Float64() {
			n++
		}
	}
	return n
}

// Bind implements Model. A measurement has two numbers, x and y.
func (m Clutter) Bind(scan *Scan) (Likelihood, error) {
	if err := config.Check(m); err != nil {
		return nil, err
	}
	if err := checkScan(scan, 2); err != nil {
		return nil, err
	}
	return newClutterLikelihood(m, scan.Values), nil
}
