package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// Set implements Incremental.
func (l *clutterLikelihood) Set(x []float64) {
	positions(x, l.at)
	copy(l.trial, l.at)
	clear(l.terms)
	clear(l.sums)
	l.whole = l.near(l.at, l.whole[:0])
	for _, c := range l.whole {
		l.sums[c] = l.evaluate(int(c), l.every, l.at, l.at, l.state(c))
	}
	l.bareSum = l.barely(l.at)
	l.moved, l.touched, l.trialBar = l.moved[:0], l.touched[:0], l.bareSum
}

// Try implements Incremental.
func (l *clutterLikelihood) Try(x []float64, block Block) float64 {
	copy(l.trial, l.at)
	l.moved, l.places = l.moved[:0], l.places[:0]
	ok := true
	for r := block.From / 4; r < min((block.To+3)/4, l.targets); r++ {
		p, number := position(x, r)
		ok = ok && number
		if p != l.at[r] {
			l.trial[r] = p
			l.moved, l.places = append(l.moved, int32(r)), append(l.places, l.at[r], p)
		}
	}
	if len(l.moved) == 0 { // the likelihood does not depend on velocities
		l.touched, l.trialBar = l.touched[:0], l.bareSum
		l.skipped += int64(len(l.z))
		return 0
	}
	l.touched = l.near(l.places, l.touched[:0])
	n := len(l.touched)
	if m := n * l.rowsMoved() * perChunk; m > len(l.fresh) {
		l.fresh = lanes.Make(m)
	}
	if n > len(l.trialSums) {
		l.trialSums, l.row = make([]float64, n), make([]int32, n)
	}
	if l.pool == nil || n <= alone {
		l.try(0, n)
	} else {
		l.pool.Run((n+chunksEach-1)/chunksEach, func(i int) { l.try(i*chunksEach, min((i+1)*chunksEach, n)) })
	}
	difference := 0.0
	for i, c := range l.touched {
		difference += l.trialSums[i] - l.sums[c]
	}
	l.trialBar = l.barely(l.trial)
	if !ok {
		return math.Inf(-1)
	}
	return difference + (l.trialBar - l.bareSum)
}

const (
	alone      = 256 // chunks that one thread evaluates alone: some 45 µs, against which waking another thread is short
	chunksEach = 32  // chunks that one of several threads takes at a time
)

// rowsMoved is the number of rows of terms that a trial keeps for each chunk.
func (l *clutterLikelihood) rowsMoved() int {
	if len(l.moved) > 1 {
		return l.targets
	}
	return 1
}

// try evaluates some of the chunks touched. Mostly one target alone is within reach of a chunk: then its row is all that changes.
func (l *clutterLikelihood) try(from, to int) {
	rows := l.rowsMoved() * perChunk
	for i := from; i < to; i++ {
		c := l.touched[i]
		terms, out := l.state(c), l.fresh[i*rows:][:rows]
		if l.row[i] = l.only(c); l.row[i] >= 0 {
			l.trialSums[i] = l.term(c, l.row[i], l.trial, terms, out[:perChunk])
			continue
		}
		copy(out, terms)
		l.trialSums[i] = l.evaluate(int(c), l.moved, l.places, l.trial, out)
	}
}

// only returns the target that is the only one moved within reach of a chunk; −1 if there are several.
func (l *clutterLikelihood) only(c int32) int32 {
	if len(l.moved) == 1 {
		return l.moved[0]
	}
	if l.all {
		return -1
	}
	row, leaf := int32(-1), &l.cells.nodes[l.cells.leaves[c]]
	for i, r := range l.moved {
		if !leaf.near(l.places[2*i:2*i+2], l.reach) {
			continue
		}
		if row >= 0 {
			return -1
		}
		row = r
	}
	return row
}

// Keep implements Incremental.
func (l *clutterLikelihood) Keep() {
	rows := l.rowsMoved() * perChunk
	for i, c := range l.touched {
		l.sums[c] = l.trialSums[i]
		terms, fresh := l.state(c), l.fresh[i*rows:][:rows]
		if r := int(l.row[i]); r >= 0 {
			terms, fresh = terms[r*perChunk:], fresh[:perChunk]
		}
		copy(terms, fresh)
	}
	copy(l.at, l.trial)
	l.bareSum, l.moved, l.touched = l.trialBar, l.moved[:0], l.touched[:0]
}
