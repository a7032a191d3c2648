//go:build !purego

package lanes

import "unsafe"

// This file chooses the assembly for a plan. Where AVX2 has too few registers for a tile, several calls of a smaller
// kernel compute its parts.

func gemmKernelFor(k isa, mode gemmMode, m, n int) gemmKernel {
	switch {
	case k == isaAVX512 && mode == gemmMaxPool:
		return gemmMaxPoolAVX512[m]
	case k == isaAVX512 && mode == gemmMeanPool:
		return gemmMeanPoolAVX512[m]
	case k == isaAVX512:
		return gemmAVX512[m][n]
	case k == isaAVX2 && mode == gemmMaxPool:
		return gemmMaxPoolAVX2[m]
	case k == isaAVX2 && mode == gemmMeanPool:
		return gemmMeanPoolAVX2[m]
	case k == isaAVX2:
		return gemmAVX2[m][n]
	}
	return nil
}

// Kernels by rows and vectors.
var (
	gemmAVX512 = [9][5]gemmKernel{
		1: {1: gemm1x1AVX512, 2: gemm1x2AVX512, 4: gemm1x4AVX512},
		2: {1: gemm2x1AVX512, 2: gemm2x2AVX512, 4: gemm2x4AVX512},
		3: {1: gemm3x1AVX512, 2: gemm3x2AVX512, 4: gemm3x4AVX512},
		4: {1: gemm4x1AVX512, 2: gemm4x2AVX512, 4: gemm4x4AVX512},
		5: {1: gemm5x1AVX512, 2: gemm5x2AVX512, 4: gemm5x4AVX512},
		6: {1: gemm6x1AVX512, 2: gemm6x2AVX512, 4: gemm6x4AVX512},
		8: {1: gemm8x1AVX512, 2: gemm8x2AVX512},
	}
	gemmAVX2 = [9][5]gemmKernel{
		1: {1: gemm1x1AVX2, 2: gemm1x2AVX2, 4: gemm1x4AVX2},
		2: {1: gemm2x1AVX2, 2: gemm2x2AVX2, 4: gemm2x2AVX2},
		3: {1: gemm3x1AVX2, 2: gemm3x2AVX2, 4: gemm3x2AVX2},
		4: {1: gemm4x1AVX2, 2: gemm4x1AVX2, 4: gemm4x1AVX2},
		5: {1: gemm5x1AVX2, 2: gemm5x1AVX2, 4: gemm5x1AVX2},
		6: {1: gemm6x1AVX2, 2: gemm6x1AVX2, 4: gemm6x1AVX2},
		8: {1: gemm8x1AVX2, 2: gemm8x1AVX2},
	}
	gemmMaxPoolAVX512  = [7]gemmKernel{1: gemmMaxPool1AVX512, gemmMaxPool2AVX512, gemmMaxPool3AVX512, gemmMaxPool4AVX512, gemmMaxPool5AVX512, gemmMaxPool6AVX512}
	gemmMaxPoolAVX2    = [7]gemmKernel{1: gemmMaxPool1AVX2, gemmMaxPool2AVX2, gemmMaxPool3AVX2, gemmMaxPool4AVX2, gemmMaxPool5AVX2, gemmMaxPool6AVX2}
	gemmMeanPoolAVX512 = [7]gemmKernel{1: gemmMeanPool1AVX512, gemmMeanPool2AVX512, gemmMeanPool3AVX512, gemmMeanPool4AVX512, gemmMeanPool5AVX512, gemmMeanPool6AVX512}
	gemmMeanPoolAVX2   = [7]gemmKernel{1: gemmMeanPool1AVX2, gemmMeanPool2AVX2, gemmMeanPool3AVX2, gemmMeanPool4AVX2, gemmMeanPool5AVX2, gemmMeanPool6AVX2}
)

type (
	dotKernel     = func(pairs *int32, count int, dy, x, acc *float32, streams *int32, dyStride, accStride int)
	poolDotKernel = func(pairs *int32, count int, dy *float32, masks *uint16, x, acc *float32, streams, window *int32, dyStride, accStride int)
)

var (
	dotAVX512 = [5][7]dotKernel{
		1: {1: dot1x1AVX512, dot1x2AVX512, dot1x3AVX512, dot1x4AVX512, dot1x5AVX512, dot1x6AVX512},
		2: {1: dot2x1AVX512, dot2x2AVX512, dot2x3AVX512, dot2x4AVX512, dot2x5AVX512, dot2x6AVX512},
		4: {1: dot4x1AVX512, dot4x2AVX512, dot4x3AVX512, dot4x4AVX512, dot4x5AVX512, dot4x6AVX512},
	}
	// rows of dy and halves of a vector that the AVX2 kernel takes, 12 accumulators or fewer
	dotAVX2 = [5][7]struct {
		kernel     dotKernel
		rows, half int
	}{
		1: {1: {dot1x1AVX2, 1, 2}, {dot1x2AVX2, 1, 2}, {dot1x3AVX2, 1, 2}, {dot1x4AVX2, 1, 2}, {dot1x5AVX2, 1, 2}, {dot1x6AVX2, 1, 2}},
		2: {1: {dot2x1AVX2, 2, 2}, {dot2x2AVX2, 2, 2}, {dot2x3AVX2, 2, 2}, {dot2x4AVX2, 2, 1}, {dot2x5AVX2, 2, 1}, {dot2x6AVX2, 2, 1}},
		4: {1: {dot4x1AVX2, 4, 2}, {dot4x2AVX2, 4, 1}, {dot4x3AVX2, 4, 1}, {dot2x4AVX2, 2, 1}, {dot2x5AVX2, 2, 1}, {dot2x6AVX2, 2, 1}},
	}
	poolDotAVX512 = [3][10]poolDotKernel{
		1: {1: poolDot1x1AVX512, poolDot1x2AVX512, poolDot1x3AVX512, 5: poolDot1x5AVX512, 8: poolDot1x8AVX512, poolDot1x9AVX512},
		2: {1: poolDot2x1AVX512, poolDot2x2AVX512, poolDot2x3AVX512, 5: poolDot2x5AVX512, 8: poolDot2x8AVX512, poolDot2x9AVX512},
	}
	// one row and one half of the lanes
	poolDotAVX2 = [10]poolDotKernel{1: poolDot1x1AVX2, poolDot1x2AVX2, poolDot1x3AVX2, 5: poolDot1x5AVX2, 8: poolDot1x8AVX2, poolDot1x9AVX2}
)

func (d *Dot) assembly(pairs []int32, dy, x, acc []float32) bool {
	switch current {
	case isaAVX512:
		dotAVX512[d.m][d.n](&pairs[0], len(pairs)/2, &dy[0], &x[0], &acc[0], &d.streams[0], d.dyStride, d.accStride)
	case isaAVX2:
		part := &dotAVX2[d.m][d.n]
		for i := 0; i < d.m; i += part.rows {
			u, a := dy[i*d.dyStride/4:], acc[i*d.accStride/4:]
			for l := 0; l < Lanes; l += part.half * Lanes / 2 {
				part.kernel(&pairs[0], len(pairs)/2, &u[l], &x[l], &a[l], &d.streams[0], d.dyStride, d.accStride)
			}
		}
	default:
		return false
	}
	return true
}

func (d *PoolDot) assembly(pairs []int32, dy []float32, masks []uint16, x, acc []float32) bool {
	switch current {
	case isaAVX512:
		poolDotAVX512[d.m][d.n](&pairs[0], len(pairs)/2, &dy[0], &masks[0], &x[0], &acc[0],
			&d.streams[0], &d.window[0], d.dyStride, d.accStride)
	case isaAVX2:
		for i := range d.m {
			u, k, a := dy[i*d.dyStride/4:], masks[i*d.dyStride/16:], acc[i*d.accStride/4:]
			poolDotAVX2[d.n](&pairs[0], len(pairs)/2, &u[0], &k[0], &x[0], &a[0], &d.streams[0], &d.window[0], 0, 0)
			high := (*uint16)(unsafe.Add(unsafe.Pointer(&k[0]), 1)) // the masks' second bytes: lanes 8 to 15
			poolDotAVX2[d.n](&pairs[0], len(pairs)/2, &u[8], high, &x[8], &a[8], &d.streams[0], &d.window[0], 0, 0)
		}
	default:
		return false
	}
	return true
}

// poolMasksAssembly and reduceAddAssembly return how many vectors they processed: a multiple of four.

const vectorsPerCall = 1 << 16

func poolMasksAssembly(masks []uint16) int {
	n := len(masks) / 16 * 4
	if current == isaGo {
		return 0
	}
	for k := 0; k < n; k += vectorsPerCall {
		poolMasksAVX2(&masks[4*k], min(n-k, vectorsPerCall)/4)
	}
	return n
}

func reduceAddAssembly(acc, sums []float32) int {
	n := len(sums) / 4 * 4
	if current == isaGo {
		return 0
	}
	for k := 0; k < n; k += vectorsPerCall {
		reduceAddAVX2(&acc[k*Lanes], &sums[k], min(n-k, vectorsPerCall)/4)
	}
	return n
}

func peakAssembly(iters int) float64 {
	const unrolled = 4
	switch current {
	case isaAVX512:
		peakAVX512(iters)
		return 2 * Lanes * 24 * unrolled * float64(iters)
	case isaAVX2:
		peakAVX2(iters)
		return 2 * Lanes / 2 * 14 * unrolled * float64(iters)
	}
	return 0
}
