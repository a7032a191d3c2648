package filter

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
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

// The evidence where many predictions are impossible, though the states that they lead to are not: with likelihood N(z; x, r) on
// (0, ½) alone it is N(z; 0, v + r) (Φ((½ − m)/s) − Φ(−m/s)), by the moments m and s² of x given z. Bounds as above.
func TestEvidenceOfAHole(t *testing.T) {
	testkit.Statistics(t)
	m, z := fussy{scalar{a: 0.9, q: 0.08, h: 1, r: 2, m0: 0, p0: 1}}, 0.7
	v := m.a*m.a*m.p0 + m.q
	mean, s := z*v/(v+m.r), math.Sqrt(v*m.r/(v+m.r))
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-(x-mean)/(s*math.Sqrt2)) }
	want := math.Exp(-0.5*z*z/(v+m.r)) / math.Sqrt(2*math.Pi*(v+m.r)) * (phi(0.5) - phi(0))
	for name, way := range map[string]Method{"bootstrap": Bootstrap{Particles: 1000}, "auxiliary": Auxiliary{Particles: 1000}} {
		var errors []float64
		for seed := range uint64(40) {
			st := filtered(t, way, Job{Model: m, Seed: seed}, []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{z}}}, nil)
			errors = append(errors, math.Exp(st.LogZ)/want-1)
		}
		if m, s := meanSD(errors); math.Abs(m) > 6*s/math.Sqrt(40) || s > 0.2 {
			t.Errorf("%s: error %.3g of the evidence, sd %.2g of one run", name, m, s)
		}
	}
}
