package nn

import "github.com/starling-smc/starling/internal/lanes"

// ReLU is max(0, x), with derivative 0 at 0.
var ReLU Activation = relu{}

type relu struct{}

// Title implements Layer.
func (relu) Title() string { return "" }

func (relu) derive(*builder, *node) error { return nil }

func (a relu) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.activation(a, &chain[0], v), 1
}

func (relu) apply(x, y []float32) { lanes.ReLU(x, y) }

func (relu) applyWithDerivative(x, y, d []float32) { lanes.ReLUWithDerivative(x, y, d) }

// clips reports whether the next layer is a ReLU, which the kernels of the layer before it apply to their results.
func (c *compiler) clips(chain []node) bool {
	return !c.apart && len(chain) > 0 && chain[0].layer == ReLU
}
