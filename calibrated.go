package starling

import (
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
)

// calibrated finds calibration examples that train or validate, too, so that the network is better on them than on new ones, or that test:
// then the scores of what is learnt from them are too good. It says the same of foreign inputs that are scored as groups. A network that
// learns nothing from the training examples of p is evaluated on them, unless there is a test part.
func calibrated(p *data.Problem, learns bool) (found []Finding) {
	train, test := p.Train, p.Test
	if !learns {
		if test == nil {
			test = train
		}
		train = nil
	}
	if p.Calibrate != nil && shared(p.Calibrate, train, p.Validate, test) > 0 {
		count := func(part *data.Set) (n int) {
			if part != nil {
				n, _ = p.Calibrate.Among(part)
			}
			return n
		}
		found = append(found, finding.Of(finding.CalibrationSeen{
			Examples: p.Calibrate.Len(), Trains: count(train), Validates: count(p.Validate), Tests: count(test),
		}))
	}
	var scored []*data.Set
	for _, g := range p.Groups {
		scored = append(scored, g.Set)
	}
	inputs := 0
	for _, known := range p.Foreign {
		inputs += shared(known.Set, scored...)
	}
	if inputs > 0 {
		found = append(found, finding.Of(finding.ForeignScored{Inputs: inputs}))
	}
	return found
}

// shared counts the examples of a set that are in other parts, too, some of which may be nil. It is 0 where chance may have made rows of few
// values equal, which is judged by the repeats in the larger of both: few examples tell little of them.
func shared(set *data.Set, parts ...*data.Set) int {
	parts = slices.DeleteFunc(parts, func(part *data.Set) bool { return part == nil })
	n, repeated := set.Among(parts...)
	there, others := 0, 0 // of the parts' examples, those in the set; and all
	for _, part := range parts {
		others += part.Len()
	}
	if others >= set.Len() {
		if byChance(n, set.Len(), repeated, others) {
			return 0
		}
		return n
	}
	for _, part := range parts {
		k, again := part.Among(set)
		there, repeated = there+k, again
	}
	if byChance(there, others, repeated, set.Len()) {
		return 0
	}
	return n
}

// taught finds that what an assessment scores is what the run's decision was learnt from, since it was calibrated after the fit. said are the
// run's findings, which have it where the decision was learnt in the fit.
func taught(d *eval.Decision, said []Finding, a *eval.Assessment) (found []Finding) {
	if d == nil || d.Learnt == nil {
		return nil
	}
	sums := map[string]bool{}
	for part, sum := range d.From {
		if data.ToCalibrate(part) {
			sums[sum] = true
		}
	}
	if n := a.Set().Len(); sums[a.Set().Checksum()] && !finding.Has(said, finding.CalibrationSeen{}) {
		found = append(found, finding.Of(finding.CalibrationSeen{Examples: n, Tests: n}))
	}
	inputs := 0
	for _, g := range a.Problem.Groups {
		if sums[g.Set.Checksum()] {
			inputs += g.Set.Len()
		}
	}
	if inputs > 0 && !finding.Has(said, finding.ForeignScored{}) {
		found = append(found, finding.Of(finding.ForeignScored{Inputs: inputs}))
	}
	return found
}
