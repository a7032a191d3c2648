package method

import (
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Job holds the inputs and the machinery of a method.
type Job struct {
	Seed   uint64
	Data   *data.Problem
	Net    *nn.Net
	Model  nn.Training  // the network on the training examples, and never on others
	Prior  mcmc.Prior   // of the network's parameters; nil where none is needed
	Anchor *bnn.Anchor  // of the prior; nil: none
	Init   []float64    // the trained network, model.init, whole (nn.Net.Split); nil: none
	Search *Search      // for point estimates; nil: none
	Points *Points      // the search's result; nil: there was none
	Pool   *pool.Pool   // the threads
	Run    *runs.Run    // saves the parts
	Files  bool         // there will be a Run in a folder, to which parts may move what they keep
	Tell   func(Status) // called with progress; nil: nobody is told

	descents *search // Search, bound to network and data
}

// whole returns the network that a posterior may be anchored at: the best restart or, without a search, model.init; nil if there
// is neither.
func (j *Job) whole() []float64 {
	if j.Points != nil {
		return j.Points.Best()
	}
	return j.Init
}

// anchor returns the mean of the anchored prior, θ of whole.
func (j *Job) anchor() []float64 { return j.split(j.whole()) }

// split returns θ of whole networks, one or more.
func (j *Job) split(whole []float64) (theta []float64) {
	theta, _ = j.divide(whole)
	return theta
}

// divide returns θ and φ of whole networks, one or more; no φ where every parameter is random.
func (j *Job) divide(whole []float64) (theta, phi []float64) {
	if !j.Net.Partly() {
		return whole, nil
	}
	for one := range slices.Chunk(whole, j.Net.Parameters()) {
		random, shared := j.Net.Split(one)
		theta, phi = append(theta, random...), append(phi, shared...)
	}
	return theta, phi
}

// shared returns φ of an island whose particles begin at draws of the prior: of the network that whole returns or, if there is none,
// a draw; nil where every parameter is random.
func (j *Job) shared(island int) []float64 {
	if !j.Net.Partly() {
		return nil
	}
	if _, phi := j.divide(j.whole()); phi != nil {
		return phi
	}
	return bnn.DrawShared(j.Net, rng.Key{Seed: j.Seed, Purpose: rng.Start, Island: island, Mutation: 1}.Stream()) // 0 are those of restarts
}

// several makes an equally weighted ensemble of whole networks, one or more.
func (j *Job) several(whole []float64) (*bnn.Ensemble, error) {
	theta, phi := j.divide(whole)
	return bnn.Combine(j.Net, []bnn.Island{{Theta: theta, Shared: phi}}, bnn.Equal{})
}

// shrunk returns the finding for an anchored posterior with s = 0, which is its anchor alone.
func (j *Job) shrunk(p finding.Point) []finding.Finding {
	if j.Anchor.Point() {
		return []finding.Finding{finding.Of(p)}
	}
	return nil
}
