package ssm

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// RangeBearing is one target with nearly constant velocity, which several fixed sensors see. A measurement is
// [sensor, range, bearing]: the sensor's index from 0, its distance from the target, above 0, and the target's angle in radians,
// from −π to π, counted from the x axis towards the y axis.
//
//	range = |p − p_s| + N(0, SDRange²),   bearing = angle(p − p_s) + N(0, SDBearing²), wrapped
//
// p is the target's position and p_s the sensor's. The density of a bearing is the normal density of its wrapped difference, and
// that of a range is the normal one: what a normal distribution has below 0, or beyond π, is left out of account.
type RangeBearing struct {
	Interval     float64      `yaml:"interval"`              // seconds between simulated scans, and before the first scan; default 1
	Acceleration float64      `yaml:"acceleration,required"` // sd of the noise of the velocity over 1 s
	Sensors      [][2]float64 `yaml:"sensors,required"`      // x and y of each
	SDRange      float64      `yaml:"sd_range,required"`     // standard deviation of a range
	SDBearing    float64      `yaml:"sd_bearing,required"`   // standard deviation of a bearing, in radians, at most 1
	Initial      Initial      `yaml:"start,required"`        // of x, y, vx and vy, one interval before the first scan
	Returns      int          `yaml:"returns"`               // number of measurements of each sensor in a simulated scan; default 1
}

// Defaults implements config.Defaulter.
func (m *RangeBearing) Defaults() {
	m.Interval, m.Returns = cmp.Or(m.Interval, 1), cmp.Or(m.Returns, 1)
}

// Check implements config.Checker.
func (m RangeBearing) Check(f *config.Faults) {
	checkInterval(f, m.Interval)
	f.Positive("acceleration", m.Acceleration)
	f.If(len(m.Sensors) == 0, "sensors", "want the position of at least one sensor, as in [[0, 0]]")
	for i, p := range m.Sensors {
		f.If(!isFinite(p[0]) || !isFinite(p[1]), "sensors", "sensor %d: want two finite numbers, have %v", i, p)
	}
	f.Positive("sd_range", m.SDRange)
	f.If(!(m.SDBearing > 0 && m.SDBearing <= 1), "sd_bearing", "want radians above 0, at most 1, have %.12g", m.SDBearing)
	m.Initial.check(f.In("start"), m.Coordinates()...)
	checkReturns(f, m.Returns)
}

func (m RangeBearing) String() string {
	return fmt.Sprintf("a target seen by %d sensors of range and bearing", len(m.Sensors))
}

// Dim implements Model.
func (RangeBearing) Dim() int { return 4 }

// Targets implements Tracker.
func (RangeBearing) Targets() int { return 1 }

// Coordinates implements Tracker.
func (RangeBearing) Coordinates() []string { return []string{"x", "y", "vx", "vy"} }

// Period implements Timed.
func (m RangeBearing) Period() float64 { return cmp.Or(m.Interval, 1) }

// StartMoments implements GaussianStart.
func (m RangeBearing) StartMoments() (mean, cov []float64) { return m.Initial.moments() }

// Start implements Model.
func (m RangeBearing) Start(s *Stream, x []float64) { m.Initial.draw(s, x) }

// Transition implements Model, for any dt > 0.
func (m RangeBearing) Transition(dt float64) (Transition, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("range-bearing model: %w", err)
	}
	if !(dt > 0) || !isFinite(dt) {
		return nil, fmt.Errorf("range-bearing model: a step of %.12g s is not above 0", dt)
	}
	return newVelocity(1, m.Acceleration, dt), nil
}

// see returns the range and the bearing without noise.
func see(sensor [2]float64, x []float64) (distance, angle float64) {
	dx, dy := x[0]-sensor[0], x[1]-sensor[1]
	return math.Sqrt(float64(dx*dx) + float64(dy*dy)), rng.Atan2(dy, dx)
}

// wrap returns the angle between −π and π, where |a| is below 3π.
func wrap(a float64) float64 {
	switch {
	case a > math.Pi:
		return a - 2*math.Pi
	case a < -math.Pi:
		return a + 2*math.Pi
	}
	return a
}

// rangeBearingTerms is the likelihood of a scan of RangeBearing, in float64.
type rangeBearingTerms struct {
	model    RangeBearing
	scan     *Scan
	constant float64      // of one term
	seen     [][2]float64 // for each sensor: what it would measure without noise
	series   rangeBearingSeries
}

// Bind implements Model.
func (m RangeBearing) Bind(scan *Scan) (Likelihood, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("range-bearing model: %w", err)
	}
	if err := checkScan(scan, 3); err != nil {
		return nil, err
	}
	for i := range scan.Len() {
		z := scan.Row(i)
		switch last := len(m.Sensors) - 1; {
		case z[0] != math.Trunc(z[0]) || z[0] < 0 || z[0] > float64(last):
			return nil, refuse(i, "sensor is %.12g, want the index of a sensor, 0 to %d", z[0], last)
		case z[1] <= 0:
			return nil, refuse(i, "range is %.12g, want a number above 0", z[1])
		case !(z[1] < largest*m.SDRange):
			return nil, refuse(i, "range is %.12g, want less than %.0e sd_range", z[1], float64(largest))
		case math.Abs(z[2]) > math.Pi+1e-6: // printed with seven digits, π may have become larger
			return nil, refuse(i, "bearing is %.12g, want radians from −π to π", z[2])
		}
	}
	return &rangeBearingTerms{model: m, scan: scan, seen: make([][2]float64, len(m.Sensors)),
		constant: -(log2Pi + rng.Log(m.SDRange) + rng.Log(m.SDBearing))}, nil
}

// Len implements Likelihood.
func (t *rangeBearingTerms) Len() int { return t.scan.Len() }

// LogLik implements Likelihood.
func (t *rangeBearingTerms) LogLik(x []float64, rows []int32) float64 {
	for i, sensor := range t.model.Sensors {
		t.seen[i][0], t.seen[i][1] = see(sensor, x)
	}
	n, sum := len(rows), 0.0
	if rows == nil {
		n = t.Len()
		for i := range n {
			sum += t.squares(i)
		}
	} else {
		for _, i := range rows {
			sum += t.squares(int(i))
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(-1)
	}
	return float64(float64(n)*t.constant) - float64(0.5*sum)
}

// Difference implements Relative: with r = (z − ρ)/sd, r₀² − r² = (ρ − ρ₀)/sd · (r₀ + r).
func (t *rangeBearingTerms) Difference(x, from []float64) float64 {
	sum := 0.0
	for i := range t.Len() {
		z := t.scan.Row(i)
		sensor := t.model.Sensors[int(z[0])]
		d, a := see(sensor, x)
		d0, a0 := see(sensor, from)
		r, r0 := (z[1]-d)/t.model.SDRange, (z[1]-d0)/t.model.SDRange
		b, b0 := wrap(z[2]-a)/t.model.SDBearing, wrap(z[2]-a0)/t.model.SDBearing
		sum += float64((d-d0)/t.model.SDRange*(r0+r)) + float64((b0-b)*(b0+b))
	}
	return 0.5 * sum
}

// squares is the sum of the squares of a measurement's two standardised differences.
func (t *rangeBearingTerms) squares(i int) float64 {
	z := t.scan.Row(i)
	seen := t.seen[int(z[0])]
	r, b := (z[1]-seen[0])/t.model.SDRange, wrap(z[2]-seen[1])/t.model.SDBearing
	return float64(r*r) + float64(b*b)
}

// Measure implements Simulator: each sensor sees the target Returns times. Of a range below 0 it takes the absolute value.
func (m RangeBearing) Measure(s *Stream, x []float64, scan *Scan) {
	scan.Width = 3
	for i, sensor := range m.Sensors {
		distance, angle := see(sensor, x)
		for range cmp.Or(m.Returns, 1) {
			r := math.Abs(distance + float64(m.SDRange*s.Normal()))
			b := angle + float64(m.SDBearing*s.Normal())
			for math.Abs(b) > math.Pi { // more than one turn is rare: the sd is at most 1
				b = wrap(b)
			}
			scan.Values = append(scan.Values, float64(i), r, b)
		}
	}
}
