//go:build !purego

package lanes

// The kernels are called by name: arguments of a call through a variable would move to the heap.

func squareSumAssembly(y []float32, stride, n int, mean []float64) (sum float32, ok bool) {
	last := vectorsOf(n) - 1
	mask := &laneMask[Lanes-(n-last*Lanes)]
	switch current {
	case isaAVX512:
		squareSumAVX512(&y[0], 4*stride, last, len(mean), &mean[0], mask, &sum)
	case isaAVX2:
		squareSumAVX2(&y[0], 4*stride, last, len(mean), &mean[0], mask, &sum)
	default:
		return 0, false
	}
	return sum, true
}

func normalTermsAssembly(m []float32, stride, n int, x, terms []float32, sum *float32) bool {
	last := vectorsOf(n) - 1
	mask := &laneMask[Lanes-(n-last*Lanes)]
	switch current {
	case isaAVX512:
		normalTermsAVX512(&m[0], 4*stride, len(x), &x[0], &terms[0], last, mask, sum)
	case isaAVX2:
		normalTermsAVX2(&m[0], 4*stride, len(x), &x[0], &terms[0], last, mask, sum)
	default:
		return false
	}
	return true
}

func mixtureTermAssembly(x, y []float32, mx, my float64, peak float32, terms []float32, before, after int,
	out []float32) (sum float64, ok bool) {
	vectors := len(x) / Lanes
	switch current {
	case isaAVX512:
		mixtureTermAVX512(&x[0], &y[0], &terms[0], &out[0], vectors, before, after, mx, my, peak, &sum)
	case isaAVX2:
		mixtureTermAVX2(&x[0], &y[0], &terms[0], &out[0], vectors, before, after, mx, my, peak, &sum)
	default:
		return 0, false
	}
	return sum, true
}
