package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// Ensemble is the deep ensemble (Lakshminarayanan, Pritzel, Blundell 2017): every restart of the search, equally weighted. It
// needs no sampling. The posterior of every other method is compared with it.
type Ensemble struct {
	Members int `yaml:"members"` // restarts; default map.restarts, or 8
}

var _ Method = Ensemble{}

// Title names the method.
func (m Ensemble) Title() string { return fmt.Sprintf("a deep ensemble of %d MAP restarts", m.Members) }

// Defaults fills in the default without the settings around the method.
func (m *Ensemble) Defaults() { fill(&m.Members, 8) }

// Check wants several members.
func (m Ensemble) Check(f *config.Faults) {
	f.If(m.Members < 1, "members", "want at least 2, have %d", m.Members)
}

// Settle takes the restarts of the search for members. It wants several, and no anchor.
func (m Ensemble) Settle(around Around, f *config.Faults) Method {
	const at = "method.ensemble"
	if m.Members == 1 {
		f.Conflict([]string{"map.restarts", at + ".members"}, "one restart is not an ensemble: want at least 2, or method: map")
	}
	checkMembers(m.Members, around, at, f)
	checkUnmoved("ensemble takes the restarts as they are", around, f)
	if around.Search != nil {
		fill(&m.Members, around.Search.Restarts)
	}
	m.Defaults()
	return m
}

// Needs is a restart for each member.
func (m Ensemble) Needs() Needs { return Needs{Search: true, Prior: true, Restarts: m.Members} }

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
