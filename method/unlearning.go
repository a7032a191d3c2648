package method

import (
	"context"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/uq"
)

// IslandTrace is what a line of the trace of islands has.
type IslandTrace struct {
	Trace `yaml:",inline"`

	// Unlearning adds the scores of Unlearning to every line. No state depends on them. A line costs two passes over the validation
	// examples and one over the training examples, for each particle.
	Unlearning bool `yaml:"unlearning,omitempty"`
}

// Unlearning is the unlearning trace (smc-sghmc-ensembles, appendix E): the mean NLL of the training and of the validation examples, of
// single particles and of the island's weighted ensemble. A network that was trained too long has a training NLL far below that of the
// validation examples; when it unlearns, the training NLL rises, and the validation NLL stays or falls. Numbers are in nats, of targets in
// their own units.
type Unlearning struct {
	Train         uq.Number  `json:"train_nll"`                  // of a particle, mean over the particles alive, without their weights
	TrainEnsemble uq.Number  `json:"train_nll_ensemble"`         // of the weighted mean of their predictions
	Val           *uq.Number `json:"val_nll,omitempty"`          // the same on the validation examples; nil without them
	ValEnsemble   *uq.Number `json:"val_nll_ensemble,omitempty"` // equal to val_nll of the line
}

// checkWithin refuses the scores where particles are not evaluated on all training examples, at the parameters that they share now.
func (t IslandTrace) checkWithin(m SMC, at string, f *config.Faults) {
	if !t.Unlearning {
		return
	}
	if !m.Path.Evidence().Every {
		f.Conflict([]string{at + ".trace.unlearning", at + ".path"},
			"compares the particles on all training examples, which only path full evaluates in every iteration: take path full, or leave unlearning out")
	}
	if m.Learn != nil {
		f.Conflict([]string{at + ".trace.unlearning", at + ".learn"},
			"the layers that are learned move after the particles are evaluated: leave unlearning out, or learn")
	}
}

// unlearned scores the present state. LL of a path that passes checkWithin is of all training examples.
func (p *island) unlearned(ctx context.Context) (u *Unlearning, err error) {
	st, examples := p.state, p.job.Data.Train
	u = new(Unlearning)
	alive := p.alive()
	for _, j := range alive {
		u.Train -= uq.Number(st.LL[j])
	}
	u.Train = uq.Number(eval.LogScale(p.job.Data)) + u.Train/uq.Number(len(alive)*examples.Len())
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
		e, err := bnn.Combine(p.job.Net, []bnn.Island{{Theta: st.Theta[j*st.D : (j+1)*st.D], Shared: p.shared(st.Psi, 1)}}, bnn.Equal{})
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
