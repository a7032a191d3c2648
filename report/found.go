package report

import (
	"slices"

	"github.com/starling-smc/starling/internal/finding"
)

// find lists the findings of the run and of its predictions.
func (v *view) find() {
	v.found = append(slices.Clone(v.run.Findings), v.a.Findings(&v.run.Ensembles, v.given())...)
}

// has reports whether the run has a finding of one of some kinds.
func (v *view) has(kinds ...finding.Kind) bool { return finding.Has(v.found, kinds...) }

// unmoved are the kinds that say that islands did not move.
var unmoved = []finding.Kind{finding.IslandsStuck{}, finding.IslandsStill{}, finding.MovesStuck{}, finding.SamplingFailed{}}
