package starling

import (
	"fmt"
	"math"
	"slices"
)

// health says in plain words what the weights of a path of batches tell (data-annealing-smc, section 6): whether the run
// sampled, or behaved as an optimiser.
func (r *run) health() (notes []string) {
	m := r.Spec.Method.SMC
	if m == nil {
		return nil
	}
	name, schedule := m.Path.schedule()
	if schedule == nil {
		return nil
	}
	var ess, variance []float64
	var single, resampled int
	for _, l := range r.Trace {
		ess, variance = append(ess, l.ESS), append(variance, float64(l.LogWeightVar))
		if l.Ancestors == 1 {
			single++
		}
		if l.Resampled {
			resampled++
		}
	}
	slices.Sort(ess)
	slices.Sort(variance)
	median, spread := ess[len(ess)/2], variance[len(ess)/2]
	if 2*single > len(ess) || overloaded(m.Particles, median, spread) {
		notes = append(notes, fmt.Sprintf("the run behaved as an optimiser, not as a sampler of the posterior: median ESS %.1f of %d, one ancestor alive in %d of %d iterations, resampled in %d. "+
			"The variance of the log-weights has median %.1f nats², and %d particles carry about %.1f: the ensemble is a best-of-%d selection of noisy descents, and its disagreement says little",
			median, m.Particles, single, len(ess), resampled, spread, m.Particles, math.Log(float64(m.Particles)), m.Particles))
	}
	switch {
	case !r.Spec.estimatesEvidence():
		notes = append(notes, "no evidence: start "+m.Start+" leaves the weight of the first particles unknown")
	case m.Weight == "literal":
		notes = append(notes, "weight literal leaves the change of target out: the weights follow no path of targets, and their product is no evidence")
	case name == "constant":
		notes = append(notes, "the log evidence is that of the last batch, its likelihood scaled to all examples; it is not the model's")
	case slices.ContainsFunc(r.Trace, func(l TraceLine) bool {
		return l.Progress >= 1 && (l.Examples < r.Data.Train.Len() || l.Temperature != 1)
	}):
		notes = append(notes, "the log evidence is that of the last target, which has not taken in all examples in full; it is not the model's")
	}
	return notes
}

// overloaded says whether log-weights of some variance differ by more than so many particles can carry. Of Gaussian
// log-weights ESS/J is about exp(−variance), (E w)²/E w² of a log-normal w: above log J less than one particle is left to
// count. A straggler or two can bring the variance there and leave the others as they are, so the effective sample size must
// be below J/2 too. One below 2 is too little whatever the variance, as where all others are dead; two or three particles
// have less when they are well.
func overloaded(particles int, ess, variance float64) bool {
	j := float64(particles)
	return ess < min(2, 0.6*j) || ess < j/2 && variance > math.Log(j)
}
