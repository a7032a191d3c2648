package eval

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/uq"
)

// Members are the scores of some of a posterior's members on the test examples: of the M that were kept last
// (bnn.Ensemble.Last), or of all.
type Members struct {
	M        int       `json:"m"`
	Accuracy uq.Number `json:"accuracy"`
	NLL      uq.Number `json:"nll"`
	ECE      uq.Number `json:"ece"`
}

// manyMembers is the number of members above which an evaluation says unasked what fewer of them would score.
const manyMembers = 10

// memberCounts are the numbers of members to score beside all of them (Millard et al., table 5, and a single one): none for a
// regression or, unasked, for few members.
func memberCounts(e *bnn.Ensemble, asked bool) (counts []int) {
	all := e.Alive()
	if e.Net.Likelihood().Regression() || all <= manyMembers && !asked {
		return nil
	}
	for _, m := range []int{1, 5, 10, 20, 30} {
		if m < all {
			counts = append(counts, m)
		}
	}
	return counts
}

// last is an ensemble with the weights of the m members that were kept last.
func last(e *bnn.Ensemble, m int) *bnn.Ensemble {
	some := *e
	some.LogWeights = e.Last(m)
	return &some
}

// lasts are the weightings under which so many members count.
func lasts(e *bnn.Ensemble, counts []int) (logWeights [][]float64) {
	for _, m := range counts {
		logWeights = append(logWeights, e.Last(m))
	}
	return logWeights
}

// membersTable makes a row of each score, and a last one of all members.
func membersTable(counts []int, scores []Evaluation, all int, whole Evaluation) (rows []Members) {
	if counts == nil {
		return nil
	}
	add := func(m int, s Evaluation) { rows = append(rows, Members{m, *s.Accuracy, s.NLL, *s.ECE}) }
	for i, m := range counts {
		add(m, scores[i])
	}
	add(all, whole)
	return rows
}
