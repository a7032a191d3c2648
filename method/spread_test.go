package method

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// swagOn is SWAG on a linear network, whose log-posterior is a parabola, and the mean of δᵀΛδ/D over the draws mean + δ by which the run
// judges itself.
func swagOn(t *testing.T, c *conjugate, rate float64) (spread, want float64, found []finding.Finding) {
	t.Helper()
	m := SWAG{Averaging: Averaging{Rate: rate}, Draws: 15}.Settle(Around{}, unheard()).(SWAG)
	c.job.Search = &Search{Restarts: 1}
	c.job.Search.Complete(0, true, nil)
	if err := c.job.search(t.Context(), newOutcome()); err != nil {
		t.Fatal(err)
	}
	phases, err := m.Phases(c.job)
	if err != nil {
		t.Fatal(err)
	}
	a := phases[0].Parts[0].(*average)
	for !a.Done() {
		if _, err := a.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e, found, err := m.Gather(c.job, phases, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := len(c.mean)
	for k := range judgedDraws {
		from := make([]float64, d)
		for i := range from {
			from[i] = float64(e.Theta[k*d+i]) - a.Mean[i]
		}
		want += c.form(from) / float64(d*judgedDraws)
	}
	return a.Spread, want, found
}

// The spread that a run measures is that of its draws in units of the exact posterior's, to what float32 leaves. By default the draws are
// far too narrow, and the run warns; at a rate that suits the examples it does not; at a higher one they are too wide.
func TestSWAGMeasuresItsSpread(t *testing.T) {
	for _, c := range []struct {
		examples, features int
		rate               float64
		kind               string
	}{{20, 5, 0, "swag-narrow"}, {20, 20, 0, "swag-narrow"}, {1000, 5, 0, "swag-narrow"}, {1000, 5, 0.01, "swag-spread"}, {1000, 5, 0.04, "swag-wide"}} {
		spread, want, found := swagOn(t, newConjugate(t, 8, c.examples, c.features), c.rate)
		if !(math.Abs(spread-want) <= 0.01*want+5e-6) || !slices.Equal(kinds(found), []string{c.kind}) {
			t.Errorf("%+v: spread %v, exact %v; finds %s", c, spread, want, words(found))
		}
		if width := float64(found[0].Numbers["width"]); !(math.Abs(width-math.Sqrt(spread)) <= 1e-12) {
			t.Errorf("%+v: a width of %v for a spread of %v", c, width, spread)
		}
	}
}
