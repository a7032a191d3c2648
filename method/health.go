package method

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/smc"
)

// Diagnostics summarise weight degeneracy over all iterations of all islands of a run on a path of batches
// (data-annealing-smc, section 6). Where a line of the trace has several, they are of lines. They leave out the iterations of a
// tempered start, whose steps are chosen so that the weights do not degenerate.
type Diagnostics struct {
	Iterations     int
	SingleAncestor int     // of them, those with one surviving ancestor
	Resampled      int     // of them, those with a resampling
	ESS            float64 // median effective sample size
	LogWeightVar   float64 // median variance of the log-weights, nats²
	particles      int
}

// diagnose returns the diagnostics of a trace of islands on a path, with a given number of particles.
func diagnose(trace []TraceLine, path smc.Path, particles int) Diagnostics {
	d := Diagnostics{particles: particles}
	var ess, variance []float64
	for _, l := range trace {
		if path.Traits().Prepares && l.Progress == 0 {
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
		d.ESS, d.LogWeightVar = numeral.Median(ess), numeral.Median(variance)
	}
	return d
}

// Optimiser reports whether the run behaved as an optimiser: the variance of the log-weights was too large for J particles.
// With Gaussian log-weights the effective share of the particles is about exp(−variance), which is (E w)²/E w² of a
// log-normal w. Above a variance of log J, less than one particle is effective. One or two outliers can raise the variance
// above this bound while the other weights stay even, so the effective sample size must also be below J/2. An effective
// sample size below 2 is too small for any variance, for example where all other particles are dead. For two or three
// particles this bound is lower, because their healthy runs can be below 2.
func (d Diagnostics) Optimiser() bool {
	if d.Iterations == 0 {
		return false
	}
	j := float64(d.particles)
	return d.ESS < min(2, 0.6*j) || d.ESS < j/2 && d.LogWeightVar > math.Log(j)
}

// Merged reports whether in most iterations all particles descended from one initial particle. Resampling merges genealogies
// irreversibly: in a healthy sampler too, ten particles have one ancestor left after about twenty resamplings.
func (d Diagnostics) Merged() bool { return d.Iterations > 0 && 2*d.SingleAncestor > d.Iterations }

// endsAtPosterior reports whether the last target of every island has all training examples at power 1. If not, for example
// after too few iterations of smooth data annealing, the log evidence is not the model's.
func endsAtPosterior(trace []TraceLine, examples int) bool {
	return !slices.ContainsFunc(trace, func(l TraceLine) bool {
		return l.Progress >= 1 && (l.Examples < examples || l.Lambda != 1)
	})
}

// Diagnostics summarises the trace of a sampler on a path of batches. For any other sampler it is the zero value.
func (s *Sampling) Diagnostics(trace []TraceLine) Diagnostics {
	if !s.Path.Traits().Batches {
		return Diagnostics{}
	}
	return diagnose(trace, s.Whole, s.Particles)
}

// withEvidence names the paths that lead to a log evidence: those whose batches are not fresh ones.
func withEvidence() (names []string) {
	for _, row := range smc.Paths {
		if !row.Part.Traits().Evidence.Fresh {
			names = append(names, row.Name)
		}
	}
	return names
}

// evidence reports which evidence the log evidence on a path of batches estimates and whether the estimate can be trusted, or
// all reasons why there is no estimate.
// The target changes from batch to batch, and each weight estimates the ratio of the new target's normaliser to the last
// one's. The product of these ratios is the normaliser of the last target.
func (s *Sampling) evidence(trace []TraceLine, examples int) (none []finding.Finding) {
	if !s.Drawn {
		none = append(none, finding.Of(finding.NoEvidence{Start: s.Start}))
	}
	if s.Move.Traits().Biased() {
		none = append(none, finding.Of(finding.NoWeights{Move: s.Move.String()}))
	} else if s.NoPath != "" {
		none = append(none, finding.Of(finding.NoPathOfTargets{Weight: s.NoPath}))
	}
	if s.Learned {
		none = append(none, finding.Of(finding.NoFixedModel{}))
	}
	facts := s.Path.Traits().Evidence
	if facts.Fresh && none == nil {
		none = append(none, finding.Of(finding.NoEvidenceByFresh{Path: smc.Paths.Name(s.Path), Others: numeral.List(withEvidence())}))
	}
	if none != nil {
		return none
	}
	e := finding.Estimated{Target: finding.PartialTarget, Traced: !s.Comparable}
	switch {
	case facts.Every:
		e.Target = finding.EveryTarget
	case endsAtPosterior(trace, examples):
		e.Target = finding.LastTarget
	}
	switch d := s.Diagnostics(trace); {
	case d.Optimiser():
		return []finding.Finding{finding.Of(finding.EvidenceOptimised{Estimated: e})}
	case s.motion(trace).unmoved():
		return []finding.Finding{finding.Of(finding.EvidenceUnmoved{Estimated: e})}
	case d.Merged():
		return []finding.Finding{finding.Of(finding.EvidenceMerged{Estimated: e})}
	}
	return []finding.Finding{finding.Of(finding.Evidence{Estimated: e})}
}
