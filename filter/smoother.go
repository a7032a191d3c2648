package filter

import (
	"errors"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/ssm"
)

// Smooth looks back over a linear Gaussian model (Rauch, Tung and Striebel 1965). filtered are the states of a Kalman filter after
// each scan, in order; the result is the law of each state given all scans. With m⁻, P⁻ predicted from (m, P) of scan k,
//
//	G = P Aᵀ (P⁻)⁻¹,   m_s = m + G (m_s⁺ − m⁻),   P_s = P + G (P_s⁺ − P⁻) Gᵀ,
//
// where ⁺ is the smoothed state of scan k+1. A singular P⁻ is inverted on its range, where the columns of A P are. The states' LogZ stay
// as they are.
func Smooth(m ssm.Linear, filtered []*State) ([]*State, error) {
	out := make([]*State, len(filtered))
	for k := len(filtered) - 1; k >= 0; k-- {
		st := *filtered[k]
		if st.Mean == nil || st.check() != nil {
			return nil, errors.New("a smoother needs the states of a Kalman filter")
		}
		out[k] = &st
		if k == len(filtered)-1 {
			continue
		}
		next, d := out[k+1], st.Dim
		mean, cov, a, err := predict(m, &st, &ssm.Scan{Time: filtered[k+1].Time})
		if err != nil {
			return nil, err
		}
		solve, err := solver(cov, d)
		if err != nil {
			return nil, err
		}
		gain := make([]float64, d*d) // G = (P⁻¹-solve of A P)ᵀ, row by row
		dense.MulT(gain, st.Cov, a, d)
		for i := range d {
			solve(gain[i*d : (i+1)*d])
		}
		for i, v := range next.Mean {
			mean[i] = v - mean[i]
		}
		for i, v := range next.Cov {
			cov[i] = v - cov[i]
		}
		shift, left, spread := make([]float64, d), make([]float64, d*d), make([]float64, d*d)
		dense.MulVec(shift, gain, mean)
		dense.Mul(left, gain, cov, d)
		dense.MulT(spread, left, gain, d)
		st.Mean, st.Cov = add(st.Mean, shift), add(st.Cov, spread)
		dense.Symmetrise(st.Cov, d)
	}
	return out, nil
}

// solver returns the function that replaces x by the inverse of a covariance, times x.
func solver(cov []float64, d int) (func(x []float64), error) {
	factor := append([]float64(nil), cov...)
	if dense.Cholesky(factor, d) && !dense.Singular(factor, d) {
		return func(x []float64) { dense.Solve(factor, x) }, nil
	}
	s, ok := dense.NewSemidefinite(cov, d)
	if !ok {
		return nil, errors.New("the covariance of a predicted state is not positive semidefinite")
	}
	return s.Solve, nil
}
