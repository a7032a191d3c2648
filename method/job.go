package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Job holds the inputs and the machinery of a method.
type Job struct {
	Seed   uint64
	Data   *data.Problem
	Net    *nn.Net
	Model  nn.Training       // the network on the training examples, and never on others
	Prior  mcmc.Prior        // of the network's parameters; nil where none is needed
	About  bnn.PriorSettings // the settings of Prior: the estimate that it is moved to, if there is one
	Init   []float64         // the trained network, model.init, whole (nn.Net.Split); nil: none
	Search *Search           // for point estimates; nil: none
	Points *Points           // the search's result; nil: there was none
	Pool   *pool.Pool        // the threads
	Run    *runs.Run         // saves the parts
	Files  bool              // there will be a Run in a folder, to which parts may move what they keep
	Tell   func(Status)      // called with progress; nil: nobody is told

	descents *search // Search, bound to network and data
}

// several makes an equally weighted ensemble of whole networks, one or more.
func (j *Job) several(whole []float64) (*bnn.Ensemble, error) {
	theta, psi := j.divide(whole)
	return bnn.Combine(j.Net, []bnn.Island{{Theta: theta, Shared: psi}}, bnn.Equal{})
}

// shrunk returns the finding for an anchored posterior with s = 0, which is its anchor alone.
func (j *Job) shrunk(p finding.Point) []finding.Finding {
	if j.About.Anchor.Point() {
		return []finding.Finding{finding.Of(p)}
	}
	return nil
}
