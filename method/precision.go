package method

import (
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/smc"
)

// Precision is what the last line of each island says of the error of its log evidence; nil if islands estimate none, or if the run is
// older than these figures.
func (s *Sampling) Precision(trace []TraceLine) *eval.Precision {
	if s == nil || !s.Comparable {
		return nil
	}
	p := new(eval.Precision)
	for _, lines := range byIsland(trace) {
		l := lines[len(lines)-1]
		p.SD = append(p.SD, value(l.LogZSD, math.NaN()))
		adapts := 0.0
		if s.Path.Traits().Share > 0 && !s.Pilot { // islands on the temperatures of a pilot choose none
			adapts = math.NaN() // the path has a bias, which may be unknown
		}
		p.Ladder = append(p.Ladder, value(l.LadderBias, adapts))
	}
	return p
}

// value is a number, or what stands for one that is missing.
func value(x *numeral.Number, missing float64) float64 {
	if x == nil {
		return missing
	}
	return float64(*x)
}

// weightsByEvidence judges weights ω_p ∝ Z_p of several islands. The islands explore one posterior, so their log Z differ by noise alone. The
// weights are mostly noise if log Z scatters by more than 2 nats, or by more than 1 and less than half of the islands are effective. They are right
// if log Z scatters by at most 1 nat and at least half of the islands are effective. In between there is no verdict.
func (s *Sampling) weightsByEvidence(c smc.Combined) finding.Kind {
	most := c.Effective >= float64(len(c.Omega))/2
	switch {
	case c.SD > scattered || c.SD > oneNat && !most:
		return finding.EvidenceScatters{
			LogEvidence: c.LogZ, SD: c.SD, Effective: c.Effective, Islands: len(c.Omega), Particles: s.Particles,
			Used: s.Combine != nil && s.Combine.NeedsEvidence(), WasteFree: s.WasteFree == 0 && s.couldWasteFree, Anchored: s.anchored,
		}
	case c.SD <= oneNat && most:
		return finding.EvidenceAgrees{LogEvidence: c.LogZ, SD: c.SD, Islands: len(c.Omega), Effective: finding.Known(c.Effective)}
	}
	return finding.EvidenceAgrees{LogEvidence: c.LogZ, SD: c.SD}
}

// evidenceOf reports the log evidence with its error, and the bias of the ladder where it matters.
func (s *Sampling) evidenceOf(trace []TraceLine, logZ []float64) (found []finding.Finding) {
	c, err := smc.Combine(logZ)
	if err != nil {
		return nil // the evaluation of the run reports the error
	}
	se, ladder := s.Precision(trace).Of(c)
	switch {
	case len(logZ) == 1 && math.IsNaN(se):
		found = append(found, finding.Of(finding.EvidenceOfOne{LogEvidence: c.LogZ}))
	case len(logZ) == 1 && se > scattered:
		found = append(found, finding.Of(finding.EvidenceRough{LogEvidence: c.LogZ, SD: se}))
	case len(logZ) == 1:
		found = append(found, finding.Of(finding.EvidenceWithin{LogEvidence: c.LogZ, SD: se}))
	default:
		found = append(found, finding.Of(s.weightsByEvidence(c)))
	}
	if size := math.Abs(ladder); size >= leastBias && !(size < se/2) {
		found = append(found, finding.Of(finding.LadderBias{By: size, Raises: ladder > 0}))
	}
	return found
}
