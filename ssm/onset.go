package ssm

import "github.com/starling-smc/starling/internal/dense"

// Onset is the law of the state at the first scan, where it starts at N(m, P) and moves by x ~ N(A·from, Q): N(A m, A P Aᵀ + Q), as a transition from
// m. It takes the place of a start drawn as particles: none of them need be near the first measurements.
func Onset(start GaussianStart, tr Gaussian) (mean []float64, onset Transition, err error) {
	mean, cov := start.StartMoments()
	a, q := tr.Gaussian()
	d := len(mean)
	half, sum := make([]float64, d*d), make([]float64, d*d)
	dense.Mul(half, a, cov, d)
	dense.MulT(sum, half, a, d)
	for i, v := range q {
		sum[i] += v
	}
	dense.Symmetrise(sum, d)
	onset, err = newGaussian(a, sum, d)
	return mean, onset, err
}
