package eval

import "github.com/starling-smc/starling/bnn"

// OfIslands are the ensembles with some islands of the posterior alone (bnn.Ensemble.OfIslands). A decision and a record of chains are of all
// islands, so that there is none.
func (e *Ensembles) OfIslands(which []int, by bnn.Combination) (*Ensembles, error) {
	some := *e
	some.Chains, some.Decision, some.Precision = nil, nil, e.Precision.of(which)
	var err error
	some.Posterior, err = e.Posterior.OfIslands(which, by)
	return &some, err
}

// of is the precision of some islands; nil if that of all is not known.
func (p *Precision) of(which []int) *Precision {
	if p == nil {
		return nil
	}
	some := new(Precision)
	for _, island := range which {
		some.SD, some.Ladder = append(some.SD, p.SD[island]), append(some.Ladder, p.Ladder[island])
	}
	return some
}
