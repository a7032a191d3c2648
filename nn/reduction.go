package nn

import (
	"context"
	"sync"

	"github.com/starling-smc/starling/internal/lanes"
)

// reduction is one call of a model: its tasks and their sums.
//
// A task is a segment (a range of chunks of 256 examples) for a block of particles. Segments decide the order of the
// sums, so they depend on the number of examples alone. Each particle has its own sums, so the number of particles in a
// block may follow the number of threads. The sums of segments are added to the result in the order of the segments,
// whichever task ends first.
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
	chunks := (n + chunkTiles*tileExamples - 1) / (chunkTiles * tileExamples)
	perSegment := max(1, (chunks+maxSegments-1)/maxSegments)
	r.segments = (chunks + perSegment - 1) / perSegment
	r.tiles = perSegment * chunkTiles

	// With few blocks, particles share loaded tiles; with many, all threads are busy to the end. θ and the gradients of a
	// block should stay in the second-level cache.
	r.block = max(1, r.particles*r.segments/(6*m.pool.Threads()))
	r.block = min(r.block, blockParticles(m.net.dim), r.particles)
	if b := m.prog.batch; r.block > b {
		r.block -= r.block % b
	}
	clear(ll)
	clear(grad)
	if r.particles > 0 {
		r.next = make([]int, (r.particles+r.block-1)/r.block)
	}
	return r
}

// blockParticles is the largest number of particles of a task.
func blockParticles(dim int) int { return max(1, (512<<10)/(8*dim)) }

// each runs load for every tile of every task. Then it sums log-likelihoods and gradients or, if look is not nil, runs
// the forward pass alone and calls look for every pass of particles.
func (r *reduction) each(ctx context.Context, load func(t *tape, first, count int), look func(t *tape, particle, first, count int)) {
	r.m.pool.Run(len(r.next)*r.segments, func(i int) {
		block, segment := i/r.segments, i%r.segments
		first := block * r.block
		count := min(r.block, r.particles-first)
		t := r.m.net.spare.tape(r.m.prog, r.block)
		defer r.m.net.spare.returnTape(t)
		lanes.Float32s(t.theta[:count*r.m.net.dim], r.theta[first*r.m.net.dim:][:count*r.m.net.dim])
		var sums *partial
		if look == nil {
			sums = r.take(count)
			defer r.add(block, segment, sums)
		}
		begin := segment * r.tiles * tileExamples
		end := min(r.n, begin+r.tiles*tileExamples)
		for at, tile := begin, 0; at < end; at, tile = at+tileExamples, tile+1 {
			if ctx.Err() != nil {
				return
			}
			if tile%chunkTiles == 0 && r.grad != nil {
				clear(t.grads[:count*r.m.prog.gradSize])
			}
			examples := min(tileExamples, end-at)
			load(t, at, examples)
			for t.first = 0; t.first < count; t.first += t.batch {
				t.batch = min(r.m.prog.batch, count-t.first)
				r.m.prog.forward(t)
				if look != nil {
					look(t, first+t.first, at, examples)
					continue
				}
				r.m.loss(t, r.grad != nil)
				for g := range t.groups {
					valid := lanes.Lanes
					if g == t.groups-1 {
						valid = t.valid
					}
					lanes.LaneSums(t.ll[g*r.m.prog.batch*lanes.Lanes:][:t.batch*lanes.Lanes], 1, valid, sums.ll[t.first:t.first+t.batch])
				}
				if r.grad != nil {
					r.m.prog.backward(t)
				}
			}
			if r.grad != nil && (tile%chunkTiles == chunkTiles-1 || at+tileExamples >= end) {
				r.m.prog.flush(t, count, sums.grad)
			}
		}
	})
}

// flush adds the float32 sums of a chunk to float64 ones.
func (p *program) flush(t *tape, count int, grad []float64) {
	for j := range count {
		from, to := t.grads[j*p.gradSize:(j+1)*p.gradSize], grad[j*p.dim:(j+1)*p.dim]
		for _, r := range p.rows {
			if r.cols == r.pitch {
				lanes.AddFloat64s(to[r.theta:][:r.rows*r.cols], from[r.grad:][:r.rows*r.cols])
				continue
			}
			for row := range r.rows {
				lanes.AddFloat64s(to[r.theta+row*r.cols:][:r.cols], from[r.grad+row*r.pitch:][:r.cols])
			}
		}
	}
}

// take returns zeroed sums for count particles.
func (r *reduction) take(count int) *partial {
	s := r.m.net.spare.partial()
	s.ll = zeroed(s.ll, count)
	if r.grad != nil {
		s.grad = zeroed(s.grad, count*r.m.net.dim)
	}
	return s
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
		if r.grad != nil {
			d := r.m.net.dim
			to := r.grad[first*d:][:len(s.ll)*d]
			for i, v := range s.grad[:len(to)] {
				to[i] += v
			}
		}
		if r.next[block]++; r.next[block] == r.segments && r.grad != nil {
			r.finish(first, len(s.ll))
		}
		r.m.net.spare.returnPartial(s)
	}
}

// finish sets the gradients of the likelihood's own parameters, which are a function of the total log-likelihood.
func (r *reduction) finish(first, count int) {
	d, k := r.m.net.dim, r.m.net.Outputs()
	for j := first; j < first+count; j++ {
		r.m.net.lik.finish(r.ll[j], r.theta[j*d:][:d], r.grad[j*d:][:d], r.n, k)
	}
}

// Scratch estimates the bytes that a thread holds while it works on a call of a Model with that many particles: the
// activations and gradients of a tile, the parameters of the particles of a task, and their sums.
func (n *Net) Scratch(particles int) int {
	p := n.program()
	tile := p.actSize + p.dySize + p.laneSize + p.tmpSize + p.sharedSize + p.argSize + p.maskSize/2
	return 4*tile + min(particles, blockParticles(n.dim))*(4*n.dim+4*p.gradSize+8*n.dim)
}
