package nn

import "github.com/starling-smc/starling/internal/lanes"

// GELU is x Φ(x), where Φ is computed with the error function.
var GELU Activation = gelu{}

type gelu struct{}

// Title implements Layer.
func (gelu) Title() string { return "" }

func (gelu) derive(*builder, *node) error { return nil }

func (a gelu) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.activation(a, &chain[0], v), 1
}

func (gelu) apply(x, y []float32) { lanes.GELU(x, y) }

func (gelu) applyWithDerivative(x, y, d []float32) { lanes.GELUWithDerivative(x, y, d) }
