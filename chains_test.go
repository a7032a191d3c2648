package starling

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChainsOfARun: a run of chains compares them on its validation examples. The finding stands with the others, and is not made again
// where the run is read back. The comparison has the same bits on any number of threads, and it is not made on other data.
func TestChainsOfARun(t *testing.T) {
	spec := trees(t, "map=null", "method={mcmc: {chains: 3, start: prior, epochs: 40, keep: 27, move: {hmc: {steps: 2}}}}")
	first, dir := kept(t, spec)
	c := first.Metrics.Chains
	if c == nil || c.On != "validation" || c.N != first.Data.Validate.Len() || c.Chains != 3 || c.States != 9 || c.Moves != 10 ||
		c.RHatLogLikelihood == nil || c.RHatPredictions == nil || c.RHatPredictions.MedianInterval == nil {
		t.Fatalf("chains of a run: %+v", c)
	}
	chains := func(found []Finding) (n int) {
		for _, f := range found {
			if f.Kind == c.Findings()[0].Kind {
				n++
			}
		}
		return n
	}
	check := func(what string, found, metrics []Finding, again any) {
		t.Helper()
		if chains(found) != 1 || !slices.EqualFunc(found, metrics, func(a, b Finding) bool { return cmp.Equal(a, b) }) {
			t.Errorf("%s: findings %v, in the metrics %v, want one of the chains in each", what, found, metrics)
		}
		if diff := cmp.Diff(any(c), again); diff != "" {
			t.Errorf("%s: the chains differ: %s", what, diff)
		}
	}
	check("fit", first.Findings, first.Metrics.Findings, first.Metrics.Chains)
	back, err := resume(t.Context(), dir, spec, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	check("read back", back.Findings, back.Metrics.Findings, back.Metrics.Chains)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := run.Evaluate(t.Context(), On{}, Options{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	check("evaluated", run.Findings, a.Metrics.Findings, a.Metrics.Chains)
	other, err := run.Evaluate(t.Context(), On{Data: "testdata/trees.csv"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if other.Metrics.Chains != nil || run.Chains == nil {
		t.Errorf("on other data: %+v, and the run has lost its chains: %v", other.Metrics.Chains, run.Chains == nil)
	}
}
