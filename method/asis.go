package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// AsIs is a trained network, model.init, as it is: an ensemble of one. It can be evaluated so before anything is sampled. No
// examples are held out; the scores are over all of them.
type AsIs struct{}

var _ Method = AsIs{}

// Title names the method.
func (AsIs) Title() string { return "a trained network as it is" }

// Settle wants a trained network, and refuses settings for sampling.
func (m AsIs) Settle(around Around, f *config.Faults) Method {
	const taken = "is for sampling: method as-is takes the network of model.init as it is"
	f.If(!around.Init, "method", "as-is evaluates a trained network as it is: name the file of its weights, model.init")
	f.If(around.Prior != (bnn.PriorSettings{}), "prior", taken)
	f.If(around.Search != nil, "map", taken)
	return m
}

// Needs is a trained network.
func (AsIs) Needs() Needs {
	return Needs{Init: true, Whole: true, Partly: true, Frozen: true, Single: true}
}

// Sampling is nil.
func (AsIs) Sampling() *Sampling { return nil }

// Memory adds nothing to the network's own.
func (AsIs) Memory(job *Job) Memory { return Memory{Bytes: job.bytes(0)} }

// Phases is empty.
func (AsIs) Phases(*Job) ([]runs.Phase, error) { return nil, nil }

// Gather returns the network.
func (AsIs) Gather(job *Job, _ []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	e, err := job.several(job.Init)
	if found := job.shrunk(finding.Point{}); found != nil {
		return e, found, err
	}
	return e, []finding.Finding{finding.Of(finding.AsIs{})}, err
}
