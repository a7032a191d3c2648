package filter

import (
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// Each target has an index of its own: states come from one particle in one target and from another in the other. With ancestors: joint that
// is so before the first scan alone, where targets are independent. After it, of particles whose targets are at −5 and −5, or at 5 and 5,
// no chain makes a state at −5 and 5.
func TestTargetsComeFromOneParticleEach(t *testing.T) {
	m := two{scalar{a: 1, q: 0.01, h: 1, r: 1, p0: 1}}
	for name, way := range ways {
		way.Particles, way.Burn = 100, 60
		for i := range 6 {
			k := i % 3
			if way.Ancestors = Together; i >= 3 {
				way.Ancestors = ""
			}
			mixed := 0
			for seed := range uint64(10) {
				f, err := way.On(Job{Model: m, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				st, err := f.Init(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for j := range 100 {
					side := float64(10*(j%2) - 5)
					st.X[2*j], st.X[2*j+1] = side, side
				}
				st.K = k
				if _, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1}); err != nil {
					t.Fatal(err)
				}
				for j := range 100 {
					if (st.X[2*j] > 0) != (st.X[2*j+1] > 0) {
						mixed++
					}
				}
			}
			if (mixed > 0) != (k == 0 || way.Ancestors != Together) {
				t.Errorf("%s, ancestors: %q: after %d scans %d of 1,000 states have targets of different particles", name, way.Ancestors, k, mixed)
			}
		}
	}
}
