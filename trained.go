package starling

import (
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// testTrains counts the test examples that a run learns from, where they come from a file of their own. p are the run's data.
func testTrains(s Spec, p *data.Problem) int {
	if s.Method.Needs().Whole || !s.Data.OwnTest() || p.Test == nil {
		return 0
	}
	return among(p.Test, p.Train)
}

// among counts the examples of a set that train. Chance can make rows of few values equal. So the count is 0 unless the 95 % interval of its
// share lies above the 95 % interval of another share: that of the training examples which equal another training example.
func among(set, train *data.Set) int {
	n, repeated := set.Among(train)
	if byChance(n, set.Len(), repeated, train.Len()) {
		return 0
	}
	return n
}

// byChance reports whether n of some examples may equal others by chance, since so many of the others repeat each other.
func byChance(n, of, repeated, others int) bool {
	low, _ := uq.Wilson(float64(n), float64(of))
	_, chance := uq.Wilson(float64(repeated), float64(others))
	return low <= chance
}
