package report

import (
	"math/bits"

	"github.com/starling-smc/starling/internal/rng"
)

// thinning keeps some of the values of a stream of any length: all while there are few, and of many one of each stretch of values that follow one
// another, as well as the first and the last. When there are most, each two stretches become one. Which value of a stretch is kept is drawn at
// random: where two sensors take turns, every second value is of one of them. The draws have keys, so that the same values are kept whenever
// they are read. A value is made only if it is kept.
type thinning[T any] struct {
	most  int // a power of two: of a long stream between half as many and so many are kept
	each  int // values in a stretch; 0 before the first
	n     int // values so far
	list  []placed[T]
	first T        // the first
	last  func() T // makes the last
	next  int      // the value of the present stretch that is kept
}

type placed[T any] struct {
	at    int
	value T
}

// add adds the next value, which of makes.
func (t *thinning[T]) add(of func() T) {
	if t.n == 0 {
		t.each, t.first = 1, of()
	}
	if t.n%t.each == 0 { // a stretch begins
		if len(t.list) == t.most {
			t.halve()
		}
		t.next = t.n + int(t.draw(t.n/t.each)*float64(t.each))
	}
	if t.n == t.next {
		t.list = append(t.list, placed[T]{t.n, of()})
	}
	t.last = of
	t.n++
}

// halve makes each two stretches one.
func (t *thinning[T]) halve() {
	t.each *= 2
	kept := t.list[:0]
	for i := 0; i < len(t.list); i += 2 {
		one := i
		if t.draw(i/2) >= 0.5 {
			one++
		}
		kept = append(kept, t.list[one])
	}
	clear(t.list[len(kept):])
	t.list = kept
}

// draw is a number from 0 to 1 for a stretch of the present length.
func (t *thinning[T]) draw(stretch int) float64 {
	return rng.Key{Purpose: rng.Thin, Island: bits.TrailingZeros(uint(t.each)), Iteration: stretch}.Stream().Float64()
}

// all lists the values that are kept.
func (t *thinning[T]) all() (list []T) {
	if t.n == 0 {
		return nil
	}
	if t.list[0].at > 0 {
		list = append(list, t.first)
	}
	for _, v := range t.list {
		list = append(list, v.value)
	}
	if t.list[len(t.list)-1].at < t.n-1 {
		list = append(list, t.last())
	}
	return list
}
