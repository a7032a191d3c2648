package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// Ensemble is the deep ensemble (Lakshminarayanan, Pritzel, Blundell 2017): every restart of the search, equally weighted. It
// needs no sampling. The posterior of every other method is compared with it.
type Ensemble struct{}

var _ Method = Ensemble{}

// Title names the method.
func (Ensemble) Title() string { return "a deep ensemble of MAP restarts" }

// Complete has nothing to fill in.
func (m Ensemble) Complete(Around) Method { return m }

// CheckWithin wants several restarts, and no anchor.
func (Ensemble) CheckWithin(around Around, at string, f *config.Faults) {
	if around.Search != nil && around.Search.Restarts == 1 {
		f.Conflict([]string{"map.restarts", at}, "one restart is not an ensemble: want at least 2, or method: map")
	}
	f.If(around.Prior.Anchor != nil, "prior.anchor", "is for sampling: method ensemble takes the restarts as they are")
}

// CheckData refuses nothing.
func (Ensemble) CheckData(int, int, string, *config.Faults) {}

// Needs is the search: CheckWithin refuses a single restart.
func (Ensemble) Needs() Needs { return Needs{Search: true, Prior: true} }

// Sampling is nil.
func (Ensemble) Sampling() *Sampling { return nil }

// Memory adds nothing to the search's own.
func (Ensemble) Memory(job *Job) Memory { return Memory{Bytes: job.bytes(0)} }

// Phases is empty: the search has done the work.
func (Ensemble) Phases(*Job) ([]runs.Phase, error) { return nil, nil }

// Gather returns all restarts.
func (Ensemble) Gather(job *Job, _ []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	e, err := job.Points.Ensemble()
	return e, nil, err
}
