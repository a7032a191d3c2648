package nn

import (
	"context"
	"sync"

	"github.com/starling-smc/starling/internal/lanes"
)

// reduction is one call of a model: its tasks and their sums.
//
// A task is a segment (a range of chunks of 256 examples, or of 64: chunkOf) for a block of particles. Segments decide the order of the
// sums, so they depend on the number of examples alone. Each particle has its own sums, so the number of particles in a
// block may follow the number of threads, and so may the thread that works on a tile (shares.go). The sums of segments are
// added to the result in the order of the segments, whichever task ends first.
type reduction struct {
	m               *Model
	n               int
	theta, ll, grad []float64
	particles       int // in the call
	block           int // particles of a task
	tiles           int // of a segment
	segments        int

	mu    sync.Mutex
	next  []int               // next[b] is the segment that the sums of block b wait for
	ready map[[2]int]*partial // by block and segment
}

// newReduction cuts a call; ll and grad may be nil.
func newReduction(m *Model, n int, theta, ll, grad []float64) *reduction {
	r := &reduction{m: m, n: n, theta: theta, ll: ll, grad: grad, particles: len(theta) / m.net.dim, ready: map[[2]int]*partial{}}
	chunk := m.prog.chunk
	chunks := (n + chunk*tileExamples - 1) / (chunk * tileExamples)
	perSegment := max(1, (chunks+maxSegments-1)/maxSegments)
	r.segments = (chunks + perSegment - 1) / perSegment
	r.tiles = perSegment * chunk

	// With few blocks, particles share loaded tiles; with many, all threads are busy to the end.
	r.block = max(1, r.particles*r.segments/(6*m.pool.Threads()))
	most := max(1, r.particles*r.segments/m.pool.Threads()) // particles of a block that leaves each thread a task
	switch {
	case m.prog.heavy(): // the layers that particles share run once a tile of a task
		r.block = min(most, r.particles)
	case m.net.wide() && r.particles > 0:
		r.block = min(most, max(r.block, wideBlock), m.net.blockParticles(), r.particles)
		blocks := (r.particles + r.block - 1) / r.block
		r.block = (r.particles + blocks - 1) / blocks // as equal as can be
	default:
		r.block = min(r.block, m.net.blockParticles(), r.particles)
	}
	if b := m.prog.batch; r.block > b && r.block < r.particles {
		r.block -= r.block % b
	}
	clear(ll)
	if r.segments == 0 { // else each segment's first chunk begins with zeros
		clear(grad)
	}
	if r.particles > 0 {
		r.next = make([]int, (r.particles+r.block-1)/r.block)
	}
	return r
}

// heavy reports whether layers with parameters come before the first random one.
func (p *program) heavy() bool { return len(p.ops[stageSharedConv])+len(p.ops[stageSharedDense]) > 0 }

// blockParticles is the largest number of particles of a task. θ and the gradients of a block should stay in the second-level cache, unless the
// network is wide.
func (n *Net) blockParticles() int {
	most := 512 << 10
	if n.wide() {
		most = 4 << 20
	}
	return max(1, most/(8*n.dim))
}

// wideBlock is how many particles of a wide network share a tile at least, where they are as many: to load it is a small part of their work then.
const wideBlock = 16

// wide reports whether a tile of a network without convolutions has more inputs than a particle has parameters. To load it again for other
// particles takes longer then than to fetch their parameters.
func (n *Net) wide() bool {
	return tileExamples*n.features() > n.dim && len(n.program().ops[stageConv]) == 0
}

// looker sees the outputs of a pass, whose first particle is given, for examples from ≤ i < to of the tile that begins with example
// first of the batch.
type looker func(t *tape, particle, first, from, to int)

// each runs load for every tile of every task. Then it sums log-likelihoods and gradients or, if look is not nil, runs
// the forward pass alone and calls look for every pass of particles.
func (r *reduction) each(ctx context.Context, load func(t *tape, first, count int), look looker) {
	shares := r.shares()
	r.m.pool.Run(len(shares), func(i int) {
		for _, p := range shares[i] {
			r.work(ctx, p, load, look)
		}
	})
}

// work takes one piece of a task through its tiles.
func (r *reduction) work(ctx context.Context, p piece, load func(t *tape, first, count int), look looker) {
	first := p.block * r.block
	count := min(r.block, r.particles-first)
	sums := r.begin(p, first, count)
	if sums == nil {
		return
	}
	defer r.end(p, sums, look == nil)
	t := r.m.prog.spare.tape(r.m.prog)
	defer r.m.prog.spare.returnTape(t)
	t.use(sums.theta, r.m.psi, r.m.net.constants)
	if r.grad != nil {
		t.grads = sums.grads
	}
	begin, chunk := p.segment*r.tiles*tileExamples, r.m.prog.chunk
	end := min(r.n, begin+r.tiles*tileExamples)
	for tile := p.from; tile < p.to && ctx.Err() == nil; tile++ {
		if tile%chunk == 0 && r.grad != nil {
			clear(t.grads[:count*r.m.prog.own.size])
		}
		at := begin + tile*tileExamples
		examples := min(tileExamples, end-at)
		load(t, at, examples)
		for t.first = 0; t.first < count; t.first += t.batch {
			t.batch = min(r.m.prog.batch, count-t.first)
			r.m.prog.pass(t, r.grad != nil, func(g0, g1 int) {
				if look != nil {
					look(t, first+t.first, at, g0*lanes.Lanes, min(examples, g1*lanes.Lanes))
				} else {
					r.m.loss(t, g0, g1, r.grad != nil)
				}
			})
			if look == nil {
				t.sumLogLik(sums.ll)
			}
		}
		if r.grad != nil && (tile%chunk == chunk-1 || at+tileExamples >= end) {
			r.m.prog.flush(t, count, sums.grad, tile < chunk)
		}
	}
}

// begin returns the sums that a piece adds to, for count particles from first on; nil if the piece before it has failed.
func (r *reduction) begin(p piece, first, count int) *partial {
	if p.before != nil {
		return <-p.before
	}
	sums := r.take(p.segment, first, count)
	lanes.Float32s(sums.theta[:count*r.m.net.dim], r.theta[first*r.m.net.dim:][:count*r.m.net.dim])
	return sums
}

// end hands the sums over to the next piece of the task or, after the last one, adds them to the result if they are wanted.
func (r *reduction) end(p piece, sums *partial, wanted bool) {
	switch {
	case p.after != nil:
		p.after <- sums
	case wanted:
		r.add(p.block, p.segment, sums)
	default:
		r.m.prog.spare.returnPartial(sums)
	}
}

// flush adds the float32 sums of a chunk to float64 ones, which are 0 before the first chunk.
func (p *program) flush(t *tape, count int, grad []float64, first bool) {
	for j := range count {
		to := grad[j*p.dim:][:p.dim]
		if first {
			clear(to)
		}
		p.own.flush(t.grads[j*p.own.size:][:p.own.size], to)
	}
}

// flush adds float32 sums to float64 ones.
func (l *layout) flush(from []float32, to []float64) {
	for _, r := range l.rows {
		if r.cols == r.pitch {
			lanes.AddFloat64s(to[r.at:][:r.rows*r.cols], from[r.grad:][:r.rows*r.cols])
			continue
		}
		for row := range r.rows {
			lanes.AddFloat64s(to[r.at+row*r.cols:][:r.cols], from[r.grad+row*r.pitch:][:r.cols])
		}
	}
}

// take returns sums for count particles from first on. The gradients of the first segment, to which those of others are
// added, are summed in the result.
func (r *reduction) take(segment, first, count int) *partial {
	s := r.m.prog.spare.partial()
	s.theta, s.grads = sized(s.theta, r.block*r.m.net.dim), sized(s.grads, r.block*r.m.prog.own.size)
	s.ll = zeroed(s.ll, count)
	switch d := r.m.net.dim; {
	case r.grad == nil:
	case segment == 0:
		s.grad = r.grad[first*d:][:count*d]
	default:
		if cap(s.own) < count*d {
			s.own = make([]float64, count*d)
		}
		s.grad = s.own[:count*d]
	}
	return s
}

func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return lanes.Make(n)
	}
	return s[:n]
}

func zeroed(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	clear(s[:n])
	return s[:n]
}

// add puts the sums of a segment into the result, after all segments before it.
func (r *reduction) add(block, segment int, s *partial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready[[2]int{block, segment}] = s
	for {
		key := [2]int{block, r.next[block]}
		s, ok := r.ready[key]
		if !ok {
			return
		}
		delete(r.ready, key)
		first := block * r.block
		for j, v := range s.ll {
			r.ll[first+j] += v
		}
		if d := r.m.net.dim; r.grad != nil && r.next[block] > 0 {
			to := r.grad[first*d:][:len(s.ll)*d]
			for i, v := range s.grad[:len(to)] {
				to[i] += v
			}
		}
		s.grad = nil
		if r.next[block]++; r.next[block] == r.segments && r.grad != nil {
			r.finish(first, len(s.ll))
		}
		r.m.prog.spare.returnPartial(s)
	}
}

// finish sets the gradients of the likelihood's own parameters, which are a function of the total log-likelihood.
func (r *reduction) finish(first, count int) {
	d, k := r.m.net.dim, r.m.net.Outputs()
	if r.m.prog.likelihood.role != RoleRandom {
		return
	}
	for j := first; j < first+count; j++ {
		r.m.net.lik.finish(r.ll[j], r.theta[j*d:][:d], r.grad[j*d:][:d], r.n, k)
	}
}

// Scratch estimates the bytes that a thread holds for the network's models, which share them: the activations and gradients of a
// tile, the parameters of the particles of a task and their sums, and those of a task that is handed over or waits to be added.
// particles are those of a call. With dropout layers, training steps have a tape of their own beside that of other calls.
func (n *Net) Scratch(particles int) int {
	p := n.program()
	tapes := p.tapeBytes()
	if training := n.training(); training != p {
		tapes += training.tapeBytes()
	}
	block := min(particles, n.blockParticles())
	if p.heavy() {
		block = particles
	}
	sums := block * (4*n.dim + 4*p.own.size + 8*n.dim + 8)
	if n.learned > 0 {
		sums += 4*n.learned + 4*p.psi.size + 8*n.learned + 4*n.dim*min(particles, learnedBlock)
	}
	return tapes + 2*sums
}
