package bnn

import (
	"math"

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

	// Untrained reports whether the draw is one of a network that nobody has trained, whatever the prior; else it is the prior's.
	Untrained() bool
}

// Starts lists the starts of descents by their names in a config. Those that are Untrained are starts of islands, too.
var Starts = config.Table[Start]{
	{Name: "prior", Part: FromPrior{}},
	{Name: "he", Part: He{}},
	{Name: "jax", Part: JAX{}},
	{Name: "torch", Part: Torch{}},
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

// Untrained is false.
func (FromPrior) Untrained() bool { return false }

// He begins at weights drawn from N(0, 2/fan_in), which keeps the spread of values from layer to layer where ReLU follows (He et al. 2015,
// section 2.2), and the rest as Neutral says.
type He struct{}

// Draw implements Start.
func (He) Draw(tensors []nn.Tensor, _ mcmc.Prior, s *rng.Stream, theta []float64) {
	for _, t := range tensors {
		untrained(t, 2, s, theta[t.Offset:][:t.Size])
	}
}

// Untrained is true.
func (He) Untrained() bool { return true }

// JAX begins at weights drawn from a normal distribution that is cut at ±2 standard deviations and widened until its variance is 1/fan_in, as
// jax.nn.initializers.lecun_normal draws them, which is the default of flax (linen.Dense and linen.Conv). Biases are 0, and the rest is as
// Neutral says. Vectors of an embedding are drawn from N(0, 1/width), as linen.Embed's. (haiku's Linear cuts in the same place and does not
// widen: its variance is .774/fan_in.)
type JAX struct{}

// cutSD is the standard deviation of a standard normal number that is known to lie between −2 and 2: √(1 − 4 φ(2)/(2 Φ(2) − 1)).
const cutSD = 0.87962566103423978

// Draw implements Start.
func (JAX) Draw(tensors []nn.Tensor, _ mcmc.Prior, s *rng.Stream, theta []float64) {
	for _, t := range tensors {
		values := theta[t.Offset:][:t.Size]
		switch {
		case t.Embeds():
			normals(s, values, 1/math.Sqrt(float64(t.Shape[1])))
		case t.Kind.Weighs():
			sd := 1 / math.Sqrt(float64(t.FanIn))
			for i := range values {
				values[i] = within2(s) / cutSD * sd
			}
		default:
			neutral(t, values)
		}
		clear(values[t.Size-t.Zero:])
	}
}

// Untrained is true.
func (JAX) Untrained() bool { return true }

// within2 returns a standard normal number between −2 and 2: the first of the stream's that lies there.
func within2(s *rng.Stream) float64 {
	for {
		if x := s.Normal(); math.Abs(x) <= 2 {
			return x
		}
	}
}

// Torch begins at weights and biases drawn uniformly between ±1/√fan_in, where the fan_in of a bias is that of its layer's weights: the
// defaults of PyTorch's nn.Linear and nn.Conv2d (reset_parameters; kaiming_uniform_ with a = √5 has that bound) and, for A of a low-rank update,
// of the package peft. The rest is as Neutral says. Vectors of an embedding are drawn from N(0, 1), as nn.Embedding's.
type Torch struct{}

// Draw implements Start.
func (Torch) Draw(tensors []nn.Tensor, _ mcmc.Prior, s *rng.Stream, theta []float64) {
	for _, t := range tensors {
		values := theta[t.Offset:][:t.Size]
		switch {
		case t.Embeds():
			normals(s, values, 1)
		case t.Kind.Weighs() || t.Kind == nn.Biases:
			bound := 1 / math.Sqrt(float64(t.FanIn))
			for i := range values {
				values[i] = (float64(2*s.Float64()) - 1) * bound
			}
		default:
			neutral(t, values)
		}
		clear(values[t.Size-t.Zero:])
	}
}

// Untrained is true.
func (Torch) Untrained() bool { return true }
