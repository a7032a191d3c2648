package lanes

// The kernels of this file are the arithmetic of leapfrogs and of normal priors, in double precision. No multiplication is fused with an
// addition.

// AddScaled is
//
//	dst[i] = x[i] + a*y[i]
//
// dst may be x or y.
func AddScaled(dst, x []float64, a float64, y []float64) {
	sameLen("AddScaled", len(dst), len(x))
	sameLen("AddScaled", len(dst), len(y))
	x, y = x[:len(dst)], y[:len(dst)]
	for i := addScaledAssembly(dst, x, a, y); i < len(dst); i++ {
		dst[i] = x[i] + float64(a*y[i])
	}
}

// Kick is
//
//	momentum[i] += h*(lambda*slope[i] + prior[i])
func Kick(momentum []float64, h, lambda float64, slope, prior []float64) {
	sameLen("Kick", len(momentum), len(slope))
	sameLen("Kick", len(momentum), len(prior))
	slope, prior = slope[:len(momentum)], prior[:len(momentum)]
	for i := kickAssembly(momentum, h, lambda, slope, prior); i < len(momentum); i++ {
		momentum[i] += float64(h * (float64(lambda*slope[i]) + prior[i]))
	}
}

// Squares is Σ x[i]². It sums every fourth term on its own, so that additions need not wait for each other, and adds the sums as
// (sum 0 + sum 1) + (sum 2 + sum 3).
func Squares(x []float64) float64 {
	var sums [4]float64
	for i := squaresAssembly(x, &sums); i < len(x); i++ {
		sums[i&3] += float64(x[i] * x[i])
	}
	return sums[0] + sums[1] + (sums[2] + sums[3])
}

// NormalSquares is Σ d·(d·precision[i]), where d = theta[i] − mean[i]. It sums even and odd terms on their own.
func NormalSquares(theta, mean, precision []float64) float64 {
	sameLen("NormalSquares", len(theta), len(mean))
	sameLen("NormalSquares", len(theta), len(precision))
	mean, precision = mean[:len(theta)], precision[:len(theta)]
	var sums [2]float64
	i := normalSquaresAssembly(theta, mean, precision, &sums)
	even, odd := sums[0], sums[1]
	for ; i < len(theta); i++ {
		d := theta[i] - mean[i]
		even, odd = odd, even+float64(d*float64(d*precision[i]))
	}
	return even + odd
}

// NormalGradient is
//
//	grad[i] = −((theta[i] − mean[i])·precision[i])
//
// grad may be theta.
func NormalGradient(theta, mean, precision, grad []float64) {
	sameLen("NormalGradient", len(theta), len(mean))
	sameLen("NormalGradient", len(theta), len(precision))
	sameLen("NormalGradient", len(theta), len(grad))
	mean, precision, grad = mean[:len(theta)], precision[:len(theta)], grad[:len(theta)]
	for i := normalGradientAssembly(theta, mean, precision, grad); i < len(theta); i++ {
		grad[i] = -float64((theta[i] - mean[i]) * precision[i])
	}
}
