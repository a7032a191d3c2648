package method

import (
	"context"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// unlearned scores the present state. LL of a path that passes checkWithin is of all training examples.
func (p *island) unlearned(ctx context.Context) (u *Unlearning, err error) {
	st, examples := p.state, p.job.Data.Train
	u = new(Unlearning)
	alive := p.alive()
	for _, j := range alive {
		u.Train -= uq.Number(st.LL[j])
	}
	u.Train = uq.Number(eval.LogScale(p.job.Data, examples)) + u.Train/uq.Number(len(alive)*examples.Len())
	_, train, _, err := p.score(ctx, st, examples)
	if err != nil {
		return nil, err
	}
	u.TrainEnsemble = *train
	set := p.job.Data.Validate
	if set == nil {
		return u, nil
	}
	u.Val = new(uq.Number)
	for _, j := range alive {
		e, err := bnn.Combine(p.job.Net, []bnn.Island{{Theta: st.Theta[j*st.D : (j+1)*st.D], Shared: st.Psi}}, bnn.Equal{})
		if err != nil {
			return nil, err
		}
		one, _, err := eval.Validation(ctx, e, set, p.job.Data, p.job.Pool)
		if err != nil {
			return nil, err
		}
		*u.Val += one / uq.Number(len(alive))
	}
	if p.judged != st.K || st.K == 0 {
		_, err = p.judge(ctx, st)
	}
	u.ValEnsemble = p.nll
	return u, err
}

// alive lists the particles that have a weight.
func (p *island) alive() (alive []int) {
	for j, l := range p.state.LogW {
		if !math.IsInf(l, -1) {
			alive = append(alive, j)
		}
	}
	return alive
}
