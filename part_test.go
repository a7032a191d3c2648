package starling

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// TestPartAlone: an island or a chain by itself, as a task for any machine, ends with the particles, weights and evidence that
// it has within Fit; so it does when it goes on from where it was saved.
func TestPartAlone(t *testing.T) {
	for _, method := range []string{
		"smc: {particles: 8, islands: 3, move: {hmc: {steps: 2, mutations: 3}}}",
		"smc: {particles: 5, islands: 2, path: {linear: {iterations: 6, batch: 9}}, move: {leapfrog: {step: 0.05}}}",
		"mcmc: {chains: 3, start: prior, epochs: 90, keep: 6, move: {pcn: {}}}",
	} {
		spec := trees(t, "map=null", "prior={normal: {fan_in: 2}}", "method={"+method+"}")
		r := fitted(t, spec, Options{})
		parts := func() []runs.Part {
			p := planned(t, spec, false)
			phases, err := p.Spec.Way().Phases(&p.Job)
			if err != nil || len(phases) != 1 {
				t.Fatalf("%s: %d phases, %v", method, len(phases), err)
			}
			return phases[0].Parts
		}
		alone, saved := parts(), parts()
		for i, want := range split(t, r.Posterior) {
			end, err := runs.RunPart(t.Context(), alone[i], nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := saved[i].Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			var middle bytes.Buffer
			if _, err := saved[i].WriteTo(&middle); err != nil {
				t.Fatal(err)
			}
			if again, err := runs.RunPart(t.Context(), parts()[i], middle.Bytes()); err != nil || !bytes.Equal(again, end) {
				t.Errorf("%s: part %d goes on to another end: %v", method, i, err)
			}
			var st smc.State
			if err := st.UnmarshalBinary(end); err != nil {
				t.Fatal(err)
			}
			kept := st.Ensemble()
			got, err := bnn.Combine(r.Net, []bnn.Island{{Theta: kept.Theta, LogWeights: kept.LogW}}, bnn.Equal{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Theta, want.Theta) || r.Posterior.LogEvidence[i] != 0 && st.LogZ != r.Posterior.LogEvidence[i] {
				t.Errorf("%s: part %d by itself ends elsewhere than within Fit", method, i)
			}
			for j, l := range got.LogWeights {
				if !(math.Abs(l-want.LogWeights[j]) <= 1e-12) {
					t.Errorf("%s: part %d, particle %d has log weight %v, want %v", method, i, j, l, want.LogWeights[j])
				}
			}
		}
	}
}
