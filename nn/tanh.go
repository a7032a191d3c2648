package nn

import "github.com/starling-smc/starling/internal/lanes"

// Tanh is tanh x.
var Tanh Activation = tanh{}

type tanh struct{}

// Title implements Layer.
func (tanh) Title() string { return "" }

func (tanh) derive(*builder, *node) error { return nil }

func (a tanh) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.activation(a, &chain[0], v), 1
}

func (tanh) apply(x, y []float32) { lanes.Tanh(x, y) }

func (tanh) applyWithDerivative(x, y, d []float32) { lanes.TanhWithDerivative(x, y, d) }
