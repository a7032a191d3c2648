package nn

import (
	"slices"

	"github.com/starling-smc/starling/internal/lanes"
)

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

	// output is the value that the op computes; nil for an op of the backward pass alone.
	output() *value
}

// tangential is an op with a forward derivative (tangents.go). Where an input is shared by all particles, it does not move.
type tangential interface {
	op

	// tangent sets the move of the output, by those of its inputs and of its parameters, when the forward pass has been there.
	tangent(t *tape, g0, g1 int)
}

// program is a network compiled for tiles of 64 examples: the ops of each stage and the sizes of the memory that they
// use. It is immutable; all that changes is in a tape. Tapes that are not in use are kept with it.
type program struct {
	dim     int  // D
	outputs int  // K
	batch   int  // particles of one pass
	byGroup bool // see goesByGroup
	chunk   int  // tiles whose sums are float32
	ops     [stages][]op
	in      *value
	out     *value
	load    *lanes.Load // examples into in's planes

	own        layout   // the gradient of a particle's θ
	psi        layout   // the gradient of ψ
	likelihood param    // the likelihood's own parameter, if it has one whose gradient is no sum over examples
	summed     []param  // its own parameters whose gradients are
	spreads    []*value // values of the shared stages that particles read and whose gradient is wanted

	actSize, dySize, laneSize, tmpSize, sharedSize, maskSize, argSize int

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

// gradients is how many particles a value's gradient holds.
func (p *program) gradients(v *value) int {
	if v.stage.shared() {
		return 1
	}
	return p.batch
}

// prepare runs the ops that all particles share.
func (p *program) prepare(t *tape) {
	t.together(func() {
		for _, o := range p.ops[stagePre] {
			o.forward(t, 0, t.groups)
		}
		p.run(t, stageSharedConv, stageSharedDense, 0, t.groups)
	})
	if t.psi != nil {
		for _, v := range p.spreads {
			clear(t.grad[v.grad:][:tileGroups*v.size()])
		}
	}
}

// together runs f for a shared stage, as if there were one particle.
func (t *tape) together(f func()) {
	first, batch := t.first, t.batch
	t.first, t.batch, t.common = 0, 1, true
	f()
	t.first, t.batch, t.common = first, batch, false
}

// pass takes the particles of a pass through a tile. It calls see for the groups g0 ≤ g < g1 whose outputs are there: all at once, or
// one at a time. If back, see sets the gradients of the outputs, and the backward pass follows.
//
// Sums by lane go on over the groups, and dense layers add to the gradients in memory. So both ways add in the same order.
func (p *program) pass(t *tape, back bool, see func(g0, g1 int)) {
	if back {
		clear(t.lane)
	}
	p.forward(t, func(g0, g1 int) {
		see(g0, g1)
		if back {
			p.runBack(t, stageConv, stageDense, g0, g1)
		}
	})
	if back {
		p.finish(t, stageConv, stageDense)
	}
}

// forward takes the tile forward, all groups at once or one at a time, and calls see for those that have been.
func (p *program) forward(t *tape, see func(g0, g1 int)) {
	step := t.groups
	if p.byGroup {
		step = 1
	}
	for g := 0; g < t.groups; g += step {
		p.run(t, stageConv, stageDense, g, g+step)
		see(g, g+step)
	}
}

// run runs the ops of two stages for groups of the tile.
func (p *program) run(t *tape, conv, dense stage, g0, g1 int) {
	for g := g0; g < g1; g++ {
		for _, o := range p.ops[conv] {
			o.forward(t, g, g+1)
		}
	}
	for _, o := range p.ops[dense] {
		o.forward(t, g0, g1)
	}
}

func (p *program) runBack(t *tape, conv, dense stage, g0, g1 int) {
	back := func(o op, g0, g1 int) {
		if t.watch != nil {
			t.watch(o, g0, g1)
		}
		o.backward(t, g0, g1)
	}
	for _, o := range slices.Backward(p.ops[dense]) {
		back(o, g0, g1)
	}
	for g := g0; g < g1; g++ {
		for _, o := range slices.Backward(p.ops[conv]) {
			back(o, g, g+1)
		}
	}
}

func (p *program) finish(t *tape, stages ...stage) {
	for _, s := range stages {
		for _, o := range p.ops[s] {
			o.finish(t)
		}
	}
}

// backwardShared runs the backward pass of the shared stages, whose output has the gradients of all particles now.
func (p *program) backwardShared(t *tape) {
	t.together(func() {
		clear(t.lane)
		p.runBack(t, stageSharedConv, stageSharedDense, 0, t.groups)
		p.finish(t, stageSharedConv, stageSharedDense)
	})
}
