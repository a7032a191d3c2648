package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// trajectory is a move of NUTS of one particle (Betancourt 2017, arXiv:1701.02434, appendix A, with Stan's further checks). A
// momentum p ~ N(0, I) is drawn, and the state (θ, p) is the first tree. The tree of 2ᵏ states is doubled: 2ᵏ leapfrogs lead on
// from one of its ends, forward or backward in time with probability ½ each. So every state of a tree would have led to the same
// tree with the same probability.
//
// A state is drawn with probability proportional to e^−H as the trees grow. With W the sum of e^−H over a tree, the state of
// the union of two trees is that of the later one with probability
//
//	W_later / (W_earlier + W_later)      within the new half
//	min(1, W_later / W_earlier)          of the new half of the whole: biased progressive sampling, which prefers to travel
//
// Doubling ends where a tree turns back. With ρ the sum of p over a tree, and p₋ and p₊ the momenta at its ends,
//
//	p₋·ρ ≤ 0  or  p₊·ρ ≤ 0.
//
// It is asked of every union of two trees, and also of the earlier one with the first state of the later one, and of the last
// state of the earlier one with the later one; else a trajectory could step over its turn. Momenta are those of the scaled space
// (scale.go), where they are velocities as well. A new half that turns back within, or diverges, is left out.
type trajectory struct {
	target *Target
	in     scales
	size   float64 // h

	leapfrog Work          // of one particle
	ends     [2]Population // J = 1, the states at both ends, backward and forward
	momenta  [2][]float64  // D, and their momenta
	whole    tree
	spare    []*tree // spare[k]: 2ᵏ states

	stream    *rng.Stream
	start     float64 // H at the start
	leapfrogs int
	accepted  float64 // Σ min(1, e^−ΔH) over the leapfrogs
	divergent bool
}

// tree is a part of a trajectory.
type tree struct {
	state       Population // J = 1, the state drawn from it
	energy      float64    // H of that state
	logWeight   float64    // log W
	momentum    []float64  // D, ρ
	first, last []float64  // D, the momenta at its ends, in the direction of growth
}

const backward, forward = 0, 1

// trajectoryOf returns the scratch memory for a particle like those of p.
func (w *Work) trajectoryOf(p *Population, t *Target) *trajectory {
	one := *p
	one.J = 1
	r, ok := w.own.(*trajectory)
	if !ok || !r.whole.state.Like(&one) {
		r = &trajectory{whole: *newTree(p)}
		for side := range r.ends {
			r.ends[side], r.momenta[side] = p.blank(1), make([]float64, p.D)
		}
		r.leapfrog.Fit(&r.whole.state)
		w.own = r
	}
	r.target = t
	return r
}

func newTree(p *Population) *tree {
	d := p.D
	return &tree{state: p.blank(1), momentum: make([]float64, d), first: make([]float64, d), last: make([]float64, d)}
}

// move moves particle j of p by a trajectory of at most so many doublings.
func (r *trajectory) move(ctx context.Context, p *Population, j int, key rng.Key, doublings int) error {
	key.Particle, key.Purpose = j, rng.Momentum
	r.begin(p, j, key.Stream())
	key.Purpose = rng.Tree
	err := r.double(ctx, key.Stream(), doublings)
	p.Set(j, &r.whole.state, 0)
	return err
}

// double doubles the trajectory until it turns back or diverges, at most so many times.
func (r *trajectory) double(ctx context.Context, stream *rng.Stream, times int) error {
	r.stream = stream
	whole := &r.whole
	for depth := range times {
		if len(r.spare) == depth {
			r.spare = append(r.spare, newTree(&whole.state))
		}
		side, half := backward, r.spare[depth]
		if stream.Float64() < 0.5 {
			side = forward
		}
		if ok, err := r.grow(ctx, depth, side, half); err != nil || !ok {
			return err
		}
		if side == backward { // the tree grows from its first state in time
			whole.first, whole.last = whole.last, whole.first
		}
		turned := r.join(whole, half, whole.logWeight)
		if side == backward {
			whole.first, whole.last = whole.last, whole.first
		}
		if turned {
			return nil
		}
	}
	return nil
}

// begin makes the whole trajectory the state of particle j of p with a momentum from a stream.
func (r *trajectory) begin(p *Population, j int, stream *rng.Stream) {
	whole := &r.whole
	stream.Normals(whole.momentum)
	copy(whole.first, whole.momentum)
	copy(whole.last, whole.momentum)
	for side := range r.ends {
		r.ends[side].Set(0, p, j)
		copy(r.momenta[side], whole.momentum)
	}
	whole.state.Set(0, p, j)
	r.start = Kinetic(whole.momentum) - r.target.LogDensity(p, j)
	whole.energy, whole.logWeight = r.start, -r.start
	r.leapfrogs, r.accepted, r.divergent = 0, 0, false
}

// grow leads an end of the trajectory on by 2ᵈᵉᵖᵗʰ leapfrogs and makes them the tree to. It reports whether they are one tree:
// none of its halves turns back, and nothing diverges. Else to is undefined.
func (r *trajectory) grow(ctx context.Context, depth, side int, to *tree) (ok bool, err error) {
	if depth == 0 {
		return r.leaf(ctx, side, to)
	}
	if ok, err = r.grow(ctx, depth-1, side, to); err != nil || !ok {
		return false, err
	}
	later := r.spare[depth-1]
	if ok, err = r.grow(ctx, depth-1, side, later); err != nil || !ok {
		return false, err
	}
	return !r.join(to, later, logAdd(to.logWeight, later.logWeight)), nil
}

// leaf is one leapfrog.
func (r *trajectory) leaf(ctx context.Context, side int, to *tree) (ok bool, err error) {
	end, size := &r.ends[side], r.size
	if side == backward {
		size = -size
	}
	r.leapfrog.momentum = r.momenta[side]
	if err := r.leapfrog.leapfrog(ctx, r.target, end, end, r.in, size, 1); err != nil {
		return false, err
	}
	r.leapfrogs++
	momentum := r.momenta[side]
	energy := Kinetic(momentum) - r.target.LogDensity(end, 0)
	if !isFinite(energy) || energy-r.start > MostEnergyRise {
		r.divergent = true
		return false, nil
	}
	r.accepted += min(1, rng.Exp(r.start-energy))
	to.state.Set(0, end, 0)
	to.energy, to.logWeight = energy, -energy
	copy(to.momentum, momentum)
	copy(to.first, momentum)
	copy(to.last, momentum)
	return true, nil
}

// join makes a the union of a and the tree b that follows it, whose state it takes with probability W_b/e^against, and reports
// whether the union turns back.
func (r *trajectory) join(a, b *tree, against float64) (turned bool) {
	if r.stream.Float64() < rng.Exp(b.logWeight-against) {
		a.state.Set(0, &b.state, 0)
		a.energy = b.energy
	}
	a.logWeight = logAdd(a.logWeight, b.logWeight)
	turned = turns(a.first, b.last, a.momentum, b.momentum) ||
		turns(a.first, b.first, a.momentum, b.first) ||
		turns(a.last, b.last, a.last, b.momentum)
	for i, v := range b.momentum {
		a.momentum[i] += v
	}
	copy(a.last, b.last)
	return turned
}

// turns reports whether a path with momenta first and last at its ends, and ρ = x + y, turns back.
func turns(first, last, x, y []float64) bool {
	var atFirst, atLast float64
	for i, v := range x {
		v += y[i]
		atFirst += float64(first[i] * v)
		atLast += float64(last[i] * v)
	}
	return !(atFirst > 0 && atLast > 0)
}

// logAdd returns log(eˣ + eʸ).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) {
		return x
	}
	return x + rng.Log(1+rng.Exp(y-x))
}
