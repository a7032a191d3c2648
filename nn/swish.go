package nn

import "github.com/starling-smc/starling/internal/lanes"

// Swish is x / (1 + e^−x).
var Swish Activation = swish{}

type swish struct{}

// Title implements Layer.
func (swish) Title() string { return "" }

func (swish) derive(*builder, *node) error { return nil }

func (a swish) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.activation(a, &chain[0], v), 1
}

func (swish) apply(x, y []float32) { lanes.Swish(x, y) }

func (swish) applyWithDerivative(x, y, d []float32) { lanes.SwishWithDerivative(x, y, d) }
