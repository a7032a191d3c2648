package smc

import (
	"fmt"
	"math"
)

// checkMoved refuses values that a move must not keep (mcmc.Model). The moves of package mcmc keep none, a program's own might.
func (s *Sampler) checkMoved(st *State) error {
	for j, l := range st.LL {
		if l < math.Inf(1) {
			continue
		}
		broken := st.Broken(s.Model)
		if broken != "" {
			broken = ", where " + broken
		}
		return fmt.Errorf("the move left particle %d at log-likelihood %v%s: a move must reject a proposal whose log-likelihood is NaN or +Inf", j, l, broken)
	}
	return nil
}

// died adds to the error of weights that cannot be normalised what the parameters are, and what to change. Moves put a particle that
// dies back to where it was, so its parameters are finite and only the likelihood says what happened.
func (s *Sampler) died(st *State, err error) error {
	what := st.Broken(s.Model)
	if what == "" {
		what = "all parameters are finite"
	}
	mend := "more particles, or a prior or start where the model is defined"
	if !s.weighting().Early() {
		mend = fmt.Sprintf("a smaller step of %v", s.Move)
	}
	if s.Learn != nil {
		largest := 0
		for i, x := range st.Psi {
			if math.Abs(x) > math.Abs(st.Psi[largest]) {
				largest = i
			}
		}
		what += fmt.Sprintf(", the largest of those that are learned is %s at %.3g", s.learned().LearnedName(largest), st.Psi[largest])
		mend += fmt.Sprintf(", or a smaller rate in learn (%v)", s.Learn)
	}
	return fmt.Errorf("%w; %s: take %s", err, what, mend)
}
