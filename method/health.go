package method

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
)

// Diagnostics summarise weight degeneracy over all iterations of all islands of a run on a path of batches
// (data-annealing-smc, section 6). Iterations of a tempered start do not count: each is as long as its weights allow.
type Diagnostics struct {
	Iterations     int
	SingleAncestor int     // of them, those with one surviving ancestor
	Resampled      int     // of them, those with a resampling
	ESS            float64 // median effective sample size
	LogWeightVar   float64 // median variance of the log-weights, nats²
	particles      int
}

// diagnose returns the diagnostics of a trace of islands of so many particles.
func diagnose(trace []TraceLine, particles int) Diagnostics {
	d := Diagnostics{particles: particles}
	var ess, variance []float64
	for _, l := range trace {
		if l.Progress == 0 { // a tempered start
			continue
		}
		d.Iterations++
		ess, variance = append(ess, l.ESS), append(variance, float64(l.LogWeightVar))
		if l.Ancestors == 1 {
			d.SingleAncestor++
		}
		if l.Resampled {
			d.Resampled++
		}
	}
	if d.Iterations > 0 {
		d.ESS, d.LogWeightVar = chart.Median(ess), chart.Median(variance)
	}
	return d
}

// Optimiser reports whether the run behaved as an optimiser: the log-weights differed by more than the particles can carry. The
// share of Gaussian log-weights that is effective is about exp(−variance), (E w)²/E w² of a log-normal w: above log J less than
// one particle is left to count. One or two stragglers can raise the variance so far and leave the other weights even, so
// the effective sample size must be below J/2 too. An effective sample size below 2 is too small whatever the variance, as where
// all other particles are dead; for two or three particles the bound is lower, since healthy runs of theirs have less.
func (d Diagnostics) Optimiser() bool {
	if d.Iterations == 0 {
		return false
	}
	j := float64(d.particles)
	return d.ESS < min(2, 0.6*j) || d.ESS < j/2 && d.LogWeightVar > math.Log(j)
}

// Merged reports whether all particles descended from one of the start in most iterations. Resampling merges genealogies for
// good: ten particles of a healthy sampler have one ancestor left, too, after some twenty resamplings.
func (d Diagnostics) Merged() bool { return d.Iterations > 0 && 2*d.SingleAncestor > d.Iterations }

// endsAtPosterior reports whether the last target of every island in a trace has taken in all of so many training examples in
// full. If not, as where smooth data annealing was short of iterations, a log evidence is not the model's.
func endsAtPosterior(trace []TraceLine, examples int) bool {
	return !slices.ContainsFunc(trace, func(l TraceLine) bool {
		return l.Progress >= 1 && (l.Examples < examples || l.Lambda != 1)
	})
}

// Diagnostics summarises a trace of a sampler on a path of batches; of any other it is the zero value.
func (s *Sampling) Diagnostics(trace []TraceLine) Diagnostics {
	if !s.Path.Batches() {
		return Diagnostics{}
	}
	return diagnose(trace, s.Particles)
}

// evidence says what the log evidence on a path of batches is an estimate of, and whether it can pass for one, or gives all
// reasons why there is none. The target changes from batch to batch, and the weights with it: their product is the product of the
// ratios of each normaliser to the one before, which leaves the normaliser of the last target.
func (s *Sampling) evidence(trace []TraceLine, examples int) (none []finding.Finding) {
	if !s.Evidence {
		none = append(none, finding.NoEvidence(s.Start))
	}
	if s.Literal {
		none = append(none, finding.LiteralWeights())
	}
	if none != nil {
		return none
	}
	target, facts := finding.PartialTarget, s.Path.Evidence()
	switch {
	case facts.Every:
		target = finding.EveryTarget
	case endsAtPosterior(trace, examples):
		target = finding.LastTarget
	case facts.Batch > 0:
		target = finding.LastBatch
	}
	trust := finding.Estimate
	switch d := s.Diagnostics(trace); {
	case d.Optimiser():
		trust = finding.NoTrust
	case d.Merged():
		trust = finding.OneDraw
	}
	return []finding.Finding{finding.Evidence(target, trust, !s.Comparable)}
}
