package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/mcmc"
)

// clutterLikelihood is eq. 40 (see Clutter) for one scan. It divides the density of a return in the region by that of
// clutter there:
//
//	log p(z | x) = constant + Σ_i log(1 + Σ_r w_ir),   w_ir = c exp(−|z_i − position_r|² / 2sd²),   c = λ_X A_C / (2π sd² λ_C)
//
// Returns in the region are sorted into cells (cells.go), a chunk each. Coordinates are taken relative to the middle of
// their cell in float64 and then rounded to float32, so that a large offset costs no digit. Within a chunk the terms are
// float32 (lanes.MixtureTerm), and sums over chunks are float64. The terms w_ir of the state are kept, so that a decision
// computes those of the targets that it moves.
//
// # Locality
//
// A decision evaluates a chunk only if a moved target's old or new place is within reach of it. The others keep their sums. The
// result has the same bits as if all were evaluated:
//
//   - 1 + w_i1 + w_i2 + … is added one by one, in float32, in the order of the targets. All terms are at least 0, so a
//     partial sum is at least 1, and the distance from it to the next number up is at least 2⁻²³. A term strictly below half
//     of that, 2⁻²⁴, is rounded away wherever it stands. (2⁻²⁴ itself may not be: a tie goes to the even neighbour, which
//     may be the upper one.)
//   - Beyond reach, where c exp(−reach²/2sd²) = 2⁻²⁵, a term is below 2⁻²⁴: the factor of 2 is far above the rounding errors
//     of the kernel (1e-4 at most), and the boxes of chunks are wider than their points by more than the rounding of the
//     coordinates can move them: at most 2⁻²⁴ of the distance from the middle of the cell, for points and targets.
//   - So a target's terms in a chunk beyond reach of it are below 2⁻²⁴, and have no influence on the sum of the chunk,
//     whether they belong to the target's place now or to an earlier one, which was as far when the terms were last
//     evaluated: a decision that takes a target from within reach evaluates the chunk.
//
// For the same reason a decision that moves several targets computes in a chunk the terms of those within reach of it alone.
//
// With the rates of the paper reach is 7.09 standard deviations.
//
// # Returns without clutter
//
// Outside the region, or without clutter, the density is the targets' alone. It may be far below the least float32, and
// there is no sum that absorbs small terms. Such returns are evaluated by every decision, in float64 and by their
// logarithms. So are all returns if c is above 2¹⁰⁰, where float32 has no room.
type clutterLikelihood struct {
	model    Clutter
	targets  int
	all      bool       // evaluate all chunks
	z        []point    // in the caller's order
	rows     []int32    // of the scan, if some of its measurements are dropped; nil: all
	dropped  int        // measurements outside the region
	constant float64    // what does not depend on the state
	uniform  float64    // log density of clutter in the region
	peak     float64    // log density of a target's returns at its position
	c        float32    // a target's term at its position
	ratio    float64    // log c
	pool     *mcmc.Pool // nil: one thread

	cells   *tree
	reach   float64   // squared; −1: nothing is within reach
	points  int       // number of returns in the cells
	middles []point   // of chunks
	sorted  []point   // the returns in the cells, chunk by chunk
	xy      []float32 // [chunk][2][perChunk], in standard deviations from the middle
	bare    []point   // returns that are not in the cells, sorted

	// The state, and what the last Try made of it.
	at, trial         []point
	terms, fresh      []float32 // [chunk][targets][perChunk]; of those touched, the row that changes, or all rows
	sums, trialSums   []float64 // of chunks; of those touched
	row               []int32   // of each chunk touched: the only row of terms that changes, or −1
	bareSum, trialBar float64
	moved, touched    []int32 // targets, chunks
	places            []point

	every   []int32   // 0 … targets−1
	whole   []int32   // the chunks of a whole evaluation
	scratch []float32 // and the terms of one of them
	now     []point   // its places

	series *clutterSeries // nil: before the first Expand
	bounds clutterBounds

	evaluated, skipped int64
}

// SetPool gives decisions over many chunks other threads. Results do not depend on it.
func (l *clutterLikelihood) SetPool(p *mcmc.Pool) { l.pool = p }

// Len implements Likelihood: measurements that are dropped are no rows.
func (l *clutterLikelihood) Len() int { return len(l.z) }

// Dropped implements Dropper.
func (l *clutterLikelihood) Dropped() int { return l.dropped }

// Terms implements Counter. A term is a measurement in a decision.
func (l *clutterLikelihood) Terms() (evaluated, skipped int64) { return l.evaluated, l.skipped }

// position returns the place of a target. A place that is not a number is infinitely far.
func position(x []float64, r int) (p point, ok bool) {
	p = point{x[4*r], x[4*r+1]}
	if math.IsNaN(p.x) || math.IsNaN(p.y) {
		return point{math.Inf(1), math.Inf(1)}, false
	}
	return p, true
}

// positions sets at to the places of the targets.
func positions(x []float64, at []point) (ok bool) {
	ok = true
	for r := range at {
		p, number := position(x, r)
		at[r], ok = p, ok && number
	}
	return ok
}

// LogLik implements Likelihood. Rows are evaluated in float64; all measurements together by the kernels.
func (l *clutterLikelihood) LogLik(x []float64, rows []int32) float64 {
	at := l.now
	if !positions(x, at) {
		return math.Inf(-1)
	}
	if rows != nil {
		l.evaluated += int64(len(rows))
		sum := 0.0
		for _, i := range rows {
			sum += l.logTerm(l.z[i], at)
		}
		return sum
	}
	sum := 0.0
	l.whole = l.near(at, l.whole[:0])
	for _, c := range l.whole {
		clear(l.scratch)
		sum += l.evaluate(int(c), l.every, at, at, l.scratch)
	}
	return l.constant + sum + l.barely(at)
}

// Impossible implements Accuser.
func (l *clutterLikelihood) Impossible(x []float64) (row int, ok bool) {
	at := l.now
	number := positions(x, at)
	for i, z := range l.z {
		if number && !math.IsInf(l.logTerm(z, at), -1) {
			continue
		}
		if l.rows != nil {
			i = int(l.rows[i])
		}
		return i, true
	}
	return 0, false
}

// near appends to chunks those within reach of the places, or all, and counts.
func (l *clutterLikelihood) near(places []point, chunks []int32) []int32 {
	if l.cells == nil {
		return chunks
	}
	if l.all {
		for c := range l.cells.chunks {
			chunks = append(chunks, int32(c))
		}
	} else {
		chunks = l.cells.within(places, l.reach, chunks)
	}
	n := len(chunks) * perChunk
	if last := l.cells.chunks - 1; len(chunks) > 0 && int(chunks[len(chunks)-1]) == last {
		n -= perChunk - l.count(last)
	}
	l.evaluated += int64(n)
	l.skipped += int64(l.points - n)
	return chunks
}

// evaluate returns the sum of a chunk with the moved targets at their new places, and sets out, which has a row for each target,
// to their terms; the rows of those whose places are beyond reach are left as they are. One of them at least is within reach.
// Places has those of each target moved, one after the other: the old one, if it has terms, and the new one.
func (l *clutterLikelihood) evaluate(c int, moved []int32, places, at []point, out []float32) (sum float64) {
	each := len(places) / len(moved)
	for i, r := range moved {
		if l.all || l.cells.nodes[l.cells.leaves[c]].near(places[i*each:(i+1)*each], l.reach) {
			sum = l.term(int32(c), r, at, out, out[int(r)*perChunk:][:perChunk])
		}
	}
	return sum
}

// term sets out to a target's terms of a chunk, and returns the chunk's sum with them in their row of terms.
func (l *clutterLikelihood) term(c, r int32, at []point, terms, out []float32) float64 {
	x, y := l.chunk(int(c))
	m := l.relative(at[r], l.middles[c])
	return lanes.MixtureTerm(x, y, m.x, m.y, l.c, terms, int(r), out)
}

// state returns a chunk's rows of terms.
func (l *clutterLikelihood) state(c int32) []float32 {
	n := l.targets * perChunk
	return l.terms[int(c)*n:][:n]
}
