package starling

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestStandardiseEveryPart: inputs of all parts, foreign groups included, are measured in the means and standard
// deviations of the training examples, which are computed anew here from the inputs as they were.
func TestStandardiseEveryPart(t *testing.T) {
	parts := func(sets ...string) map[string]*data.Set {
		spec := preset(t, "mnist7", sets...)
		p, err := spec.load("", nil)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*data.Set{"train": p.Train, "validate": p.Validate, "test": p.Test}
		for _, g := range p.Groups {
			all[g.Name] = g.Set
		}
		return all
	}
	raw, scaled := parts("data.standardise=none"), parts("data.standardise=inputs")
	n, features := float64(raw["train"].Len()), raw["train"].Features()
	x, y := make([]float64, features), make([]float64, features)
	mean, square := make([]float64, features), make([]float64, features)
	for i := range raw["train"].Len() {
		raw["train"].Row(i, x)
		for f, v := range x {
			mean[f] += v / n
			square[f] += v * v / n
		}
	}
	for name, set := range raw {
		for i := 0; i < set.Len(); i += 97 {
			set.Row(i, x)
			scaled[name].Row(i, y)
			for f, v := range x {
				want := 0.0 // where all training examples are the same
				if sd := math.Sqrt(square[f] - mean[f]*mean[f]); sd > 1e-6 {
					want = (v - mean[f]) / sd
				}
				if !(math.Abs(y[f]-want) <= 1e-4*(1+math.Abs(want))) {
					t.Fatalf("%s: example %d, feature %d is %v, want %v", name, i, f, y[f], want)
				}
			}
		}
	}
}

// TestRunMeasuresOtherSetsAsItsOwn: a set by name meets the standardisation of the run, not one of its own.
func TestRunMeasuresOtherSetsAsItsOwn(t *testing.T) {
	spec := preset(t, "mnist7", "data.standardise=inputs")
	own, err := spec.load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Spec: spec, Schema: own.Schema}
	run.Spec.Data.Set = "another"
	other, err := run.problem(On{Data: "mnist7"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(own.Test.F32, other.Test.F32) {
		t.Error("the same test examples differ")
	}
}
