package starling

import (
	"fmt"
	"math"
	"slices"
)

// health says in plain words what the weights of a path of batches tell (data-annealing-smc, section 6): whether the run
// sampled, or behaved as an optimiser, and what its log evidence is of.
func (r *run) health() (notes []string) {
	m := r.Spec.Method.SMC
	if m == nil {
		return nil
	}
	name, schedule := m.Path.schedule()
	if schedule == nil {
		return nil
	}
	if s, j := signsOf(r.Trace), m.Particles; s.optimiser(j) {
		notes = append(notes, fmt.Sprintf("the run behaved as an optimiser, not as a sampler of the posterior: "+
			"it kept little more than the best of %d noisy descents, and how far its particles disagree says little about what is not known. "+
			"Of %d iterations %d had a single ancestor left, and %d resampled; half had an effective sample size of at most %.1f of %d, "+
			"and half a variance of the log-weights of at least %.1f nats², where %d particles carry about %.1f",
			j, s.iterations, s.single, s.resampled, s.ess, j, s.variance, j, math.Log(float64(j))))
	}
	switch {
	case !r.Spec.estimatesEvidence():
		notes = append(notes, "no evidence: start "+m.Start+" leaves the weight of the first particles unknown")
	case m.Weight == "literal":
		notes = append(notes, "weight literal leaves the change of target out: the weights follow no path of targets, and their product is no evidence")
	case name == "constant":
		notes = append(notes, "the log evidence is that of the last batch, its likelihood scaled to all examples; it is not the model's")
	case !EndsAtPosterior(r.Trace, r.Data.Train.Len()):
		notes = append(notes, "the log evidence is that of the last target, which has not taken in all examples in full; it is not the model's")
	}
	return notes
}

// Optimised reports whether islands of so many particles, on a path of batches, behaved as an optimiser: in most iterations
// one ancestor was left, or the log-weights differed by more than the particles can carry.
func Optimised(particles int, trace []TraceLine) bool { return signsOf(trace).optimiser(particles) }

// signs are what tells a sampler from an optimiser, over all iterations of all islands.
type signs struct {
	iterations        int
	single, resampled int     // iterations with a single ancestor, and with a resampling
	ess, variance     float64 // medians of the effective sample size and of the variance of the log-weights
}

func signsOf(trace []TraceLine) (s signs) {
	s.iterations = len(trace)
	var ess, variance []float64
	for _, l := range trace {
		ess, variance = append(ess, l.ESS), append(variance, float64(l.LogWeightVar))
		if l.Ancestors == 1 {
			s.single++
		}
		if l.Resampled {
			s.resampled++
		}
	}
	slices.Sort(ess)
	slices.Sort(variance)
	s.ess, s.variance = ess[len(ess)/2], variance[len(ess)/2]
	return s
}

func (s signs) optimiser(particles int) bool {
	return 2*s.single > s.iterations || overloaded(particles, s.ess, s.variance)
}

// EndsAtPosterior reports whether the last target of every island in a trace has taken in all of so many training examples
// in full. If not, as where smooth data annealing was short of iterations, a log evidence is not the model's.
func EndsAtPosterior(trace []TraceLine, examples int) bool {
	return !slices.ContainsFunc(trace, func(l TraceLine) bool {
		return l.Progress >= 1 && (l.Examples < examples || l.Temperature != 1)
	})
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
