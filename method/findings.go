package method

import (
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
)

// Thresholds of warnings.
const (
	scattered     = 2.0  // standard deviation of log Z over islands or runs, nats, above which log Z is too uncertain to compare models
	oneNat        = 1.0  // the same for weights by evidence: above it they are noise if they leave less than half of the islands effective
	leastBias     = 0.1  // nats by which the ladder moves log Z that are worth a word, if they are also half its standard error
	unevenWeights = 0.25 // effective share of the networks below which weights are uneven
)

// Findings diagnoses the sampler from the run's trace and the posterior's weights. examples is the number of training
// examples. A run stores the findings, so that pages and terminals need not compute them again.
func (s *Sampling) Findings(trace []TraceLine, posterior *bnn.Ensemble, examples int) (found []finding.Finding) {
	switch {
	case s.Chains():
		found = s.chainFindings(trace)
	case s.Particles > 1:
		found = s.populationFindings(trace, examples)
	}
	found = append(found, s.evidenceFindings(trace, posterior.LogEvidence, examples)...)
	found = append(found, weightFindings(posterior.LogWeights)...)
	switch d := s.divergence(trace); {
	case d.Moves == 0:
	case s.Chains():
		d.Short = s.Move.Traits().Aim > 0 && s.budgetFindings(trace) != nil // a fixed step needs no moves to be found
		found = append(found, finding.Of(d.OfChains()))
	case s.Move.Traits().Invariant():
		found = append(found, finding.Of(d.Refused()))
	default:
		found = append(found, finding.Of(finding.Divergent{Divergence: d}))
	}
	return found
}

// divergence counts divergent moves: none of a chain's warm-up, which looks for its step.
func (s *Sampling) divergence(trace []TraceLine) finding.Divergence {
	moves, of := 0, 0
	for _, lines := range byIsland(trace) {
		if s.Chains() {
			lines = secondHalf(lines)
		}
		for _, l := range lines {
			moves, of = moves+l.Divergent, of+l.Mutations*s.Particles
		}
	}
	return finding.CountDivergence(moves, of, s.Move.Traits().Aim, s.Step)
}

// extent is the range of numbers.
type extent struct{ low, high float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(x float64) { e.low, e.high = min(e.low, x), max(e.high, x) }

// populationFindings reports whether islands of particles sampled or behaved as an optimiser (data-annealing-smc, section 6),
// and how they ended.
func (s *Sampling) populationFindings(trace []TraceLine, examples int) (found []finding.Finding) {
	d := s.Diagnostics(trace)
	population := finding.Population{
		Islands: s.Islands, Particles: s.Particles, Iterations: d.Iterations, Single: d.SingleAncestor, Resampled: d.Resampled,
		ESS: d.ESS, LogWeightVar: d.LogWeightVar,
	}
	if line := s.Line(); line != "iteration" {
		population.Lines = line + "s"
	}
	switch {
	case d.Optimiser():
		found = append(found, finding.Of(finding.Optimiser{Population: population}))
	case d.Merged():
		found = append(found, finding.Of(finding.Merged{Population: population}))
	}
	iterations, acceptance, ancestors := newExtent(), newExtent(), newExtent()
	single := 0
	islands := byIsland(trace)
	for _, lines := range islands {
		l := lines[len(lines)-1]
		iterations.add(float64(s.iterations(l.K, examples)))
		acceptance.add(float64(l.Acceptance))
		ancestors.add(float64(l.Ancestors))
		if l.Ancestors <= 1 {
			single++
		}
		if power := s.Path.Traits().Power(l.Info, examples); power < 1 && !s.Path.Traits().Batches {
			found = append(found, finding.Of(finding.StoppedEarly{Island: l.Island, Temperature: power}))
		}
	}
	if len(islands) == 0 {
		return found
	}
	by := finding.Uncorrected
	switch {
	case math.IsNaN(acceptance.low):
		by = finding.Alone
	case s.Move.Traits().Invariant():
		by = finding.Accepted
	case s.Weighted:
		by = finding.Weighted
	}
	found = append(found, finding.Of(finding.IslandsEnd{
		Fewest: int(iterations.low), Most: int(iterations.high), Least: finding.Known(acceptance.low), Highest: finding.Known(acceptance.high),
		Batches: s.Path.Traits().Batches, Errors: by,
	}))
	switch {
	case d.Optimiser(), d.Merged(), s.Move.Traits().Biased(): // reported already, or never resampled
	case single > 0:
		found = append(found, finding.Of(finding.SingleAncestor{Single: single, Islands: len(islands)}))
	default:
		found = append(found, finding.Of(finding.Ancestors{Fewest: int(ancestors.low), Most: int(ancestors.high), Particles: s.Particles}))
	}
	return append(found, s.motionFindings(trace)...)
}

// evidenceFindings reports which evidence the islands estimate, and its error.
func (s *Sampling) evidenceFindings(trace []TraceLine, logZ []float64, examples int) (found []finding.Finding) {
	if s.Path.Traits().Batches && !s.Chains() && !s.apart {
		found = s.evidence(trace, examples)
	}
	if !s.Comparable || s.Diagnostics(trace).Optimiser() || s.motion(trace).unmoved() {
		return found
	}
	return append(found, s.evidenceOf(trace, logZ)...)
}

// weightFindings reports uneven weights of the kept networks, and networks without weight.
func weightFindings(logWeights []float64) (found []finding.Finding) {
	n := len(logWeights)
	if n == 1 {
		return nil
	}
	squares, dead := 0.0, 0
	for _, l := range logWeights {
		squares += math.Exp(2 * l)
		if math.IsInf(l, -1) {
			dead++
		}
	}
	if effective := 1 / squares; effective < unevenWeights*float64(n) {
		found = append(found, finding.Of(finding.UnevenWeights{Networks: n, Effective: effective}))
	}
	if dead > 0 {
		found = append(found, finding.Of(finding.DeadNetworks{Dead: dead}))
	}
	return found
}
