package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// With guided draws the first scan's prediction is that of the start itself. On a linear model its evidence is then the Kalman filter's, since the series
// is exact, with noise of full rank and of lower rank, and each state has an ancestor of its own. The moments are the Kalman filter's: each is
// within 5.5 standard errors of nearly independent draws, which a comparison exceeds once in 2.5e7.
func TestGuidedOnset(t *testing.T) {
	testkit.Statistics(t)
	for _, q := range [][][]float64{{{0.34, 0.5}, {0.5, 1}}, {{0.25, 0.5}, {0.5, 1}}} {
		m := ssm.LinearGaussian{A: [][]float64{{1, 1}, {0, 1}}, Q: q, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
			Initial: &ssm.Initial{Mean: []float64{100, 1}, SD: []float64{1000, 30}}}
		scan := &ssm.Scan{Time: 1, Width: 1, Values: []float64{-700, -701.5, -699.2}}
		exact := filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{scan}, nil)
		mean, cov := exact.Moments()
		way := SMCMC{Joint: Guided{}}
		way.Defaults()
		filtered(t, way, Job{Model: m, Seed: 2}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) {
			got, spread := st.Moments()
			for i := range got {
				if z := (got[i] - mean[i]) / math.Sqrt(cov[i*2+i]/info.ESS[i]); !(math.Abs(z) < 5.5) {
					t.Errorf("mean %d is off by %.1f standard errors", i, z)
				}
				if z := math.Log(spread[i*2+i]/cov[i*2+i]) / math.Sqrt(2/info.ESS[i]); !(math.Abs(z) < 5.5) {
					t.Errorf("variance %d is off by %.1f standard errors", i, z)
				}
			}
			if !(math.Abs(info.LogEvidence-exact.LogZ) < 1e-4) || info.Ancestors != 500 {
				t.Errorf("log evidence %v, want %v; %d ancestors", info.LogEvidence, exact.LogZ, info.Ancestors)
			}
		})
	}
}

// A target whose start is wide beside its returns, and whose acceleration is small, is found by the default's draws, and its NEES over ten scans is that of
// four coordinates: below 14.9 a scan on average, which a χ² of 40 degrees of freedom exceeds once in 1e12. Its positions have a standard deviation of about .1. Of particles from
// the start few would lead there: filters that lose the target have a spread of metres.
func TestGuidedWideStart(t *testing.T) {
	testkit.Statistics(t)
	m := ssm.Clutter{Interval: 1, Acceleration: 0.3, Returns: ssm.Returns{Rate: 100, SD: 1}, Background: ssm.Background{Rate: 100, Region: [4]float64{-200, 200, -200, 200}},
		Initial: []ssm.Initial{{Mean: []float64{-20, 0, 0, 0}, SD: []float64{50, 50, 3, 3}}}}
	scene := ssm.Scene{Model: m, Seed: 5}
	var truth [][]float64
	var scans []*ssm.Scan
	for range 10 {
		x, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		truth, scans = append(truth, slices.Clone(x)), append(scans, &scan)
	}
	way, nees := SMCMC{}.SettleFor(m).(SMCMC), 0.0
	way.Defaults()
	filtered(t, way, Job{Model: m, Seed: 1}, scans, func(k int, st *State, info Info) {
		mean, cov := st.Moments()
		if sd := math.Sqrt(cov[0] + cov[5]); !(sd < 0.5) {
			t.Errorf("scan %d: a standard deviation of %.2f", k+1, sd)
		}
		dev := slices.Clone(truth[k])
		for i, v := range mean {
			dev[i] -= v
		}
		if !dense.Cholesky(cov, 4) {
			t.Fatalf("scan %d: a singular covariance", k+1)
		}
		dense.Forward(cov, dev)
		for _, v := range dev {
			nees += v * v / 10
		}
	})
	if t.Logf("NEES %.2f", nees); !(nees < 14.9) {
		t.Errorf("NEES %.1f, want about 4", nees)
	}
}
