//go:build !purego

package lanes

// eights calls f for blocks of eight of n numbers, in calls of bounded length, and returns how many numbers they hold.
func eights(n int, f func(from, blocks int)) int {
	if current == isaGo {
		return 0
	}
	n &^= 7
	for i := 0; i < n; i += vectorsPerCall {
		f(i, min(n-i, vectorsPerCall)/8)
	}
	return n
}

func addScaledAssembly(dst, x []float64, a float64, y []float64) int {
	return eights(len(dst), func(i, blocks int) { addScaledAVX2(&dst[i], &x[i], &y[i], blocks, a) })
}

func kickAssembly(momentum []float64, h, lambda float64, slope, prior []float64) int {
	return eights(len(momentum), func(i, blocks int) { kickAVX2(&momentum[i], &slope[i], &prior[i], blocks, h, lambda) })
}

func squaresAssembly(x []float64, sums *[4]float64) int {
	return eights(len(x), func(i, blocks int) { squaresAVX2(&x[i], blocks, &sums[0]) })
}

func normalSquaresAssembly(theta, mean, precision []float64, sums *[2]float64) int {
	return eights(len(theta), func(i, blocks int) { normalSquaresAVX2(&theta[i], &mean[i], &precision[i], blocks, &sums[0]) })
}

func normalGradientAssembly(theta, mean, precision, grad []float64) int {
	return eights(len(theta), func(i, blocks int) { normalGradientAVX2(&theta[i], &mean[i], &precision[i], &grad[i], blocks) })
}
