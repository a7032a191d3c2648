package filter

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// vague is a clutter model whose targets start anywhere in the region, each with many returns of little noise.
func vague(targets int, rate float64) ssm.Clutter {
	m := ssm.Clutter{Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: rate, SD: 0.1},
		Background: ssm.Background{Rate: 100, Region: [4]float64{-100, 100, -100, 100}}}
	for r := range targets { // apart, so that it is known which is which
		m.Initial = append(m.Initial, ssm.Initial{Mean: []float64{60 * (float64(r) - float64(targets-1)/2), 0, 0, 0}, SD: []float64{50 / float64(targets), 50, 2, 2}})
	}
	return m
}

// deaf is a model whose likelihood does not say where its measurements are densest.
type deaf struct{ ssm.Clutter }

func (m deaf) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	like, err := m.Clutter.Bind(scan)
	if err != nil {
		return nil, err
	}
	return struct{ ssm.Incremental }{like.(ssm.Incremental)}, nil
}

// chained is a filter with small chains.
var chained = SMCMC{Particles: 1000, Repeat: 4, Burn: 250, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}}

// From a start that is wide beside the noise, each target's returns are found in the first scan: the estimates are within .2 m of the truth, where the start
// has up to 50 m and the noise .1 m. So it is with two targets, and with 5 returns. Of three, each has
// found returns, though in some filters those of another. The filter of a likelihood that does not tell where its
// returns are does not find them.
func TestStartsAreSought(t *testing.T) {
	testkit.Statistics(t)
	for _, c := range []struct {
		targets int
		rate    float64
		seed    uint64
	}{{1, 200, 1}, {1, 200, 2}, {1, 5, 3}, {2, 200, 4}, {3, 60, 5}} {
		m := vague(c.targets, c.rate)
		scene := ssm.Scene{Model: m, Seed: c.seed}
		truth, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		var info Info
		st := filtered(t, chained, Job{Model: m, Seed: c.seed}, []*ssm.Scan{&scan}, func(_ int, _ *State, got Info) { info = got })
		mean, _ := st.Moments()
		for r := range c.targets {
			if d := math.Hypot(mean[4*r]-truth[4*r], mean[4*r+1]-truth[4*r+1]); !(d < 0.2) && c.targets < 3 {
				t.Errorf("%+v: target %d is %.2g m from its estimate", c, r+1, d)
			}
			if info.Lost[r] || !(info.Explained[r] > c.rate/3) {
				t.Errorf("%+v: target %d has %.1f returns, lost: %v", c, r+1, info.Explained[r], info.Lost[r])
			}
		}
		if c.targets > 1 {
			continue
		}
		st = filtered(t, chained, Job{Model: deaf{m}, Seed: c.seed}, []*ssm.Scan{&scan}, func(_ int, _ *State, got Info) { info = got })
		mean, _ = st.Moments()
		if d := math.Hypot(mean[0]-truth[0], mean[1]-truth[1]); !(d > 1) || info.Explained != nil {
			t.Errorf("%+v: without places the estimate is off by %v m: the test cannot fail", c, d)
		}
	}
}

// What moves to a place has the law of the draws given the place: for a Gaussian transition the mean of the velocity is its regression on the
// position, and its variance what the position leaves. Of 4,000 draws means are within 6 standard errors, variances within 15 %.
func TestGivenIsADrawGivenThePlace(t *testing.T) {
	m := vague(1, 5)
	tr, err := m.Transition(2)
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{tr: tr, y: make([]float64, 4)}
	s, sum, squares := rng.Key{Seed: 2}.Stream(), 0.0, 0.0
	const n = 4000
	for range n {
		tr.Sample(s, []float64{0, 0, 1, 0}, c.y)
		c.given(0, 2, 4, []float64{3, 0})
		if c.y[0] != 3 || c.y[1] != 0 {
			t.Fatalf("moved to %v", c.y[:2])
		}
		sum, squares = sum+c.y[2], squares+c.y[2]*c.y[2]
	}
	// Q = s² [T³/3 T²/2; T²/2 T] with s = .5 and T = 2: the regression is 3/(2T), the variance left s² T/4.
	mean, variance := sum/n, squares/n-sum/n*sum/n
	if want, left := 1+0.75*(3-2), 0.125; !(math.Abs(mean-want) < 6*math.Sqrt(left/n)) || !(math.Abs(variance/left-1) < 0.15) {
		t.Errorf("the velocity has mean %.4f and variance %.4f, want %.4f and %.4f", mean, variance, want, left)
	}
}

// A chain that is far from its returns says that its targets are lost; ancestors: joint starts at the draw.
func TestLostTargetsAreTold(t *testing.T) {
	m := vague(2, 200)
	scene := ssm.Scene{Model: m, Seed: 7}
	_, scan, err := scene.Next()
	if err != nil {
		t.Fatal(err)
	}
	way := chained
	way.Ancestors = Together
	filtered(t, way, Job{Model: m, Seed: 7}, []*ssm.Scan{&scan}, func(_ int, _ *State, info Info) {
		if len(info.Lost) != 2 || !info.Lost[0] || !info.Lost[1] || !(info.Explained[0] < 10) {
			t.Errorf("far from their returns two targets have %.3v, lost: %v", info.Explained, info.Lost)
		}
	})
}

// A start leaves the law of the chain alone: with starts that are sought and with draws the means of a target in clutter agree, in scans
// where both find its returns. In units of the standard error of four filters each, of 24 differences none is above 12: of three degrees of
// freedom, on a fixed seed.
func TestStartsLeaveTheLawAlone(t *testing.T) {
	testkit.Statistics(t)
	m := vague(1, 6)
	m.Returns.SD, m.Initial[0].SD = 1, []float64{4, 4, 1, 1}
	way := chained
	way.Particles, way.Burn = 4000, 1000
	var scans []*ssm.Scan
	scene := ssm.Scene{Model: m, Seed: 3}
	for range 6 {
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		scans = append(scans, &scan)
	}
	var means, errors [][]float64
	filtered(t, way, Job{Model: deaf{m}, Seed: 5}, scans, func(_ int, st *State, info Info) {
		mean, _ := st.Moments()
		means, errors = append(means, mean), append(errors, info.MCSE)
	})
	filtered(t, way, Job{Model: m, Seed: 6}, scans, func(k int, st *State, info Info) {
		mean, _ := st.Moments()
		for i, v := range mean {
			if z := (v - means[k][i]) / math.Hypot(info.MCSE[i], errors[k][i]); !(math.Abs(z) < 12) {
				t.Errorf("scan %d, coordinate %d: %.3f and %.3f differ by %.1f standard errors", k+1, i, v, means[k][i], z)
			}
		}
	})
}

// A target is lost where a Poisson number is so small with probability below 1e-6, and it has fewer than half of its mean: beside exact sums. The
// bound is no more than a factor of 50 from the exact one.
func TestLostByPoisson(t *testing.T) {
	for _, mean := range []float64{0.9, 5, 13, 14, 20, 40, 200, 1500} {
		tail, term := 0.0, rng.Exp(-mean)
		for n := range int(mean) + 1 {
			tail += term
			term *= mean / float64(n+1)
			got := lost(float64(n), mean)
			if got && !(tail < 1e-6 && float64(n) < mean/2) {
				t.Errorf("%d of %v returns are lost, with a tail of %.2g", n, mean, tail)
			}
			if !got && tail < 2e-8 && float64(n) < mean/2 {
				t.Errorf("%d of %v returns are not lost, with a tail of %.2g", n, mean, tail)
			}
		}
	}
}

// The surprise of scans from the model is uniform: of 600 scans, about 60, 30 and 300 are below .1, .05 and .5, within five standard deviations of a
// binomial number (6e-7 each). A scan that is far off has less than .01. States are normal, particles, and particles with weights.
func TestSurpriseIsUniform(t *testing.T) {
	testkit.Statistics(t)
	rb := ssm.RangeBearing{Interval: 1, Acceleration: 0.2, Sensors: [][2]float64{{0, 0}, {50, 0}}, SDRange: 1, SDBearing: 0.02, Returns: 1,
		Initial: ssm.Initial{Mean: []float64{40, 30, 1, 0}, SD: []float64{2, 2, 0.5, 0.5}}}
	line := ssm.LinearGaussian{Interval: 1, A: [][]float64{{0.9}}, Q: [][]float64{{0.5}}, H: [][]float64{{1}}, R: [][]float64{{1}}, Returns: 2}
	far := map[string]*ssm.Scan{
		"kalman":    {Time: 1, Width: 1, Values: []float64{25, 0.3}},
		"smcmc":     {Time: 1, Width: 3, Values: []float64{0, 90, 0.65, 1, 31, 1.9}},
		"bootstrap": {Time: 1, Width: 2, Values: []float64{90, 90, 91, 90, 90, 91, 89, 90, 90, 89, 91, 91, 89, 89, 90, 90}},
	}
	clutter := vague(2, 8)
	clutter.Background.Rate, clutter.Returns.SD = 20, 1
	for r := range clutter.Initial {
		clutter.Initial[r].SD = []float64{1, 1, 0.5, 0.5}
	}
	for name, c := range map[string]struct {
		model  ssm.Simulator
		method Method
	}{
		"kalman": {line, Kalman{}}, "smcmc": {rb, chained}, "bootstrap": {clutter, Bootstrap{Particles: 2000}},
	} {
		f, err := c.method.On(Job{Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const n = 600
		below := map[float64]int{0.05: 0, 0.1: 0, 0.5: 0}
		for seed := range uint64(n) {
			scene := ssm.Scene{Model: c.model, Seed: seed}
			_, scan, err := scene.Next()
			if err != nil {
				t.Fatal(err)
			}
			p := Surprise(Job{Model: c.model, Seed: seed}, st, &scan)
			if !(p > 0 && p <= 1) {
				t.Fatalf("%s: a surprise of %v", name, p)
			}
			for level := range below {
				if p <= level {
					below[level]++
				}
			}
		}
		for level, count := range below {
			sd := math.Sqrt(n * level * (1 - level))
			if d := float64(count) - n*level; !(math.Abs(d) < 5*sd) {
				t.Errorf("%s: of %d scans %d have a surprise of at most %v, want %v ± %.0f", name, n, count, level, n*level, sd)
			}
		}
		if p := Surprise(Job{Model: c.model, Seed: 1}, st, far[name]); !(p <= 0.01) {
			t.Errorf("%s: a scan that is far off has the surprise %v", name, p)
		}
	}
}

// The weights of particles count in the surprise, and a state stays as it is.
func TestSurpriseIsOfTheWeightedLaw(t *testing.T) {
	m := ssm.LinearGaussian{Interval: 1, A: [][]float64{{1}}, Q: [][]float64{{0.01}}, H: [][]float64{{1}}, R: [][]float64{{0.01}}, Returns: 1}
	m.Initial = &ssm.Initial{Mean: []float64{0}, SD: []float64{1}}
	st := &State{K: 1, Dim: 1, X: []float64{0, 10}, LogW: []float64{math.Log(1 - 1e-12), math.Log(1e-12)}}
	before := fmt.Sprint(st)
	for z, low := range map[float64]bool{0: false, 10: true} {
		p := Surprise(Job{Model: m}, st, &ssm.Scan{Time: 1, Width: 1, Values: []float64{z}})
		if low != (p < 0.001) {
			t.Errorf("a measurement at %v has the surprise %v", z, p)
		}
	}
	if fmt.Sprint(st) != before {
		t.Error("the state has changed")
	}
	if p := Surprise(Job{Model: two{example1}}, &State{Dim: 2, X: []float64{0, 0}}, measured()[0]); !math.IsNaN(p) {
		t.Errorf("a model that draws no measurements has the surprise %v", p)
	}
}

// TestSurpriseOfKalman: the Kalman filter's surprise is exact. Of one number it is 2Φ(−|z − m|/s), of two independent ones of the same law
// e^(−d²/2); what lacks numbers counts as what is there, and a scan without measurements has none.
func TestSurpriseOfKalman(t *testing.T) {
	m := ssm.LinearGaussian{A: [][]float64{{1, 0}, {0, 1}}, Q: [][]float64{{1, 0}, {0, 1}}, H: [][]float64{{1, 0}, {0, 1}}, R: [][]float64{{2, 0}, {0, 2}},
		Initial: &ssm.Initial{Mean: []float64{1, 1}, SD: []float64{1, 1}}}
	f, err := Kalman{}.On(Job{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	surprise := func(scan *ssm.Scan) *float64 {
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Step(t.Context(), st, scan)
		if err != nil {
			t.Fatal(err)
		}
		return info.Surprise
	}
	for _, z := range []float64{1, 3, -4, 20} {
		d := (z - 1) / 2 // of variance 1 + 1 + 2
		if got, want := *surprise(&ssm.Scan{Width: 2, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{z}}}}), math.Erfc(math.Abs(d)/math.Sqrt2); !golden.Near(got, want, 1e-11, 0) {
			t.Errorf("one number %v: %v, want %v", z, got, want)
		}
		if got, want := *surprise(&ssm.Scan{Width: 2, Values: []float64{z, 1}}), math.Exp(-d*d/2); !golden.Near(got, want, 1e-11, 0) {
			t.Errorf("two numbers %v: %v, want %v", z, got, want)
		}
	}
	if got := surprise(&ssm.Scan{Width: 2}); got != nil {
		t.Errorf("no measurements: %v", *got)
	}
}
