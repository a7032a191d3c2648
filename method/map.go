package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// MAP is the best of several descents alone, an ensemble of one (Liang et al., Scalable Bayesian Monte Carlo, Algorithm 1,
// line 1; Search describes the descents). At s = 0 an anchored posterior shrinks to it.
type MAP struct{}

var _ Method = MAP{}

// Title names the method.
func (MAP) Title() string { return "the best MAP alone" }

// Settle refuses a prior that an estimate moves.
func (m MAP) Settle(around Around, f *config.Faults) Method {
	checkUnmoved("map takes the best restart as it is", around, f)
	return m
}

// Needs is the search, with any number of restarts.
func (MAP) Needs() Needs { return Needs{Search: true, Prior: true, Single: true} }

// Sampling is nil.
func (MAP) Sampling() *Sampling { return nil }

// Memory adds nothing to the search's own.
func (MAP) Memory(job *Job) Memory { return Memory{Bytes: job.bytes(0)} }

// Phases is empty: the search has done the work.
func (MAP) Phases(*Job) ([]runs.Phase, error) { return nil, nil }

// Gather returns the best restart.
func (MAP) Gather(job *Job, _ []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	e, err := job.several(job.Points.Best())
	return e, job.shrunk(finding.Point{MAP: true}), err
}
