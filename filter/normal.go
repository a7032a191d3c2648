package filter

import (
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/ssm"
)

// normal is what the methods have in common whose states are one normal law.
type normal struct{}

// Samples implements Method.
func (normal) Samples() bool { return false }

// Evidence implements Method.
func (normal) Evidence() bool { return true }

// Findings implements Method.
func (normal) Findings() []finding.Finding { return nil }

// Sampler implements Method: there is none.
func (normal) Sampler() finding.Sampler { return finding.Sampler{} }

// Filters implements Method.
func (normal) Filters() int { return 1 }

// Numbers implements Method.
func (normal) Numbers() int { return 1 }

// normalSteps reports whether a model's transitions are x ~ N(A x, Q). Of one that has no transition of its interval the first scan finds it out.
func normalSteps(m ssm.Model) bool {
	tr, err := m.Transition(ssm.Interval(m))
	_, ok := tr.(ssm.Gaussian)
	return ok || err != nil
}
