package eval

import (
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
