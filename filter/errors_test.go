package filter

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// The error that a filter states for the mean of the first scan is that of the mean over filters of other seeds: by MCSE, if it has one,
// and by the effective number of its draws, √(variance/ESS). The start is
// narrow, so that hardly any of the error comes from the draws before the scan, and the measurement is sharp, so that weights are uneven:
// by the number of particles, in place of their effective number, the stated error would be .4 of the right one. The root of the mean
// square of (mean − exact)/error is 1 where errors are right, and √½ by the effective number of weighted particles, which leaves out that
// those of large weight are near the mean. Over 300 seeds it is within .53 and 1.4: six standard errors of χ² of 300 degrees, .041 of it,
// beyond √½ and 1.1, which errors have that are estimated.
func TestStatedErrorsAreTheErrors(t *testing.T) {
	m := scalar{a: 0.9, q: 1, h: 1, r: 0.01, m0: 0.4, p0: 1e-4}
	const z, seeds = 1.3, 300
	prior := m.q + m.a*m.a*m.p0
	exact := m.a*m.m0 + prior/(prior+m.r)*(z-m.a*m.m0)
	methods := weightedMethods(500)
	for name, way := range ways {
		way.Particles, way.Burn, way.Repeat = 500, 100, 1
		methods[name] = way
	}
	for name, method := range methods {
		squares, sized := 0.0, 0.0
		for seed := range uint64(seeds) {
			filtered(t, method, Job{Model: linear{m}, Seed: seed}, []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{z}}}, func(_ int, st *State, info Info) {
				mean, cov := st.Moments()
				if len(info.MCSE) > 0 {
					off := (mean[0] - exact) / info.MCSE[0]
					squares += off * off / seeds
				}
				sized += (mean[0] - exact) * (mean[0] - exact) / (cov[0] / info.ESS[0]) / seeds
			})
		}
		for what, square := range map[string]float64{"standard errors": squares, "effective numbers": sized} {
			if _, chain := method.(SMCMC); chain && what == "standard errors" { // one chain has none
				continue
			}
			if rms := math.Sqrt(square); !(rms >= 0.53 && rms <= 1.4) {
				t.Errorf("%s: the errors of %d means are %.3f of those by the %s", name, seeds, rms, what)
			}
		}
	}
}
