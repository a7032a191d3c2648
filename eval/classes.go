package eval

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// AllClasses are the scores of all examples of a set that has classes which the network does not have: their examples count as
// wrong. The other scores of an evaluation are of the examples of shared classes alone.
type AllClasses struct {
	N        int       `json:"n"`
	Accuracy uq.Number `json:"accuracy"`
	NLL      uq.Number `json:"nll"` // −ln of the probability of Class where the network does not have the class; infinite without Class
	ECE      uq.Number `json:"ece"`
	Class    *int32    `json:"loss_class,omitempty"` // data.Unshared.Class
}

// ByClass are the scores of the answers for one class.
type ByClass struct {
	Class string `json:"class"` // its name, or its number if classes have none
	uq.ClassScore
}

// byClass scores the prediction for a set of examples for each class; nil without a prediction.
func byClass(p *uq.Predictive, set *data.Set) (scores []ByClass) {
	if p == nil {
		return nil
	}
	for c, s := range uq.ByClass(p.Probs, p.Classes, set.Labels) {
		scores = append(scores, ByClass{set.Class(int32(c)), s})
	}
	return scores
}

// groupsByClass are the mean entropies of the prediction for the examples of each class of a set; nil without a prediction.
func groupsByClass(p *uq.Predictive, set *data.Set) uq.Groups {
	if p == nil {
		return nil
	}
	names := make([]string, p.Classes)
	for c := range names {
		names[c] = set.Class(int32(c))
	}
	return uq.GroupsByClass(p, set.Labels, names)
}

// Weakest returns the scores by class, in their order, of the given number of classes that have the lowest F1, the first of equals. A
// class without examples and without answers has none: it comes last.
func (m *Metrics) Weakest(most int) []ByClass {
	order := make([]int, len(m.ByClass))
	for c := range order {
		order[c] = c
	}
	f1 := func(c int) float64 {
		if v := float64(m.ByClass[c].F1); v == v {
			return v
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f1(a), f1(b)) })
	var weakest []ByClass
	for _, c := range slices.Sorted(slices.Values(order[:min(most, len(order))])) {
		weakest = append(weakest, m.ByClass[c])
	}
	return weakest
}

// allClasses scores a posterior on examples of shared classes, whose prediction and labels are known, and on the others. It is nil
// where there are no others.
func allClasses(ctx context.Context, e *bnn.Ensemble, others *data.Unshared, shared *uq.Predictive, known []int32, p *pool.Pool) (*AllClasses, error) {
	if others == nil {
		return nil, nil
	}
	more, err := e.Predict(ctx, others.Set, p)
	if err != nil {
		return nil, err
	}
	classes := shared.Classes
	probs := slices.Concat(shared.Probs, more.Probs)
	wrong := slices.Concat(known, slices.Repeat([]int32{int32(classes)}, more.Len())) // no answer of the network is this class
	s := &AllClasses{
		N:        len(wrong),
		Accuracy: uq.Number(uq.Accuracy(probs, classes, wrong)),
		ECE:      uq.Number(uq.ECE(uq.Reliability(probs, classes, wrong, uq.Bins))),
		NLL:      uq.Number(math.Inf(1)),
	}
	if class := others.Class; class != data.NoClass {
		s.Class = &class
		s.NLL = uq.Number(uq.NLL(probs, classes, slices.Concat(known, slices.Repeat([]int32{class}, more.Len()))))
	}
	return s, nil
}
