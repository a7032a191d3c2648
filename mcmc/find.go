package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
)

const (
	mostTrials  = 14      // trials of a search
	fewCopies   = 8       // of a quarter of a population's particles, so many are copied at least, if there are as many
	mostCopies  = 32      // and so many at most
	chainCopies = 4       // of chains, which have a budget
	trialLength = 5       // leapfrogs of a trial, at most
	trialShare  = 1. / 16 // of the budget of the chains that the largest search may take
	nearEnough  = 0.1     // distance from the aim at which a search ends; a quarter of the aim, where that is less
)

// copies makes w.trials ready for trials of copies of some particles, drawn by their normalised weights, and returns them. A
// chain's only particle is copied several times.
func (w *Work) copies(p *Population, normalised []float64, now StepContext) Population {
	if w.trials == nil {
		w.trials = new(Work)
	}
	n, key := copiesOf(p.J, now.Left > 0), now.Key
	trial, chosen := p.blank(n), make([]int32, n)
	key.Purpose = rng.Trial
	weights.Systematic(normalised, key.Stream().Float64(), chosen)
	trial.Gather(nil, p, chosen)
	w.trials.Fit(&trial)
	return trial
}

// copiesOf is the number of copies of a population of n particles, or of n chains.
func copiesOf(n int, chains bool) int {
	if n == 1 || chains {
		return chainCopies
	}
	return min(n, max(fewCopies, min(n/4, mostCopies)))
}

// find searches the step whose trajectories are accepted as aimed at. All trials begin at the same places with the same momenta:
// they differ by the step alone. Their acceptance falls as the step grows, except where a larger step leads to places at which
// the target is less curved. The copies are discarded. A chain whose budget is too small for trials begins where the search would.
func (m HMC) find(ctx context.Context, w *Work, t *Target, p *Population, weights []float64, l learner, now StepContext, trials *Trials) error {
	trial := w.copies(p, weights, now)
	copies, length, most := trial.J, trialLength, mostTrials
	if now.Left > 0 {
		share := int(float64(now.Left*p.J)*trialShare) / copies // of each copy
		length = max(1, min(length, share/mostTrials))
		most = min(most, share/length)
	}
	accepted := func(logStep float64) (float64, error) {
		h := rng.Exp(logStep)
		steps := min(length, m.leapfrogs(h, now))
		trial.each(t.Pool, func(i int) { w.trials.drawMomentum(&trial, i, now.Key, rng.Search) })
		if err := w.trials.leapfrog(ctx, t, &trial, &w.trials.Proposal, l.scales, h, steps); err != nil {
			return 0, err
		}
		w.trials.energies(t, &trial)
		trials.Gradients += steps * copies * t.Examples()
		sum := 0.0
		for i := range copies {
			if isFinite(w.trials.kinetic[i]) {
				sum += min(1, rng.Exp(-w.trials.outcome.Energy[i]))
			}
		}
		return sum / float64(copies), nil
	}

	cut := func(logStep float64) bool { return m.cut(rng.Exp(logStep), now) }
	best, err := search(l.tuning[logStep], m.aim(), most, cut, accepted)
	if err == nil {
		if now.Left == 0 {
			best = min(best, m.largest(l))
		}
		l.restart(best)
	}
	return err
}

// search looks for the tuned value at which trials are accepted as aimed at; acceptance falls as the value grows. The value
// doubles or halves until the aim is bracketed, or nearly met; then the bracket is halved. Values are logarithms. A value that is
// small is left for a larger one where it is accepted often enough, however near the aim.
func search(at, aim float64, most int, small func(at float64) bool, accepted func(at float64) (float64, error)) (best float64, err error) {
	low, high := math.Inf(-1), math.Inf(1) // values with more, and with less acceptance than aimed at
	best, distance := at, math.Inf(1)
	for range most {
		a, err := accepted(at)
		if err != nil {
			return 0, err
		}
		switch d := math.Abs(a - aim); {
		case a >= aim && small(at):
			best = at
		case d < distance:
			best, distance = at, d
		}
		if distance <= min(nearEnough, aim/4) {
			return best, nil
		}
		jump := math.Ln2
		if a >= aim {
			low = at
		} else {
			high, jump = at, -math.Ln2
			if a < 0.05 {
				jump *= 2
			}
		}
		if at += jump; !math.IsInf(low, 0) && !math.IsInf(high, 0) {
			at = low + float64((high-low)/2)
		}
	}
	if math.IsInf(low, -1) && !math.IsInf(high, 1) { // nothing was accepted as often: the smallest value of all, from which moves adapt
		best = high
	}
	return best, nil
}
