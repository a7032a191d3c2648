package filter

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// On a linear Gaussian model the Laplace filter is the Kalman filter, to 1e-9, and in the evidence to 1e-7, since the squares in a log-likelihood are
// added in float32: with rates over irregular times, with singular noise, also far
// from the origin, with measurements that lack some of their numbers, and in scans without any.
func TestLaplaceIsKalman(t *testing.T) {
	pendulum := swinging()
	singular := ssm.LinearGaussian{A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.25, 0.5}, {0.5, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{1e4, 1}, SD: []float64{1, 1}}}
	var far []*ssm.Scan
	for k, z := range [][]float64{{1.2}, {3.1, 2.2}, {}, {7, 6.1, 6.4}} {
		scan := &ssm.Scan{Time: float64(k + 1), Width: 1}
		for _, v := range z {
			scan.Values = append(scan.Values, v+1e4)
		}
		far = append(far, scan)
	}
	known := singular
	known.Initial = &ssm.Initial{Mean: []float64{1e4, 1}, SD: []float64{0, 0}}
	both := pendulum
	both.H, both.R = [][]float64{{1, 0}, {1, 0.5}}, [][]float64{{0.4, 0.1}, {0.1, 0.3}}
	parted := []*ssm.Scan{{Time: 0, Width: 2, Values: []float64{1, 0.5}, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{0.3, 0.2}}}},
		{Time: 1.5, Width: 2, Parts: []ssm.Part{{Columns: []int{0}, Values: []float64{-0.2}}}}}
	for name, c := range map[string]struct {
		model ssm.LinearGaussian
		scans []*ssm.Scan
	}{"rates": {pendulum, irregular()}, "singular": {singular, far}, "a known start": {known, far}, "parts": {both, parted}} {
		var want []*State
		filtered(t, Kalman{}, Job{Model: c.model}, c.scans, func(_ int, st *State, _ Info) {
			copied := *st
			want = append(want, &copied)
		})
		filtered(t, Laplace{}, Job{Model: c.model}, c.scans, func(k int, st *State, info Info) {
			for i, v := range st.Mean {
				if !golden.Near(v, want[k].Mean[i], 1e-9, 1e-9) {
					t.Errorf("%s, scan %d: mean %v, want %v", name, k+1, st.Mean, want[k].Mean)
				}
			}
			for i, v := range st.Cov {
				if !golden.Near(v, want[k].Cov[i], 1e-9, 1e-9) {
					t.Errorf("%s, scan %d: covariance %v, want %v", name, k+1, st.Cov, want[k].Cov)
				}
			}
			if !golden.Near(st.LogZ, want[k].LogZ, 1e-7, 1e-7) || info.Repairs != 0 {
				t.Errorf("%s, scan %d: log evidence %v, want %v; %d repairs", name, k+1, st.LogZ, want[k].LogZ, info.Repairs)
			}
		})
	}
}

// Of many returns the posterior is nearly normal: the Laplace filter's moments and evidence are those of guided draws. Means agree to .2 of a
// standard deviation, sds to 15 %, log evidences to .2: of 4,000 samples the errors are a fifth of that. So the two check each other: a Laplace
// filter without half of the determinant is off by more than 10.
func TestLaplaceAgainstGuided(t *testing.T) {
	testkit.Statistics(t)
	m, _ := pair(300, 400, 4)
	scene := ssm.Scene{Model: m, Seed: 2}
	var scans []*ssm.Scan
	for range 4 {
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		scans = append(scans, &scan)
	}
	way := SMCMC{Joint: Guided{}}
	way.Defaults()
	type law struct {
		mean, cov []float64
		logZ      float64
	}
	var want []law
	filtered(t, way, Job{Model: m, Seed: 4}, scans, func(_ int, st *State, info Info) {
		mean, cov := st.Moments()
		want = append(want, law{mean, cov, info.LogEvidence})
	})
	filtered(t, Laplace{}, Job{Model: m}, scans, func(k int, st *State, info Info) {
		off, most, d := 0.0, 0.0, st.Dim
		for i, v := range st.Mean {
			off = max(off, math.Abs(v-want[k].mean[i])/math.Sqrt(st.Cov[i*d+i]))
			most = max(most, math.Abs(0.5*math.Log(st.Cov[i*d+i]/want[k].cov[i*d+i])))
		}
		t.Logf("scan %d: means off by %.3f sd, log sds by %.3f, evidence by %.3f; %d passes", k+1, off, most, info.LogEvidence-want[k].logZ, info.Passes)
		if !(off < 0.2) || !(most < 0.15) || !(math.Abs(info.LogEvidence-want[k].logZ) < 0.2) || info.Repairs != 0 {
			t.Errorf("scan %d: means off by %.3f sd, log sds by %.3f, evidence by %.3f, %d repairs", k+1, off, most, info.LogEvidence-want[k].logZ, info.Repairs)
		}
	})
}

// TestLaplaceSeeks: where the prediction is wide beside the noise, a target is 13 standard deviations of a return from its predicted place, where
// its returns are beyond reach. The mode is found from the place where returns are densest, with the velocity that goes with it.
func TestLaplaceSeeks(t *testing.T) {
	m, _ := pair(60, 100, 30)
	for i := range m.Initial {
		m.Initial[i].SD = []float64{6, 6, 6, 6}
	}
	truth := []float64{14, -5, 8, -3, 2.5, 29, 2, -1}
	_, scan := pair(0, 0, 0)
	m.Measure(rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream(), truth, scan)
	filtered(t, Laplace{}, Job{Model: m}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) {
		for i, v := range truth {
			bound := 1.0 // seven standard deviations of a position
			if i%4 >= 2 {
				bound = 25
			}
			if !(math.Abs(st.Mean[i]-v) < bound) {
				t.Errorf("coordinate %d is %.2f, want %.2f; sd %.2f", i, st.Mean[i], v, math.Sqrt(st.Cov[i*9]))
			}
		}
		if sd := math.Sqrt(st.Cov[0]); !(sd > 0.05 && sd < 0.3) {
			t.Errorf("the sd of a position is %.3f", sd)
		}
	})
}

// TestSeriesAreWanted: what guided draws and the Laplace filter need is said before the run.
func TestSeriesAreWanted(t *testing.T) {
	flat := ssm.LinearGaussian{A: [][]float64{{.9}}, Q: [][]float64{{1}}, H: [][]float64{{1}}, R: [][]float64{{1}}}
	for _, c := range []struct {
		way   Method
		model ssm.Model
		want  string
	}{
		{SMCMC{Particles: 10, Joint: Guided{}}, flat, ""},
		{SMCMC{Particles: 10, Joint: Guided{}}, linear{example1}, errNoSeries.Error()},
		{SMCMC{Particles: 10, Joint: Guided{}}, withoutMoments{flat}, "joint: guided needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian): take joint: prior or none"},
		{Laplace{}, flat, ""},
		{Laplace{}, linear{example1}, "a Laplace filter needs a likelihood with a Taylor series (ssm.Expandable): take smcmc or bootstrap for this one"},
		{Laplace{}, two{example1}, "a Laplace filter needs the mean and covariance of the model's start (ssm.GaussianStart): take smcmc or bootstrap for this one"},
		{Laplace{}, withoutMoments{flat}, "a Laplace filter needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian): take smcmc or bootstrap for this one"},
	} {
		got := ""
		if err := c.way.Suits(c.model); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T, %T: %q, want %q", c.way, c.model, got, c.want)
		}
		if _, err := c.way.On(Job{Model: c.model}); (err == nil) != (c.want == "") {
			t.Errorf("%T, %T: %v", c.way, c.model, err)
		}
	}
	if (SMCMC{Joint: Guided{}, Decide: Subsample{Order: 2}}).Evidence() || !(SMCMC{Joint: Guided{}}).Evidence() || (SMCMC{Joint: PriorJoint{}}).Evidence() {
		t.Error("guided draws that all measurements decide, and no others, give the evidence")
	}
}

// withoutMoments is a model whose transitions do not say that they are Gaussian.
type withoutMoments struct{ ssm.LinearGaussian }

func (m withoutMoments) Transition(dt float64) (ssm.Transition, error) {
	tr, err := m.LinearGaussian.Transition(dt)
	return struct{ ssm.Transition }{tr}, err
}
