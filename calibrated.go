package starling

import (
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
)

// calibrated finds calibration examples that train or validate, too, so that the network is better on them than on new ones, or that test:
// then the scores of what is learnt from them are too good. It says the same of foreign inputs that are scored as groups. Rows that chance
// makes equal do not count (among). A network that learns nothing from the training examples of p is evaluated on them, unless there is a
// test part.
func calibrated(p *data.Problem, learns bool) (found []Finding) {
	train, test := p.Train, p.Test
	if !learns {
		if test == nil {
			test = train
		}
		train = nil
	}
	count := func(part *data.Set) int {
		if part == nil {
			return 0
		}
		return among(p.Calibrate, part)
	}
	if p.Calibrate != nil {
		trains, validates, tests := count(train), count(p.Validate), count(test)
		if trains+validates+tests > 0 {
			found = append(found, finding.Of(finding.CalibrationSeen{Examples: p.Calibrate.Len(), Trains: trains, Validates: validates, Tests: tests}))
		}
	}
	inputs := 0
	for _, known := range p.Foreign {
		most := 0
		for _, scored := range p.Groups {
			most = max(most, among(known.Set, scored.Set))
		}
		inputs += most
	}
	if inputs > 0 {
		found = append(found, finding.Of(finding.ForeignScored{Inputs: inputs}))
	}
	return found
}
