package filter

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/smc"
)

// Particle filters against the Kalman filter: over seeds, the mean of the estimated means and evidences is right. Evidence is
// unbiased before the logarithm, so that exp(log Z − log Z_Kalman) has mean 1. Bounds are six standard errors of forty seeds, by
// Student's t with 39 degrees: false failures in 2e-6 of the cases.
func TestParticleFiltersAgainstKalman(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "filtering.json")
	c := cases[1] // 3 measurements a scan, 6 scans: where weights are even
	want := 0.0
	for _, v := range c.Expected.Evidence {
		want += v
	}
	for name, m := range map[string]Method{
		"bootstrap":   Bootstrap{Particles: 4000},
		"multinomial": Bootstrap{Particles: 4000, Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Always{}}},
		"never":       Bootstrap{Particles: 4000, Resample: smc.Resampler{When: smc.Never{}}},
		"auxiliary":   Auxiliary{Particles: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			var means, evidence []float64
			for seed := range uint64(40) {
				last := len(c.Expected.Mean) - 1
				st := filtered(t, m, Job{Model: c.model(), Seed: seed}, c.scans(), nil)
				mean, _ := st.Moments()
				means = append(means, mean[0]-c.Expected.Mean[last])
				evidence = append(evidence, math.Exp(st.LogZ-want)-1)
			}
			for what, errors := range map[string][]float64{"mean": means, "evidence": evidence} {
				m, s := meanSD(errors)
				if se := s / math.Sqrt(40); math.Abs(m) > 6*se {
					t.Errorf("%s: error %.2g, standard error %.2g", what, m, se)
				}
			}
		})
	}
}

func meanSD(x []float64) (mean, sd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(sd)
}
