package bnn

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Start draws the networks at which descents begin. Outputs that are scales begin at 0, and so does B of a low-rank update, whatever the
// start (nn.Tensor.Zero).
type Start interface {
	// Draw sets theta, the parameters of tensors in their order, to a draw. prior is theirs.
	Draw(tensors []nn.Tensor, prior mcmc.Prior, s *rng.Stream, theta []float64)
}

// Starts lists the starts of descents by their names in a config.
var Starts = config.Table[Start]{
	{Name: "prior", Part: FromPrior{}},
	{Name: "he", Part: He{}},
}

// UsualStart is He for a network with a normalisation, and FromPrior for others. A normalisation divides by the spread of its input, and a
// draw of the prior would multiply by a γ of either sign: half of the channels would begin turned over, and many near 0.
func UsualStart(layers []nn.Layer) Start {
	if nn.Normalised(layers) {
		return He{}
	}
	return FromPrior{}
}

// FromPrior begins at a draw of the prior.
type FromPrior struct{}

// Draw implements Start.
func (FromPrior) Draw(_ []nn.Tensor, prior mcmc.Prior, s *rng.Stream, theta []float64) {
	prior.Sample(s, theta)
}

// He begins at weights drawn from N(0, 2/fan_in), which keeps the spread of values from layer to layer where ReLU follows (He et al. 2015,
// section 2.2), and the rest as Neutral says.
type He struct{}

// Draw implements Start.
func (He) Draw(tensors []nn.Tensor, _ mcmc.Prior, s *rng.Stream, theta []float64) {
	for _, t := range tensors {
		untrained(t, 2, s, theta[t.Offset:][:t.Size])
	}
}
