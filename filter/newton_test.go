package filter

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// predictedOf is the prediction of a Kalman filter of a linear model after one step from its start.
func predictedOf(t *testing.T, m ssm.Linear) (mean, cov []float64) {
	t.Helper()
	var st *State
	filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{{Time: 1, Width: 3}}, func(_ int, s *State, _ Info) { st = s })
	return st.Mean, st.Cov
}

// Of a linear model the mode is the Kalman filter's mean, in two passes from anywhere: one at the start, one at the mode. So it is if a part of the
// measurements is a Gaussian factor beside the likelihood, and if the covariance of the prediction is singular.
func TestNewtonOfALinearModel(t *testing.T) {
	s := rng.Key{Seed: 21, Purpose: rng.Synthetic}.Stream()
	values := make([]float64, 3*40)
	s.Normals(values)
	singular := three()
	singular.Q, singular.Initial.SD = [][]float64{{0.4, 0.2}, {0.2, 0.1}}, []float64{0, 0}
	for name, m := range map[string]ssm.LinearGaussian{"regular": three(), "singular": singular} {
		mean, cov := predictedOf(t, m)
		want := filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{wholes(1, 3, values...)}, nil).Mean
		for _, split := range []int{0, 17} {
			factor := (*quadratic)(nil)
			if split > 0 {
				l, err := bound(m, wholes(1, 3, values[:3*split]...))
				if err != nil {
					t.Fatal(err)
				}
				about := []float64{0.7, -2}
				e, _ := l.(ssm.Expandable).Expand(about, 2)
				factor = &quadratic{about, e.Gradient, slices.Clone(e.Hessian)}
				for i := range factor.precision {
					factor.precision[i] *= -1
				}
			}
			l, err := bound(m, wholes(1, 3, values[3*split:]...))
			if err != nil {
				t.Fatal(err)
			}
			n, ok := newNewton(l.(ssm.Expandable), mean, cov, factor)
			if !ok {
				t.Fatal("no prior")
			}
			from := slices.Clone(mean)
			if name == "regular" {
				from = []float64{30, -50}
			}
			best, ok := n.climb(from, mostPasses)
			if !ok || n.passes != 2 {
				t.Errorf("%s, factor of %d: %d passes, %v", name, split, n.passes, ok)
			}
			for i, v := range want {
				if !golden.Near(best.at[i], v, 1e-9, 1e-9) {
					t.Errorf("%s, factor of %d: the mode is %v, want %v", name, split, best.at, want)
				}
			}
		}
	}
}

// vee is a likelihood of one term −10 √(1 + x²), whose curvature falls off away from 0: Newton's step overshoots there. calls counts the
// series that were taken; those of a number above fails have no derivatives.
type vee struct {
	calls, fails int
	at           float64
}

func (*vee) Len() int { return 1 }

func (*vee) LogLik(x []float64, _ []int32) float64 { return -10 * math.Hypot(1, x[0]) }

func (l *vee) Expand(x []float64, order int) (ssm.Expansion, bool) {
	h := math.Hypot(1, x[0])
	l.calls++
	l.at = x[0]
	return ssm.Expansion{Value: -10 * h, Gradient: []float64{-10 * x[0] / h}, Hessian: []float64{-10 / (h * h * h)}, Bounded: 1, Terms: 1}, l.calls != l.fails
}

func (*vee) Residuals(from, to []float64, rows []int32, d []float64) { panic("not called") }

func (*vee) Curvature(int, float64) float64 { return math.Inf(1) }

// A pass that grows worse is taken back: from 5 the whole step leads to −110, and the mode is found nevertheless, by rising values.
func TestNewtonTakesBack(t *testing.T) {
	l := &vee{}
	n, ok := newNewton(l, []float64{0}, []float64{100}, nil)
	if !ok {
		t.Fatal("no prior")
	}
	first, _ := n.visit([]float64{5})
	step, gain := n.step(first)
	if worse, _ := n.visit([]float64{5 + step[0]}); !(gain > 1 && worse.value < first.value) {
		t.Fatalf("the step %v does not overshoot: values %v and %v", step, first.value, worse.value)
	}
	best, ok := n.climb([]float64{5}, mostPasses)
	if !ok || !(math.Abs(best.at[0]) < 0.05) || !(best.value > first.value) {
		t.Errorf("the mode is %v, of value %v, want 0: %v", best.at, best.value, ok)
	}
	if l.calls != n.passes || n.terms != int64(l.calls) || n.passes > mostPasses+2 {
		t.Errorf("%d passes of %d terms, %d calls", n.passes, n.terms, l.calls)
	}
	if few, ok := n.climb([]float64{5}, 2); !ok || few.at[0] != 5 { // one pass beside the first, which is taken back
		t.Errorf("two passes lead to %v", few.at)
	}
}

// A curvature near 0 makes a step too long by far, and a thirty-second of it is the first part that rises: on 12 February 2013 New York's flights were early
// and alike after a day of delays. The search ends at the mode from the mean of that day's prediction.
func TestNewtonHalvesLongSteps(t *testing.T) {
	source, err := scans.OpenSet("flights", "")
	if err != nil {
		t.Fatal(err)
	}
	var scan *ssm.Scan
	for range 43 {
		day, err := source.Next()
		if err != nil {
			t.Fatal(err)
		}
		scan = &day.Scan
	}
	l, err := bound(ssm.Student{Interval: 86400, Degrees: 0.8, Location: 4, LogScale: 0.5, Initial: ssm.Initial{Mean: []float64{-2, 1.3}, SD: []float64{4, 0.5}}}, scan)
	if err != nil {
		t.Fatal(err)
	}
	mean := []float64{0.472, 2.196}
	n, ok := newNewton(l.(ssm.Expandable), mean, []float64{16.2, 0, 0, 0.25}, nil)
	if !ok {
		t.Fatal("no prior")
	}
	first, _ := n.visit(mean)
	step, _ := n.step(first)
	for i := range step {
		step[i] = mean[i] + step[i]/16
	}
	if s, _ := n.visit(step); !(s.value < first.value) {
		t.Fatalf("a sixteenth of the step rises already: %v after %v", s.value, first.value)
	}
	best, ok := n.climb(mean, mostPasses)
	if _, gain := n.step(best); !ok || !(gain <= enoughGain) || !golden.Near(best.at[0], -3.95, 0, 0.05) || !golden.Near(best.at[1], 1.0286, 0, 0.01) {
		t.Errorf("the search ends at %v, where another step would gain %v nats: %v", best.at, gain, ok)
	}
}

// Where the end of the burn-in has no series, x⁺ stays, and the series is about it again.
func TestExpansionStays(t *testing.T) {
	l := &vee{}
	c := &chain{like: &whole{Likelihood: l}, x: []float64{0.4}, order: 2, decider: AllRows{}}
	c.newton, _ = newNewton(l, []float64{0}, []float64{1}, nil)
	best, _ := c.newton.climb([]float64{0.4}, mostPasses)
	c.settle(best)
	plus := best.at[0]
	c.x[0] = 0.3
	c.burn(0, 2)
	l.fails = l.calls + 1
	c.burn(1, 2)
	if c.plus.at[0] != plus || l.at != plus {
		t.Errorf("x⁺ is %v and the series about %v, want %v", c.plus.at, l.at, plus)
	}
	// With one it is the mean of the second half, moved by one step towards the mode.
	c.half = nil
	for m, x := range []float64{7, 9, 0.5, 0.7} {
		c.x[0] = x
		c.burn(m, 4)
	}
	at, _ := c.newton.visit([]float64{0.6})
	step, _ := c.newton.step(at)
	if want := 0.6 + step[0]; !golden.Near(c.plus.at[0], want, 1e-9, 0) {
		t.Errorf("x⁺ is %v, want %v", c.plus.at, want)
	}
}

// Targets whose returns are beyond reach of the mean of the prediction are found where the chain's start is: x⁺ is near the truth, also of two targets
// that cross.
func TestExpansionOfFarTargets(t *testing.T) {
	for name, starts := range map[string][]ssm.Initial{
		"far":   {{Mean: []float64{0, 0, 0, 0}, SD: []float64{30, 30, 1, 1}}},
		"cross": {{Mean: []float64{-2, 0, 1, 0}, SD: []float64{0.5, 0.5, 0.5, 0.5}}, {Mean: []float64{2, 1, -1, 0}, SD: []float64{0.5, 0.5, 0.5, 0.5}}},
	} {
		m := ssm.Clutter{Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: 300, SD: 1}, Background: ssm.Background{Rate: 800, Region: [4]float64{-100, 100, -100, 100}}, Initial: starts}
		truth, scan, err := (&ssm.Scene{Model: m, Seed: 9}).Next()
		if err != nil {
			t.Fatal(err)
		}
		f, err := SMCMC{Particles: 300, Refine: Walk{SD: 0.05}, Decide: usual()}.On(Job{Model: m, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := newChain(f.(*smcmc).plan(0), 0, st, &scan)
		if err != nil {
			t.Fatal(err)
		}
		for r := range starts {
			if off := math.Hypot(c.plus.at[4*r]-truth[4*r], c.plus.at[4*r+1]-truth[4*r+1]); !(off < 0.4) { // four to six sd of the posterior
				t.Errorf("%s: target %d is %.2f from its place, %v", name, r, off, c.plus.at)
			}
		}
	}
}

// A likelihood that has no derivatives anywhere is refused with the states that were tried.
func TestNoDerivatives(t *testing.T) {
	c := &chain{like: &whole{Likelihood: nowhere{}}, x: []float64{3}, from: []float64{1, 2}, n: 2, groups: []ssm.Block{{From: 0, To: 1}}, tr: gaussianStep{step{example1}}, order: 2}
	if err := c.expand(); err == nil || !strings.Contains(err.Error(), "no derivatives") || !strings.Contains(err.Error(), "[3]") {
		t.Error(err)
	}
}

type nowhere struct{}

func (nowhere) Len() int                                         { return 1 }
func (nowhere) LogLik(x []float64, _ []int32) float64            { return 0 }
func (nowhere) Curvature(int, float64) float64                   { return 0 }
func (nowhere) Residuals(_, _ []float64, _ []int32, _ []float64) {}
func (nowhere) Expand(x []float64, order int) (ssm.Expansion, bool) {
	return ssm.Expansion{Gradient: []float64{0}, Hessian: []float64{0}}, false
}

// From the mean of the prediction, where many targets are more than a standard deviation of a return from their own and the log-likelihood is
// convex, a search ends at a mode: the curvature there is that of one, and another step would gain nothing. With 30 targets a step that goes too far for one
// of them is taken back for all.
func TestNewtonLeavesValleys(t *testing.T) {
	m := ssm.Clutter{Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: 50, SD: 1}, Background: ssm.Background{Rate: 400, Region: [4]float64{-200, 200, -200, 200}}}
	for i := range 30 {
		m.Initial = append(m.Initial, ssm.Initial{Mean: []float64{float64(i%6)*50 - 150, float64(i/6)*50 - 150, 1, 1}, SD: []float64{1, 1, .5, .5}})
	}
	for seed := range uint64(3) {
		scene := ssm.Scene{Model: m, Seed: seed}
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		mean, cov := m.StartMoments()
		mean, cov, _, err = predict(m, &State{Dim: m.Dim(), Mean: mean, Cov: cov}, &scan)
		if err != nil {
			t.Fatal(err)
		}
		like, err := bound(m, &scan)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := newNewton(like.(ssm.Expandable), mean, cov, nil)
		if !ok {
			t.Fatal("no search")
		}
		best, ok := n.climb(mean, mostPasses)
		_, precision := best.slope(nil)
		_, gain := n.step(best)
		if repaired := clipped(precision, m.Dim()); !ok || repaired || !(gain <= enoughGain) {
			t.Errorf("seed %d: after %d passes another step would gain %.3g nats; a curvature of a valley: %v", seed, n.passes, gain, repaired)
		}
	}
}
