package nn

import "github.com/starling-smc/starling/internal/lanes"

// op is one step of a tile's forward pass and the same step of its backward pass. An op may have several inputs, and a
// value may be the input of several ops.
type op interface {
	// forward computes the op's output for groups g0 ≤ g < g1 of the tile and the particles of the pass.
	forward(t *tape, g0, g1 int)

	// backward adds to the weight gradients and sets the gradient of every input that needs one (grad ≥ 0), gated where
	// the input is the output of a ReLU.
	backward(t *tape, g0, g1 int)

	// finish completes the sums that the backward passes of a tile keep by lane.
	finish(t *tape)

	// inputs are the op's fields for the values that it reads. The compiler may replace a value by one with the same
	// activation, before the op plans its tables.
	inputs() []**value
}

// program is a network compiled for tiles of 64 examples: the ops of each stage and the sizes of the memory that they
// use. It is immutable; all that changes is in a tape. Tapes that are not in use are kept with it.
type program struct {
	dim     int // D
	outputs int // K
	batch   int // particles of one pass
	ops     [stages][]op
	in      *value
	out     *value
	load    *lanes.Load // examples into in's planes
	rows    []gradRows

	actSize, dySize, laneSize, tmpSize, sharedSize, maskSize, argSize, gradSize int

	keptSize int // of the masks of dropout layers
	spare    spare
}

// copies is how many particles a value holds.
func (p *program) copies(v *value) int {
	if v.shared() {
		return 1
	}
	return p.batch
}

// gradRows is the place of a tensor's gradient: rows of a given pitch in the float32 sums, dense in θ.
type gradRows struct{ theta, grad, rows, cols, pitch int }

// prepare runs the ops that all particles share.
func (p *program) prepare(t *tape) {
	for _, o := range p.ops[stagePre] {
		o.forward(t, 0, t.groups)
	}
}

func (p *program) forward(t *tape) {
	for g := range t.groups {
		for _, o := range p.ops[stageConv] {
			o.forward(t, g, g+1)
		}
	}
	for _, o := range p.ops[stageDense] {
		o.forward(t, 0, t.groups)
	}
}

func (p *program) backward(t *tape) {
	clear(t.lane)
	conv, dense := p.ops[stageConv], p.ops[stageDense]
	for i := len(dense) - 1; i >= 0; i-- {
		dense[i].backward(t, 0, t.groups)
	}
	for g := range t.groups {
		for i := len(conv) - 1; i >= 0; i-- {
			conv[i].backward(t, g, g+1)
		}
	}
	for _, o := range conv {
		o.finish(t)
	}
	for _, o := range dense {
		o.finish(t)
	}
}
