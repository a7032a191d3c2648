package starling

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// A run whose last target is not the posterior says so: only part of the examples, or of their power.
func TestEvidenceOfAPart(t *testing.T) {
	for path, want := range map[string]bool{
		"constant: {iterations: 3, batch: 9}":        true,
		"sda: {iterations: 3, batch: 9}":             true,
		"ctr: {iterations: 5, batch: 9}":             true, // nine tenths of 5 iterations are all of them
		"ctr: {iterations: 10, batch: 9}":            false,
		"full: {iterations: 2}":                      false,
		"sda: {iterations: 60, batch: 50, grow: 50}": false,
	} {
		r := fit(t, trees(t, "method.smc={particles: 6, path: {"+path+"}, move: {leapfrog: {step: 0.02}}}"), Options{Threads: 2})
		if got := strings.Contains(strings.Join(r.Notes, "\n"), "is not the model's"); got != want {
			t.Errorf("%s: notes %q", path, r.Notes)
		}
	}
}

// What tells an optimiser from a sampler is the population, however small, in most iterations: two particles of nearly equal
// weight are well, ten carry a variance of log 10 = 2.30, and a straggler leaves the others what they are.
func TestHealthOfFew(t *testing.T) {
	for _, c := range []struct {
		particles, ancestors int
		ess, variance        float64
		ill                  bool
	}{
		{2, 2, 1.9, 0.05, false}, {2, 2, 1.36, 0.7, false}, {2, 2, 1, 0, true}, {2, 2, 1, 9, true},
		{10, 4, 5, 0.7, false}, {10, 4, 4.9, 2.3, false}, {10, 4, 4.9, 2.31, true}, {10, 4, 9, 90, false}, {10, 4, 1.5, 0.8, true}, {10, 1, 8, 0.2, true},
		{1000, 400, 12, 6.9, false}, {1000, 400, 12, 6.91, true},
	} {
		r := &run{}
		r.Data = &data.Problem{Train: &data.Set{}}
		r.Spec.Method.SMC = &SMC{Particles: c.particles, Path: Path{Full: &Schedule{}}}
		line := TraceLine{ESS: c.ess, LogWeightVar: uq.Number(c.variance), Ancestors: c.ancestors}
		well := TraceLine{ESS: float64(c.particles), Ancestors: c.particles}
		for n, want := range map[int]bool{0: c.ill, 1: c.ill, 3: false} {
			r.Trace = append([]TraceLine{line, line}, slices.Repeat([]TraceLine{well}, n)...)
			if got := strings.Contains(strings.Join(r.health(), ""), "as an optimiser"); got != want {
				t.Errorf("%+v, then %d iterations that are well: optimiser %v", c, n, got)
			}
		}
	}
}
