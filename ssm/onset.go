package ssm

import "github.com/starling-smc/starling/internal/dense"

// Propagate returns the moments of x ~ N(A·from, Q), where those of from are given: A m and A P Aᵀ + Q.
func Propagate(tr Gaussian, mean, cov []float64) (moved, spread []float64) {
	a, q := tr.Gaussian()
	d := len(mean)
	moved, spread = make([]float64, d), make([]float64, d*d)
	half := make([]float64, d*d)
	dense.MulVec(moved, a, mean)
	dense.Mul(half, a, cov, d)
	dense.MulT(spread, half, a, d)
	for i, v := range q {
		spread[i] += v
	}
	dense.Symmetrise(spread, d)
	return moved, spread
}

// Onset is the law of the state at the first scan, where it starts at N(m, P) and moves by x ~ N(A·from, Q): N(A m, A P Aᵀ + Q), as a transition from
// m. It takes the place of a start drawn as particles: none of them need be near the first measurements.
func Onset(start GaussianStart, tr Gaussian) (mean []float64, onset Transition, err error) {
	mean, cov := start.StartMoments()
	_, spread := Propagate(tr, mean, cov)
	a, _ := tr.Gaussian()
	onset, err = newGaussian(a, spread, len(mean))
	return mean, onset, err
}
