package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// Dropout is Monte Carlo dropout (Gal & Ghahramani 2016; scalable-bayesian-monte-carlo, section 3.5): the best restart of a network
// with dropout layers (nn.Dropout) predicts with dropout, several times. The ensemble has a network for each of these passes,
// equally weighted.
//
// A pass has one mask for all examples, so that it is a network like any other (nn.Net.Pass). With a mask for each example, as
// in other programs, the predictions of one example have the same distribution: its mean and its entropies are the same in
// expectation. Only the errors of several examples depend on each other here, since they have their masks in common. So
// scores over many examples scatter more from seed to seed than with masks of their own, and more passes narrow that.
type Dropout struct {
	Passes int `yaml:"passes"` // masks, each of which makes a network; default 10
}

var _ Method = Dropout{}

// Title names the method.
func (m Dropout) Title() string {
	return "Monte Carlo dropout of the best MAP, " + numeral.Several(m.Passes, "mask")
}

// Defaults fills in the default.
func (m *Dropout) Defaults() { fill(&m.Passes, 10) }

// Check wants a pass at least.
func (m Dropout) Check(f *config.Faults) { f.Within("passes", m.Passes, 1, nn.MaxPasses) }

// Settle refuses a prior that an estimate moves.
func (m Dropout) Settle(around Around, f *config.Faults) Method {
	checkUnmoved("dropout takes the best restart as it is", around, f)
	m.Defaults()
	return m
}

// Needs is the search, with any number of restarts, and dropout layers.
func (Dropout) Needs() Needs { return Needs{Search: true, Prior: true, Dropout: true} }

// Sampling is nil.
func (Dropout) Sampling() *Sampling { return nil }

// Memory estimates the memory of the networks of the passes, as an ensemble and its file.
func (m Dropout) Memory(job *Job) Memory {
	bytes := func(passes int) int64 {
		return sum(job.bytes(0), product(8+4+4, int64(job.Net.Dim()), int64(passes)))
	}
	return Memory{Bytes: bytes(m.Passes), Scales: []Scale{{
		Field: "method.dropout.passes", Now: m.Passes, Bytes: bytes, Fits: func(n int) string { return fmt.Sprintf("%d passes would fit", n) },
	}}}
}

// Phases is empty: the search has done the work.
func (Dropout) Phases(*Job) ([]runs.Phase, error) { return nil, nil }

// Gather returns the best restart, with the mask of each pass.
func (m Dropout) Gather(job *Job, _ []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	best := job.Points.Best()
	all := make([]float64, 0, m.Passes*len(best))
	for pass := range m.Passes {
		all = append(all, best...)
		job.Net.Pass(all[pass*len(best):], job.Seed, pass)
	}
	e, err := job.several(all)
	return e, nil, err
}
