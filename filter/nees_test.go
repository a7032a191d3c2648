package filter_test

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// clutter3 is the model of the preset clutter3 with other rates of returns.
func clutter3(targets, clutter float64) ssm.Clutter {
	m := ssm.Clutter{Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: targets, SD: 1},
		Background: ssm.Background{Rate: clutter, Region: [4]float64{-100, 100, -100, 100}}}
	for _, mean := range [][]float64{{-60, -40, 3, 2}, {50, -50, -2, 3}, {0, 60, 1, -3}} {
		m.Initial = append(m.Initial, ssm.Initial{Mean: mean, SD: []float64{1, 1, 0.5, 0.5}})
	}
	return m
}

// A filter's uncertainty is honest: where truth and scans are drawn from the model, the squared error of a target's state in the
// metric of the filter's covariance (NEES) has the χ² law of four degrees of freedom, because the posterior is close to normal
// where returns are many. Sums over seeds and targets are within the law's bounds for 1e-6 a scan, of six scans: a false failure
// in 1.7e5. A covariance that is 40 % too small is found: ten seeds and three targets make 120 degrees of freedom. The covariance of
// samples has errors of its own, which make the sum larger: by 45 % with 1,000 samples, by 15 % with the 4,000 here.
func TestNEES(t *testing.T) {
	testkit.Statistics(t)
	chain := filter.SMCMC{Particles: 4000, Burn: 250, Index: filter.UniformIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	bounded(t, "60 and 160 returns", nees(t, clutter3(60, 160), chain, 10, 6), 10, true)
	bounded(t, "20 returns, guided", nees(t, calm(), guided, 10, 6), 10, true)
}

// guided is the chain of the preset clutter3.
var guided = filter.SMCMC{Particles: 4000, Repeat: 8, Burn: 100, Joint: filter.Guided{}}

// calm is clutter3 with 20 returns of each target, and little noise in the motion: here ancestors: joint leaves too few of them, and its NEES is 12
// to 27.
func calm() ssm.Clutter {
	m := clutter3(20, 50)
	m.Acceleration = 0.14
	return m
}

// TestNEESTable takes the preset clutter3 itself, 20 seeds and 20 scans, each target by itself, and a walk in its place; and it reports the walk
// of the paper.
func TestNEESTable(t *testing.T) {
	testkit.Takes(t, 30)
	m := clutter3(1500, 4000)
	chain := filter.SMCMC{Particles: 4000, Burn: 1000, Repeat: 1, Joint: filter.PriorJoint{}, Index: filter.UniformIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	bounded(t, "clutter3, guided", nees(t, m, guided, 20, 20), 20, false)
	bounded(t, "20 returns, acceleration .14, guided", nees(t, calm(), guided, 20, 20), 20, false)
	bounded(t, "clutter3, sd: adapted", nees(t, m, chain, 20, 20), 20, false)
	chain.Refine = filter.Walk{SD: 0.1}
	report(t, "clutter3, sd: 0.1", nees(t, m, chain, 20, 20))
	chain.Index = filter.FixedIndex{}
	report(t, "clutter3, sd: 0.1, index: none", nees(t, m, chain, 20, 20))
}

// nees returns Σ (m − x)ᵀ P⁻¹ (m − x) over seeds: [scan][target].
func nees(t *testing.T, m ssm.Clutter, chain filter.SMCMC, seeds, steps int) [][3]float64 {
	t.Helper()
	out := make([][3]float64, steps)
	for seed := range uint64(seeds) {
		scene := ssm.Scene{Model: m, Seed: seed}
		f, err := chain.On(filter.Job{Model: m, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for k := range steps {
			truth, scan, err := scene.Next()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Step(t.Context(), st, &scan); err != nil {
				t.Fatal(err)
			}
			mean, cov := st.Moments()
			for r := range 3 {
				factor, dev := make([]float64, 0, 16), make([]float64, 4)
				for i := 4 * r; i < 4*r+4; i++ {
					dev[i-4*r] = mean[i] - truth[i]
					factor = append(factor, cov[i*12+4*r:i*12+4*r+4]...)
				}
				if !dense.Cholesky(factor, 4) {
					out[k][r] = math.Inf(1)
					continue
				}
				dense.Forward(factor, dev)
				for _, v := range dev {
					out[k][r] += v * v
				}
			}
		}
	}
	return out
}

// bounded fails where a sum is outside the bounds of the χ² law for 1e-6: that of each target, or of all three together.
func bounded(t *testing.T, name string, sums [][3]float64, seeds int, together bool) {
	t.Helper()
	report(t, name, sums)
	check := func(k int, sum float64, degrees int) {
		if low, high := chiSquare(degrees, -4.8916), chiSquare(degrees, 4.8916); !(sum >= low && sum <= high) {
			t.Errorf("%s: scan %d: NEES of %d degrees of freedom is %.1f, want from %.1f to %.1f", name, k+1, degrees, sum, low, high)
		}
	}
	for k, s := range sums {
		if together {
			check(k, s[0]+s[1]+s[2], 12*seeds)
			continue
		}
		for _, v := range s {
			check(k, v, 4*seeds)
		}
	}
}

// report shows the sums over scans, 4 times seeds and scans where the filter is right.
func report(t *testing.T, name string, sums [][3]float64) {
	t.Helper()
	total, largest := [3]float64{}, 0.0
	for _, s := range sums {
		for r, v := range s {
			total[r] += v / float64(len(sums))
			largest = max(largest, v)
		}
	}
	t.Logf("%s: mean over scans of the sum over seeds, by target: %.1f, the largest of a scan %.1f", name, total, largest)
}

// chiSquare is the quantile of the χ² law where the normal law has z (Wilson and Hilferty 1931).
func chiSquare(degrees int, z float64) float64 {
	v := 2 / (9 * float64(degrees))
	root := 1 - v + z*math.Sqrt(v)
	return float64(degrees) * root * root * root
}
