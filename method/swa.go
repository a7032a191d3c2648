package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
)

// pathOfSWA is the path of the method in a config.
const pathOfSWA = "method.swa"

// SWA is stochastic weight averaging (Izmailov, Podoprikhin, Garipov, Vetrov, Wilson 2018; scalable-bayesian-monte-carlo,
// section 3.5): SGD at a constant rate goes on from a MAP restart, and the mean of its snapshots is one network. Several members
// are an ensemble of such means, equally weighted.
type SWA struct {
	Averaging `yaml:",inline"`
}

var _ Method = SWA{}

// Title names the method.
func (m SWA) Title() string {
	if m.Members == 1 {
		return fmt.Sprintf("stochastic weight averaging over %s", numeral.Several(m.Snapshots, "epoch"))
	}
	return fmt.Sprintf("%d networks by stochastic weight averaging over %s each", m.Members, numeral.Several(m.Snapshots, "epoch"))
}

// Defaults fills in defaults.
func (m *SWA) Defaults() { m.complete() }

// Check refuses settings that are wrong for any averaging.
func (m SWA) Check(f *config.Faults) { m.check(f) }

// Settle refuses a prior that an estimate moves, and another number of restarts than of members.
func (m SWA) Settle(around Around, f *config.Faults) Method {
	m.checkWithin(around, pathOfSWA, f)
	m.Defaults()
	return m
}

// Needs is a restart for each member.
func (m SWA) Needs() Needs {
	n := m.needs()
	n.Single = n.Restarts == 0
	return n
}

// Sampling is nil.
func (SWA) Sampling() *Sampling { return nil }

// Memory estimates the memory of the trajectories.
func (m SWA) Memory(job *Job) Memory { return m.memory(job, pathOfSWA, 0, 1) }

// Phases is the trajectories.
func (m SWA) Phases(job *Job) ([]runs.Phase, error) { return []runs.Phase{m.phase(job, 0)}, nil }

// Gather returns the mean of each trajectory.
func (m SWA) Gather(job *Job, phases []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	var means []float64
	for _, part := range phases[0].Parts {
		means = append(means, part.(*average).Mean...)
	}
	e, err := job.several(means)
	return e, nil, err
}
