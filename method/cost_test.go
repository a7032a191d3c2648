package method

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// TestCost: what a method takes is counted by phase, in examples: 60 to train on, 30 to validate. The numbers are those of the
// loops as the methods state them.
func TestCost(t *testing.T) {
	const n, looks = 60, 30
	search := &Search{Restarts: 2, Rate: 0.03, Batch: 64, Epochs: 4, Start: bnn.FromPrior{}, Keep: KeepBestEpoch, Optimiser: nn.SGD{}, Schedule: nn.Constant{}}
	restarts := eval.PhaseCost{Name: "map", Work: eval.Work{Gradients: 2 * 4 * n, Validation: 2 * 4 * looks}}
	for _, c := range []struct {
		m    Method
		want []eval.PhaseCost
	}{
		{MAP{}, []eval.PhaseCost{restarts}},
		{Ensemble{Members: 2}, []eval.PhaseCost{restarts}},
		{AsIs{}, nil},
		{SWA{Averaging{Members: 2, Rate: 0.01, Warmup: 3, Snapshots: 2}}, []eval.PhaseCost{restarts, {Name: "snapshots", Work: eval.Work{Gradients: 2 * 5 * n, Values: 2 * n}}}},
		{SWAG{Averaging: Averaging{Members: 1, Rate: 0.01, Warmup: 1, Snapshots: 3}, Rank: 2, Scale: 1, Draws: 2}, []eval.PhaseCost{
			restarts, {Name: "snapshots", Work: eval.Work{Gradients: 4 * n, Values: n}}}},
		{MCMC{Chains: 2, Start: "prior", Epochs: 5, Keep: 2, Move: mcmc.SGHMC{Batch: 25, Step: 1e-4, Friction: 0.1}}, []eval.PhaseCost{
			{Name: "chains", Work: eval.Work{Gradients: 2 * 5 * n, Values: 2 * (1 + 5) * n, Validation: 2 * 5 * looks}}}},
		{MCMC{Chains: 3, Start: "prior", Epochs: 9, Keep: 3, Move: mcmc.PCN{Step: 0.1}}, []eval.PhaseCost{
			{Name: "chains", Work: eval.Work{Values: 3 * (1 + 9) * n, Validation: 3 * 9 * looks}}}},
		{MCMC{Chains: 2, Start: "prior", Epochs: 12, Keep: 2, Trace: Trace{Every: 2}, Move: mcmc.HMC{Steps: 3, Step: 0.01}}, []eval.PhaseCost{
			{Name: "chains", Work: eval.Work{Gradients: 2 * (1 + 12) * n, Validation: 2 * 2 * looks}}}},
	} {
		job := newJob(t, 2).provide(c.m)
		if job.Search != nil {
			job.Search = search
		}
		got := do(t, job, c.m).Cost
		var want eval.Cost
		for _, p := range c.want {
			want.Add(p.Name, p.Work)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.m.Title(), diff)
		}
		sum := 0
		for _, p := range got.Phases {
			sum += p.Gradients + p.Values + p.Validation
		}
		if all := got.Gradients + got.Values + got.Validation; all != sum {
			t.Errorf("%s: %d evaluations, the phases have %d", c.m.Title(), all, sum)
		}
	}
	// A given start is scored as well, before the first epoch.
	given := newJob(t, 2).provide(MAP{})
	given.Search, given.Init = search, make([]float64, given.Net.Dim())
	if got, want := do(t, given, MAP{}).Cost.Work, (eval.Work{Gradients: 2 * 4 * n, Values: n, Validation: (2*4 + 1) * looks}); got != want {
		t.Errorf("from a given start: %+v, want %+v", got, want)
	}
	// Without validation examples the restarts are compared on the examples that they learnt from.
	job := newJob(t, 2).provide(MAP{})
	job.Search, job.Data.Validate = search, nil
	if got, want := do(t, job, MAP{}).Cost.Work, (eval.Work{Gradients: 2 * 4 * n, Values: 2 * n}); got != want {
		t.Errorf("without validation examples: %+v, want %+v", got, want)
	}
}
