package method

import (
	"context"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
)

// Outcome is the result of a method.
type Outcome struct {
	eval.Ensembles
	Trace    []TraceLine // by island, then by iteration, of islands that were not lost
	Courses  []Course    // of the search's restarts; nil without a search
	Findings []finding.Finding
}

func newOutcome() *Outcome { return &Outcome{Ensembles: eval.Ensembles{Cost: new(eval.Cost)}} }

// Do carries a method out: the search for point estimates if there is one, the method's phases, and the ensembles at the end.
// Work that the run's folder holds from an earlier process is not repeated.
func (j *Job) Do(ctx context.Context, m Method) (*Outcome, error) {
	out := newOutcome()
	if err := j.search(ctx, out); err != nil {
		return nil, err
	}
	if out.Courses != nil {
		out.Findings = append(out.Findings, j.stillFalling(m, out.Courses[out.Chosen])...)
	}
	if err := j.freeze(m.Needs().Init); err != nil {
		return nil, err
	}
	if a := j.About.Anchor; j.About.Moved() && !a.Point() && !a.Apart() {
		prior, err := j.About.Apply(j.Prior, j.anchor())
		if err != nil {
			return nil, err
		}
		j.Prior = prior
	}
	phases, err := m.Phases(j)
	if err != nil {
		return nil, err
	}
	for _, phase := range phases {
		if err := j.carryOut(ctx, phase, out.Cost); err != nil {
			return nil, err
		}
	}
	if out.Trace, err = ReadTrace(j.Run.Trace()); err != nil {
		return nil, err
	}
	out.Trace = Remaining(out.Trace)
	out.Chains, out.Precision = m.Sampling().Record(out.Trace), m.Sampling().Precision(out.Trace)
	var found []finding.Finding
	out.Posterior, found, err = m.Gather(j, phases, out.Trace)
	out.Findings = append(out.Findings, found...)
	return out, err
}

// freeze gives the frozen layers their values: those of model.init where the method begins there (init), else of the network that whole
// returns or, if there is none, a draw.
func (j *Job) freeze(init bool) (err error) {
	if j.Net.Parameters() == j.Net.Dim()+j.Net.Learned() {
		return nil
	}
	whole := j.whole()
	if init {
		whole = j.Init
	}
	if whole == nil {
		whole = make([]float64, j.Net.Parameters())
		bnn.Whole(j.Prior, j.Net).Sample(rng.Key{Seed: j.Seed, Purpose: rng.Start, Mutation: 1}.Stream(), whole)
	}
	if j.Net, err = j.Net.Holding(whole); err == nil {
		j.Model = j.Model.With(j.Net)
	}
	return err
}

// carryOut carries out a phase and adds its cost.
func (j *Job) carryOut(ctx context.Context, phase runs.Phase, cost *eval.Cost) error {
	if err := j.Run.Phase(ctx, j.Pool, phase); err != nil {
		return err
	}
	spent := make([]eval.Work, len(phase.Parts))
	for i, part := range phase.Parts {
		spent[i] = part.(worker).spent()
	}
	cost.Add(phase.Name, spent...)
	return nil
}

// search carries out the search for point estimates, which are whole networks: the prior is on θ alone.
func (j *Job) search(ctx context.Context, out *Outcome) error {
	if j.Search == nil {
		return nil
	}
	train, scale := eval.LogScale(j.Data, j.Data.Train), eval.LogScale(j.Data, j.Data.Validate) // added to a mean NLL to get it in the targets' own units
	b, err := newSearch(*j.Search, j.Seed, j.Net.Whole(), bnn.Whole(j.Prior, j.Net), j.Init, j.Data, j.Pool)
	if err != nil {
		return err
	}
	j.descents = b
	restarts := b.restarts()
	if err := b.take(ctx, restarts); err != nil {
		return err
	}
	if err := j.carryOut(ctx, b.phase(restarts, scale, j.Tell), out.Cost); err != nil {
		return err
	}
	if j.Points, err = b.points(ctx, restarts); err != nil {
		return err
	}
	out.Chosen = j.Points.Chosen
	for _, nll := range j.Points.NLL {
		out.NLL = append(out.NLL, nll+scale)
	}
	for k, r := range restarts {
		if !slices.Contains(j.Points.Lost, k) {
			out.Courses = append(out.Courses, r.course(train, scale))
		}
	}
	if n := len(j.Points.Lost); n > 0 {
		out.Findings = append(out.Findings, finding.Of(finding.RestartsLost{Lost: n, Restarts: len(restarts)}))
	}
	out.Restarts, err = j.Points.Ensemble()
	return err
}
