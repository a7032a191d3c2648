package smc

import (
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// pathCase is what tests know of a row of Paths: one entry here, and a new path is in the tests of bits, membership, caches,
// configs and answers.
type pathCase struct {
	path   func(iterations int) Path // with batches of 7 of 41 examples, and blocks of 5
	title  string
	config string     // with every default, and with settings that have none
	traits PathTraits // of a path of at least 10 iterations, but for the caption
}

var pathCases = map[string]pathCase{
	"tempering": {
		func(int) Path { return Tempering{ESS: 0.7} }, "tempered SMC", "{tempering: {ess: 0.5}}",
		PathTraits{Gradual: true, Share: 0.7, Resampling: Always{}, Mutations: mcmc.UntilTravelled},
	},
	"ladder": {
		func(int) Path { return Ladder{[]float64{0.02, 0.1, 0.4, 1}} }, "SMC on a ladder of 4 temperatures", "{ladder: [0.01, 0.1, 1]}",
		PathTraits{Gradual: true, Mutations: mcmc.UntilTravelled},
	},
	"constant": {
		func(k int) Path { return Schedule[Constant]{Iterations: k, Rule: Constant{7}} }, "SMC on constant batches", "{constant: {iterations: 200, batch: 500}}",
		PathTraits{Batches: true, Evidence: Evidence{Unsure: throughFresh, Batch: 7, Scaled: true, Fresh: true}},
	},
	"full": {
		func(k int) Path { return Schedule[Full]{Iterations: k, Rule: Full{}} }, "SMC on full batches", "{full: {iterations: 200}}",
		PathTraits{Batches: true, Evidence: Evidence{Every: true, Scaled: true}},
	},
	"ctr": {
		func(k int) Path { return Schedule[ConstantToRefine]{Iterations: k, Rule: ConstantToRefine{7}} }, "data annealing (constant to refine)", "{ctr: {iterations: 200, batch: 500}}",
		PathTraits{Batches: true, Evidence: Evidence{Unsure: throughFresh, Scaled: true, Fresh: true}},
	},
	"linear": {
		func(k int) Path { return Schedule[Linear]{Iterations: k, Rule: Linear{7, 5}} }, "data annealing (linear)", "{linear: {iterations: 200, batch: 500, grow: 500}}",
		PathTraits{Batches: true, Evidence: Evidence{Scaled: true}},
	},
	"automated": {
		func(k int) Path { return Schedule[Automated]{Iterations: k, Rule: Automated{7, 5}} }, "data annealing (automated)", "{automated: {iterations: 200, batch: 500, grow: 500}}",
		PathTraits{Batches: true, Evidence: Evidence{Scaled: true}},
	},
	"sda": {
		func(k int) Path { return SDA{Iterations: k, Batch: 7, Grow: 5} }, "smooth data annealing", "{sda: {iterations: 200, batch: 500, grow: 500, first: 0.1, entropy: 1}}",
		PathTraits{Gradual: true, Batches: true, AnnealsIn: true, Evidence: Evidence{Unsure: "may end before all examples are annealed in"}},
	},
}

// caseOf returns what tests know of a row; it is an error if they know nothing.
func caseOf(t *testing.T, name string) (c pathCase, ok bool) {
	t.Helper()
	if c, ok = pathCases[name]; !ok {
		t.Errorf("the path %s has no case", name)
	}
	return c, ok
}
