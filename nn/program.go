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
		p.run(t, stageSharedConv, stageSharedDense)
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

func (p *program) forward(t *tape) { p.run(t, stageConv, stageDense) }

// run runs the ops of two stages.
func (p *program) run(t *tape, conv, dense stage) {
	for g := range t.groups {
		for _, o := range p.ops[conv] {
			o.forward(t, g, g+1)
		}
	}
	for _, o := range p.ops[dense] {
		o.forward(t, 0, t.groups)
	}
}

// backward runs the backward pass of the particles of a pass.
func (p *program) backward(t *tape) { p.runBack(t, p.ops[stageConv], p.ops[stageDense]) }

// backwardShared runs the backward pass of the shared stages, whose output has the gradients of all particles now.
func (p *program) backwardShared(t *tape) {
	t.together(func() { p.runBack(t, p.ops[stageSharedConv], p.ops[stageSharedDense]) })
}

func (p *program) runBack(t *tape, conv, dense []op) {
	clear(t.lane)
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
