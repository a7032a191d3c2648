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
	evidence := r.Spec.estimatesEvidence() && m.Weight != "literal"
	worth := func(what string) string {
		if evidence {
			return ", and its log evidence " + what
		}
		return ""
	}
	switch s, j := signsOf(r.Trace), m.Particles; {
	case overloaded(j, s.ess, s.variance):
		notes = append(notes, fmt.Sprintf("the run behaved as an optimiser, not as a sampler of the posterior: "+
			"it kept little more than the best of %d noisy descents; how far its particles disagree says little about what is not known%s. "+
			"Of %d iterations %d had a single ancestor left, and %d resampled; half had an effective sample size of at most %.1f of %d, "+
			"and half a variance of the log-weights of at least %.1f nats², where %d particles carry about %.1f",
			j, worth("is no estimate"), s.iterations, s.single, s.resampled, s.ess, j, s.variance, j, math.Log(float64(j))))
	case s.oneLine():
		notes = append(notes, fmt.Sprintf("all particles descend from one start in %d of %d iterations: resampling, in %d of them, merged "+
			"their lines, though the log-weights differ by no more than %d particles carry (median effective sample size %.1f). "+
			"The particles differ only by the moves since, so the run may doubt too little%s; more particles or islands keep more lines",
			s.single, s.iterations, s.resampled, j, s.ess, worth("rests on one draw of the start")))
	}
	if !r.Spec.estimatesEvidence() {
		notes = append(notes, "no evidence: start "+m.Start+" leaves the weight of the first particles unknown")
	}
	if m.Weight == "literal" {
		notes = append(notes, "weight literal leaves the change of target out: the weights follow no path of targets, and their product is no evidence")
	}
	const traced = "the log evidence, in the trace alone, is that of the last "
	switch {
	case !evidence || r.Spec.weighsByEvidence():
	case endsAtPosterior(r.Trace, r.Data.Train.Len()):
		notes = append(notes, traced+"target, which is the posterior: all examples are in it in full")
	case name == "constant":
		notes = append(notes, traced+"batch, its likelihood scaled to all examples; it is not the model's")
	default:
		notes = append(notes, traced+"target, which has not taken in all examples in full; it is not the model's")
	}
	return notes
}

// Optimised reports whether islands of so many particles, on a path of batches, behaved as an optimiser: the log-weights
// differed by more than the particles can carry. merged reports whether one ancestor was left in most iterations, to which
// few particles may come that are well.
func Optimised(particles int, trace []TraceLine) (optimised, merged bool) {
	if len(trace) == 0 {
		return false, false
	}
	s := signsOf(trace)
	return overloaded(particles, s.ess, s.variance), s.oneLine()
}

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

// oneLine reports whether all particles descended from one of the start in most iterations. Resampling merges lines for
// good: of ten particles a healthy sampler, too, has one line left after some twenty resamplings.
func (s signs) oneLine() bool { return 2*s.single > s.iterations }

// endsAtPosterior reports whether the last target of every island in a trace has taken in all of so many training examples
// in full. If not, as where smooth data annealing was short of iterations, a log evidence is not the model's.
func endsAtPosterior(trace []TraceLine, examples int) bool {
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
