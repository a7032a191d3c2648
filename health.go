package starling

import (
	"fmt"
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
	var ess []float64
	var single, resampled int
	for _, l := range r.Trace {
		ess = append(ess, l.ESS)
		if l.Ancestors == 1 {
			single++
		}
		if l.Resampled {
			resampled++
		}
	}
	slices.Sort(ess)
	median := ess[len(ess)/2]
	if 2*single > len(ess) || median < min(2, 0.6*float64(m.Particles)) { // two particles have less than 2 whatever they do
		notes = append(notes, fmt.Sprintf("the run behaved as an optimiser, not as a sampler of the posterior: median ESS %.1f of %d, one ancestor alive in %d of %d iterations, resampled in %d. "+
			"Log-weights differ by more than %d particles can carry: the ensemble is a best-of-%d selection of noisy descents, and its disagreement says little", median, m.Particles, single, len(ess), resampled, m.Particles, m.Particles))
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
