package method

import (
	"context"
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/smc"
)

// surely is the number of standard errors of the start by which the end of an island that exploded is worse. The end has no part in it:
// there a few particles are far worse than others, and the standard error is as large as the mean.
const surely = 3.0

// exploded reports trajectories that ran away, but stayed finite: the particles of an island ended with a mean NLL of the training
// examples that is above that of a guess which does not look at the inputs, and surely above that of the island's start. A limit of the
// energy error would not tell: mini-batches make it large in healthy runs, too. A start that is worse than the guess, as draws of a wide
// prior are, and an end that is no worse than the start say that the run was too short, and not that it exploded. A trained network whose
// NLL rises, but stays below the guess, unlearns as it should. The start is evaluated again, only where an end is worse than the guess.
// Moves with accept/reject cannot explode, and moves without a trajectory have no step that is too long for the target.
func (m SMC) exploded(job *Job, islands []*island, trace []TraceLine) ([]finding.Finding, error) {
	travels := m.Move.Traits().Needs.Gradient || len(trace) > 0 && trace[0].Leapfrogs > 0
	if m.Move.Traits().Invariant() || !travels {
		return nil, nil
	}
	scale, n := eval.LogScale(job.Data, job.Data.Train), 0
	guess := scale + job.Net.Likelihood().Guess(job.Data.Train)
	var end, start float64 // of the worst island
	for _, p := range islands {
		now, _ := meanNLL(p.state)
		if now += scale; p.state.Rows != (smc.Rows{}) || !(now > guess) {
			continue
		}
		first, err := p.sampler.Init(context.Background()) // one evaluation, as in a step that is completed although the run is to stop
		if err != nil {
			return nil, err
		}
		p.sampler.Release()
		then, se := meanNLL(first)
		if then += scale; now-then > surely*se {
			if n++; now > end || n == 1 {
				end, start = now, then
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	return []finding.Finding{finding.Of(finding.Exploded{
		Exploded: n, Islands: len(islands), End: end, Start: start, Guess: guess, Step: m.Sampling().Step,
	})}, nil
}

// meanNLL is the mean NLL of all training examples, of a single network: the mean over the particles by their weights W, which are
// normalised, and its standard error, √Σ W²(NLL − mean)².
func meanNLL(st *smc.State) (mean, se float64) {
	each := func(add func(w, nll float64)) {
		for j, l := range st.LL {
			if w := rng.Exp(st.LogW[j]); w > 0 {
				add(w, -l/float64(st.Examples))
			}
		}
	}
	each(func(w, nll float64) { mean += float64(w * nll) })
	each(func(w, nll float64) { se += float64(float64(w*(nll-mean)) * float64(w*(nll-mean))) })
	return mean, math.Sqrt(se)
}
