package starling

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
)

// health says in plain words what the weights of a path of batches tell (data-annealing-smc, section 6): whether the run
// sampled, or behaved as an optimiser, and what its log evidence is of.
func (r *run) health() (notes []string) {
	m := r.Spec.Method.SMC
	if m == nil {
		return nil
	}
	if _, schedule := m.Path.schedule(); schedule == nil {
		return nil
	}
	each, one, all := "", "", ""
	if m.Islands > 1 {
		each, one, all = " on each island", " of an island", fmt.Sprintf(" of %d islands together", m.Islands)
	}
	optimised, merged := r.Spec.Optimised(r.Trace)
	switch s, j := signsOf(r.Trace), m.Particles; {
	case optimised:
		notes = append(notes, fmt.Sprintf("the run behaved as an optimiser, not as a sampler of the posterior: "+
			"it kept little more than the best of %d noisy descents%s; how far its particles disagree says little about what is not known. "+
			"Of %d iterations%s %d had a single ancestor left, and %d resampled; half had an effective sample size of at most %.1f of %d, "+
			"and half a variance of the log-weights of at least %.1f nats², where %d particles carry about %.1f",
			j, each, s.iterations, all, s.single, s.resampled, s.ess, j, s.variance, j, math.Log(float64(j))))
	case merged:
		notes = append(notes, fmt.Sprintf("all particles%s descend from one start in %d of %d iterations%s: resampling, in %d of them, merged "+
			"their lines, though the log-weights differ by no more than %d particles carry (median effective sample size %.1f). "+
			"The particles differ only by the moves since, so the run may doubt too little; more particles or islands keep more lines",
			one, s.single, s.iterations, all, s.resampled, j, s.ess))
	}
	if !r.Spec.estimatesEvidence() {
		notes = append(notes, "no evidence: start "+m.Start+" leaves the weight of the first particles unknown")
	}
	where := " in the trace"
	if r.Spec.weighsByEvidence() {
		where = ""
	}
	if m.Weight == "literal" {
		notes = append(notes, literal)
	} else if about := r.Spec.AboutEvidence(r.Trace, r.Data.Train.Len()); about != "" {
		notes = append(notes, "the log evidence"+where+" "+about)
	}
	return notes
}

const literal = "weight literal leaves the change of target out, so the weights follow no path of targets, and their product is no evidence"

// AboutEvidence says what the log evidence of a run on a path of batches is an estimate of, and whether it can pass for one,
// in words to follow “the log evidence”. They are empty where there is no such path, or no log evidence. The target changes
// from batch to batch, and the weights with it: their product is that of the ratios of each normaliser to the one before,
// which leaves the last target's.
func (s *Spec) AboutEvidence(trace []TraceLine, examples int) string {
	if s.Method.SMC == nil || !s.estimatesEvidence() {
		return ""
	}
	name, schedule := s.Method.SMC.Path.schedule()
	if schedule == nil {
		return ""
	}
	of := "the model's evidence: the last target is the posterior, with all examples in full"
	switch {
	case name == "full":
		of = "the model's evidence: every target is the posterior, with all examples"
	case endsAtPosterior(trace, examples):
	case name == "constant":
		of = "the last batch's evidence, its likelihood scaled to all examples, and not the model's"
	default:
		of = "the evidence of a last target that has not taken in all examples in full, and not the model's"
	}
	switch optimised, merged := s.Optimised(trace); {
	case s.Method.SMC.Weight == "literal":
		return "is none: " + literal
	case optimised:
		return "is no estimate, as the run behaved as an optimiser; of a sampler it would be one of " + of
	case merged:
		return "rests on one draw of the start; it is an estimate of " + of
	}
	return "is an estimate of " + of
}

// Optimised reports whether a run on a path of batches behaved as an optimiser: the log-weights differed by more than the
// particles can carry. merged reports whether one ancestor was left in most iterations, to which few particles may come that
// are well. Of other runs neither is known.
func (s *Spec) Optimised(trace []TraceLine) (optimised, merged bool) {
	m := s.Method.SMC
	if m == nil {
		return false, false
	}
	if _, schedule := m.Path.schedule(); schedule == nil {
		return false, false
	}
	signs := signsOf(trace)
	if signs.iterations == 0 {
		return false, false
	}
	return overloaded(m.Particles, signs.ess, signs.variance), signs.oneLine()
}

// signs are what tells a sampler from an optimiser, over all iterations of all islands. Those of tempering to the first batch
// do not count: each is as long as its weights allow.
type signs struct {
	iterations        int
	single, resampled int     // iterations with a single ancestor, and with a resampling
	ess, variance     float64 // medians of the effective sample size and of the variance of the log-weights
}

func signsOf(trace []TraceLine) (s signs) {
	var ess, variance []float64
	for _, l := range trace {
		if l.Progress == 0 { // tempering
			continue
		}
		s.iterations++
		ess, variance = append(ess, l.ESS), append(variance, float64(l.LogWeightVar))
		if l.Ancestors == 1 {
			s.single++
		}
		if l.Resampled {
			s.resampled++
		}
	}
	if s.iterations > 0 {
		s.ess, s.variance = chart.Median(ess), chart.Median(variance)
	}
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
