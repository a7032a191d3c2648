package nn

import (
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

const (
	tileGroups   = 4                        // groups of 16 examples in a tile
	tileExamples = tileGroups * lanes.Lanes // 64
	chunkTiles   = 4                        // tiles whose sums are float32 (program.chunk)
	maxSegments  = 32                       // ranges of chunks that may run at the same time for one particle
)

// tape is the memory of one worker: the activations and gradients of a tile. theta and grads are those of the task at work.
// Nothing but zeros is written to borders, so they stay zero.
type tape struct {
	prog   *program
	theta  []float32 // as in partial
	phi    []float32 // φ
	grads  []float32 // as in partial; nil: no gradient of θ is wanted
	psi    []float32 // sums of the gradient of ψ; nil: it is not wanted
	shares []float32 // of the particles of the task: their weights in the gradient of ψ

	back    bool                   // gradients of values are wanted, whatever of tensors is (curvature.go)
	watch   func(o op, g0, g1 int) // sees the gradient of each op's output before the op's way back (factors.go); nil: nobody does
	rows    []float32              // the gradients of the 16 examples of a group, pitch apart, in place of their sum (gaussnewton.go)
	pitch   int
	along   []float32 // a direction in θ, and what it does to the activations, each where the activation is (tangents.go)
	moves   []float32
	aside   []float32 // room for one more of the latter
	squares bool      // grads are sums of the squares of the gradients of single examples, a group in a pass (gaussnewton.go)

	act    []float32
	grad   []float32
	lane   []float32 // weight gradients of one pass, not yet summed over lanes
	tmp    []float32 // transposed tiles and other scratch
	shared []float32 // the transposed tiles of values that all particles share and dense layers read
	masks  []uint16
	kept   []uint16 // masks of dropout layers: [layer][group][value], a bit for each lane
	args   []int32
	labels []int32   // of the tile, 64
	target []float32 // of the tile: [group][output][16]
	ll     []float32 // of the tile: [group][particle][16]

	pixels []uint8   // changed images of a group: those of a set of bytes
	floats []float32 // those of a set of floats
	sums   []float32 // scratch of reduce

	groups int  // in this tile
	valid  int  // lanes in use in the last group
	batch  int  // particles in this pass
	first  int  // the pass's first particle within the task
	common bool // a shared stage is at work, for all particles together

	examples [tileExamples]int // in each lane of the tile
}

func newTape(p *program) *tape {
	return &tape{
		prog:   p,
		act:    lanes.Make(p.actSize),
		grad:   lanes.Make(p.dySize),
		lane:   lanes.Make(p.laneSize),
		sums:   make([]float32, p.laneSize/lanes.Lanes),
		tmp:    lanes.Make(p.tmpSize),
		shared: lanes.Make(p.sharedSize),
		masks:  make([]uint16, p.maskSize),
		kept:   make([]uint16, p.keptSize),
		args:   make([]int32, p.argSize),
		labels: make([]int32, tileExamples),
		target: lanes.Make(tileExamples * max(1, p.outputs)),
		ll:     lanes.Make(tileExamples * p.batch),
	}
}

// tapeBytes is the size of a tape.
func (p *program) tapeBytes() int {
	floats := p.actSize + p.dySize + p.laneSize + p.laneSize/lanes.Lanes + p.tmpSize + p.sharedSize + tileExamples*(max(1, p.outputs)+p.batch)
	return 4*(floats+p.argSize+tileExamples) + 2*(p.maskSize+p.keptSize)
}

// out is the activation of particle b of the pass in group g.
func (t *tape) out(v *value, g, b int) []float32 {
	if v.shared() {
		b = 0
	}
	n := v.size()
	return t.act[v.act+(v.place(g)*t.prog.copies(v)+b)*n:][:n]
}

// from is the activations of particle b from group g on. It ends with the last group; a plan checks how far it reaches.
func (t *tape) from(v *value, g, b int) []float32 {
	if v.shared() {
		b = 0
	}
	return t.act[v.act+(v.place(g)*t.prog.copies(v)+b)*v.size() : v.act+v.groups()*t.prog.copies(v)*v.size()]
}

// move is the derivative of the activation along the direction.
func (t *tape) move(v *value, g int) []float32 { return t.moveFrom(v, g)[:v.size()] }

// moveFrom is move from group g on.
func (t *tape) moveFrom(v *value, g int) []float32 {
	return t.moves[v.act+v.place(g)*v.size() : v.act+v.groups()*v.size()]
}

// change is what a tensor of the particle is moved by; nil: it stays.
func (t *tape) change(p param) []float32 {
	if p.role != RoleRandom {
		return nil
	}
	return t.along[p.at:]
}

// dy is the gradient of particle b of the pass in group g.
func (t *tape) dy(v *value, g, b int) []float32 {
	if v.inner {
		g = 0
	}
	n := v.size()
	return t.grad[v.grad+(g*t.prog.gradients(v)+b)*n:][:n]
}

// dyFrom is the gradients of particle b from group g on.
func (t *tape) dyFrom(v *value, g, b int) []float32 {
	groups := tileGroups
	if v.inner {
		g, groups = 0, 1
	}
	return t.grad[v.grad+(g*t.prog.gradients(v)+b)*v.size() : v.grad+groups*t.prog.gradients(v)*v.size()]
}

// use makes a tape ready for a task: φ, and θ of its particles. It has no gradients yet.
func (t *tape) use(phi, theta []float32) {
	t.theta, t.phi, t.grads, t.psi, t.shares = theta, phi, nil, nil, nil
	t.back, t.watch, t.rows, t.squares = false, nil, nil, false
}

// sumLogLik adds the log-likelihoods of the tile's examples for the particles of the pass.
func (t *tape) sumLogLik(ll []float64) {
	for g := range t.groups {
		valid := lanes.Lanes
		if g == t.groups-1 {
			valid = t.valid
		}
		lanes.LaneSums(t.ll[g*t.prog.batch*lanes.Lanes:][:t.batch*lanes.Lanes], 1, valid, ll[t.first:t.first+t.batch])
	}
}

// weights is a tensor of particle b of the pass, followed by what comes behind it: in θ also by the next particles.
func (t *tape) weights(p param, b int) []float32 {
	if p.role == RoleRandom {
		return t.theta[(t.first+b)*t.prog.dim+p.at:]
	}
	return t.phi[p.at:]
}

// gradients is the float32 gradient sums of a tensor of particle b of the pass, or of a learned tensor of all particles, followed
// by what comes behind them.
func (t *tape) gradients(p param, b int) []float32 {
	if p.role == RoleRandom {
		return t.grads[(t.first+b)*t.prog.own.size+p.grad:]
	}
	return t.psi[p.grad:]
}

// learns reports whether the gradient of a tensor is wanted.
func (t *tape) learns(p param) bool {
	switch p.role {
	case RoleRandom:
		return t.grads != nil || t.rows != nil
	case RoleLearned:
		return t.psi != nil
	}
	return false
}

// needs reports whether the gradient of a value is wanted, for that of a tensor before it.
func (t *tape) needs(v *value) bool {
	return v.grad >= 0 && ((t.grads != nil || t.back) && !v.stage.shared() || t.psi != nil && v.learned)
}

// share is the weight of particle b of the pass in the gradient of ψ. Gradients of the shared stages have it in them.
func (t *tape) share(b int) float32 {
	if t.common {
		return 1
	}
	return t.shares[t.first+b]
}

// reduce adds n sums by lane, of particle b of the pass, to the gradient of a tensor, and for ψ by the particle's weight.
func (t *tape) reduce(lane int, p param, b, n int) {
	sums := t.lane[lane:][:n*lanes.Lanes]
	if t.rows != nil {
		t.row(sums, p)
		return
	}
	if t.squares {
		square(sums)
	}
	to := t.gradients(p, b)[:n]
	if p.role == RoleRandom || t.common {
		lanes.ReduceAdd(sums, to)
		return
	}
	one := t.sums[:n]
	clear(one)
	lanes.ReduceAdd(sums, one)
	w := t.share(b)
	for i, s := range one {
		to[i] += float32(w * s)
	}
}

// single reports whether the gradients of examples are wanted one by one.
func (t *tape) single() bool { return t.rows != nil || t.squares }

// row writes sums by lane, which are the gradients of a tensor for the examples of the group, to their rows.
func (t *tape) row(sums []float32, p param) {
	for e := range lanes.Lanes {
		row := t.rows[e*t.pitch+p.at:][:len(sums)/lanes.Lanes]
		for i := range row {
			row[i] = sums[i*lanes.Lanes+e]
		}
	}
}

// square replaces numbers by their squares.
func square(x []float32) {
	for i, v := range x {
		x[i] = v * v
	}
}

// each calls f for the groups g0 ≤ g < g1 and the particles of the pass that v holds.
func (t *tape) each(v *value, g0, g1 int, f func(g, b int)) {
	particles := t.batch
	if v.shared() {
		particles = 1
	}
	for g := g0; g < g1; g++ {
		for b := range particles {
			f(g, b)
		}
	}
}

// draw sets the dropout masks of the tile's examples: for each layer, group and value a bit for each lane.
func (t *tape) draw(view *View, drops []*drop) {
	if len(t.kept) == 0 || view == nil {
		return
	}
	for g := range t.groups {
		var streams [lanes.Lanes]rng.Stream
		for l := range streams {
			streams[l] = *view.stream(rng.Dropout, t.examples[g*lanes.Lanes+l])
		}
		for _, d := range drops {
			for to := t.keptIn(d, g); len(to) > 0; {
				var kept [lanes.Lanes]uint64
				for l := range kept {
					kept[l] = d.keep(&streams[l])
				}
				transpose(&kept)
				n := min(64, len(to))
				for i := range n {
					to[i] = uint16(kept[i%16] >> (i / 16 * 16))
				}
				to = to[n:]
			}
		}
	}
}

// keptIn is the masks of a dropout layer in group g.
func (t *tape) keptIn(d *drop, g int) []uint16 {
	return t.kept[tileGroups*d.at+g*d.size:][:d.size]
}
