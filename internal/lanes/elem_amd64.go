//go:build !purego

package lanes

// The functions of this file pass work to the assembly in calls of bounded length. Each returns how much was done: all of
// it, all but a rest that does not fill a block, or nothing.

type (
	unaryKernel  = func(x, y *float32, n int)
	binaryKernel = func(x, y, z *float32, n int) // of two inputs, or of one with two outputs
)

// unary runs a kernel that takes n registers in one call.
func unary(wide, half unaryKernel, x, y []float32) int {
	kernel, width := wide, Lanes
	switch current {
	case isaGo:
		return 0
	case isaAVX2:
		kernel, width = half, Lanes/2
	}
	for i := 0; i < len(x); i += maxCallVectors * Lanes {
		kernel(&x[i], &y[i], min(len(x)-i, maxCallVectors*Lanes)/width)
	}
	return len(x)
}

func binary(wide, half binaryKernel, x, y, z []float32) int {
	kernel, width := wide, Lanes
	switch current {
	case isaGo:
		return 0
	case isaAVX2:
		kernel, width = half, Lanes/2
	}
	for i := 0; i < len(x); i += maxCallVectors * Lanes {
		kernel(&x[i], &y[i], &z[i], min(len(x)-i, maxCallVectors*Lanes)/width)
	}
	return len(x)
}

func reluAssembly(x, y []float32) int  { return unary(reluAVX512, reluAVX2, x, y) }
func tanhAssembly(x, y []float32) int  { return unary(tanhAVX512, tanhAVX2, x, y) }
func geluAssembly(x, y []float32) int  { return unary(geluAVX512, geluAVX2, x, y) }
func swishAssembly(x, y []float32) int { return unary(swishAVX512, swishAVX2, x, y) }

func scaleAssembly(x []float32, c float32, y []float32) int {
	return unary(
		func(x, y *float32, n int) { scaleAVX512(x, y, n, c) },
		func(x, y *float32, n int) { scaleAVX2(x, y, n, c) }, x, y)
}

func reluBackwardAssembly(y, dy, dx []float32) int {
	return binary(reluBackwardAVX512, reluBackwardAVX2, y, dy, dx)
}

func multiplyDerivativeAssembly(d, dy, dx []float32) int {
	return binary(multiplyDerivativeAVX512, multiplyDerivativeAVX2, d, dy, dx)
}

func reluWithDerivativeAssembly(x, y, d []float32) int {
	return binary(reluWithDerivativeAVX512, reluWithDerivativeAVX2, x, y, d)
}

func tanhWithDerivativeAssembly(x, y, d []float32) int {
	return binary(tanhWithDerivativeAVX512, tanhWithDerivativeAVX2, x, y, d)
}

func geluWithDerivativeAssembly(x, y, d []float32) int {
	return binary(geluWithDerivativeAVX512, geluWithDerivativeAVX2, x, y, d)
}

func swishWithDerivativeAssembly(x, y, d []float32) int {
	return binary(swishWithDerivativeAVX512, swishWithDerivativeAVX2, x, y, d)
}

// cut divides r repeats of n groups into calls of at most limit groups, at least one: groups first%n … of the repeats from
// first/n on.
func cut(n, r, limit int, call func(first, groups, repeats int)) {
	limit = max(limit, 1)
	groups, some := n, limit/max(n, 1)
	if some == 0 {
		groups, some = limit, 1
	}
	for p := 0; p < r; p += some {
		for i := 0; i < n; i += groups {
			call(p*n+i, min(groups, n-i), min(some, r-p))
		}
	}
}

// halves calls f with the first lane of each register of a vector.
func halves(wide, half func(lane int)) {
	if current == isaAVX512 {
		wide(0)
	} else {
		half(0)
		half(Lanes / 2)
	}
}

// from is the address of element i, or nil for a nil slice.
func from(x []float32, i int) *float32 {
	if x == nil {
		return nil
	}
	return &x[i]
}

func bernoulliAssembly(z, y, ll, dz []float32) int {
	if current == isaGo || len(z) == 0 {
		return 0
	}
	kernel, width := bernoulliAVX512, Lanes
	if current == isaAVX2 {
		kernel, width = bernoulliAVX2, Lanes/2
	}
	n := len(y) / Lanes
	cut(n, len(z)/len(y), maxCallVectors, func(first, groups, repeats int) {
		i := first * Lanes
		kernel(&z[i], &y[first%n*Lanes], &ll[i], from(dz, i), groups*Lanes/width, repeats)
	})
	return len(z)
}

func categoricalAssembly(z []float32, label []int32, classes int, ll, dz []float32) int {
	if current == isaGo || len(z) == 0 {
		return 0
	}
	n, r := len(label)/Lanes, len(ll)/len(label)
	cut(n, r, maxCallVectors/classes, func(first, groups, repeats int) {
		i, t, o := first*classes*Lanes, first%n*Lanes, first*Lanes
		halves(func(int) {
			categoricalAVX512(&z[i], &label[t], &ll[o], from(dz, i), classes, groups, repeats)
		}, func(l int) {
			categoricalAVX2(&z[i+l], &label[t+l], &ll[o+l], from(dz, i+l), classes, groups, repeats)
		})
	})
	return n * r
}

func gaussianAssembly(z, y []float32, outputs int, prec, logNorm float32, ll, dz []float32) int {
	if current == isaGo || len(z) == 0 {
		return 0
	}
	n, r := len(y)/(outputs*Lanes), len(z)/len(y)
	cut(n, r, maxCallVectors/outputs, func(first, groups, repeats int) {
		i, t, o := first*outputs*Lanes, first%n*outputs*Lanes, first*Lanes
		halves(func(int) {
			gaussianAVX512(&z[i], &y[t], &ll[o], from(dz, i), outputs, groups, repeats, prec, -prec/2, logNorm)
		}, func(l int) {
			gaussianAVX2(&z[i+l], &y[t+l], &ll[o+l], from(dz, i+l), outputs, groups, repeats, prec, -prec/2, logNorm)
		})
	})
	return n * r
}

// laneMask[16−n:] masks all but the first n lanes.
var laneMask = func() (m [2 * Lanes]int32) {
	for i := range Lanes {
		m[i] = -1
	}
	return m
}()

func laneSumsAssembly(ll []float32, groups, valid int, sums []float64) int {
	if current == isaGo || groups > maxCallVectors {
		return 0
	}
	some := maxCallVectors / groups
	for p := 0; p < len(sums); p += some {
		laneSumsAVX2(&ll[p*groups*Lanes], groups, &laneMask[Lanes-valid], &sums[p], min(some, len(sums)-p))
	}
	return len(sums)
}

func sumRowsAssembly(x []float32, rows, cols, rowStride int, acc []float32) int {
	if current == isaGo || cols == 0 {
		return 0
	}
	four, one := sumRows4AVX512, sumRows1AVX512
	if current == isaAVX2 {
		four, one = sumRows4AVX2, sumRows1AVX2
	}
	for c := 0; c < cols; c += maxCallVectors {
		n := min(maxCallVectors, cols-c)
		some := max(maxCallVectors/(4*n), 1)
		r := 0
		for ; r+4 <= rows; r += 4 * some {
			some = min(some, (rows-r)/4)
			four(&x[r*rowStride+c*Lanes], &acc[r*Lanes], some, n, 4*rowStride)
		}
		if r < rows {
			one(&x[r*rowStride+c*Lanes], &acc[r*Lanes], rows-r, n, 4*rowStride)
		}
	}
	return rows
}

// blocks calls f for all blocks of size elements, a bounded number of blocks at a time, and returns the number of elements
// in these blocks.
func blocks(n, size int, f func(first, blocks int)) int {
	if current == isaGo {
		return 0
	}
	n -= n % size
	for i := 0; i < n; i += maxCallVectors * size {
		f(i, min(maxCallVectors, (n-i)/size))
	}
	return n
}

func float32sAssembly(dst []float32, src []float64) int {
	return blocks(len(dst), 16, func(i, n int) { float32sAVX2(&dst[i], &src[i], n) })
}

func addFloat64sAssembly(dst []float64, src []float32) int {
	return blocks(len(dst), 16, func(i, n int) { addFloat64sAVX2(&dst[i], &src[i], n) })
}

func loadU8Assembly(src []uint8, row *[Lanes]int, at []int32, c Channel, dst []float32) int {
	done := 0
	if current == isaAVX512 {
		done = blocks(len(at), 16, func(f, n int) { loadU8AVX512(&src[f], &row[0], &at[f], &dst[0], n, c.Mean, c.Factor) })
	}
	return done + blocks(len(at)-done, 8, func(f, n int) {
		loadU8AVX2(&src[done+f], &row[0], &at[done+f], &dst[0], n, c.Mean, c.Factor)
		loadU8AVX2(&src[done+f], &row[8], &at[done+f], &dst[8], n, c.Mean, c.Factor)
	})
}

func loadF32Assembly(src []float32, row *[Lanes]int, at []int32, c Channel, dst []float32) int {
	return blocks(len(at), 8, func(f, n int) {
		loadF32AVX2(&src[f], &row[0], &at[f], &dst[0], n, c.Mean, c.Factor)
		loadF32AVX2(&src[f], &row[8], &at[f], &dst[8], n, c.Mean, c.Factor)
	})
}

func loadF16Assembly(src []Float16, row *[Lanes]int, at []int32, c Channel, dst []float32) int {
	return blocks(len(at), 8, func(f, n int) {
		from := (*uint16)(&src[f])
		loadF16AVX2(from, &row[0], &at[f], &dst[0], n, c.Mean, c.Factor)
		loadF16AVX2(from, &row[8], &at[f], &dst[8], n, c.Mean, c.Factor)
	})
}

func standardiseAssembly(at []int32, s *Standard, dst []float32) int {
	return blocks(len(at), 1, func(f, n int) { standardiseAVX2(&at[f], &s.Mean[f], &s.SD[f], &dst[0], n, s.To) })
}

func transposeAssembly(x []float32, n int, dst []float32, dstStride int) int {
	return blocks(n, 8, func(i, n int) {
		transposeAVX2(&x[i*Lanes], &dst[i], 4*dstStride, n)
		transposeAVX2(&x[i*Lanes+8], &dst[i+8*dstStride], 4*dstStride, n)
	})
}

// calls cuts the outputs into calls for n outputs from o on, and for the two halves of a vector with AVX2. If all windows
// lie in the border, there is no buffer to point at.
func (w *Windows) calls(wide, half func(o, n, lane int)) int {
	if current == isaGo || w.k > maxCallVectors || w.inputs == 0 {
		return 0
	}
	outputs, some := w.outputs/Lanes, maxCallVectors/w.k
	for o := 0; o < outputs; o += some {
		n := min(some, outputs-o)
		halves(func(l int) { wide(o, n, l) }, func(l int) { half(o, n, l) })
	}
	return outputs
}

func (w *Windows) maxAssembly(x, y []float32, arg []int32) int {
	taps, k := w.taps, w.k
	return w.calls(
		func(o, n, _ int) { maxPoolAVX512(&x[0], &taps[o*k], &y[o*Lanes], &arg[o*Lanes], n, k) },
		func(o, n, l int) { maxPoolAVX2(&x[l], &taps[o*k], &y[o*Lanes+l], &arg[o*Lanes+l], n, k) })
}

func (w *Windows) maxBackwardAssembly(dy []float32, arg []int32, dx []float32) int {
	taps, k := w.taps, w.k
	return w.calls(
		func(o, n, _ int) { maxPoolBackwardAVX512(&dx[0], &taps[o*k], &dy[o*Lanes], &arg[o*Lanes], n, k) },
		func(o, n, l int) { maxPoolBackwardAVX2(&dx[l], &taps[o*k], &dy[o*Lanes+l], &arg[o*Lanes+l], n, k) })
}

func (w *Windows) sumAssembly(x []float32, scale float32, y []float32) int {
	taps, k := w.taps, w.k
	return w.calls(
		func(o, n, _ int) { sumPoolAVX512(&x[0], &taps[o*k], &y[o*Lanes], n, k, scale) },
		func(o, n, l int) { sumPoolAVX2(&x[l], &taps[o*k], &y[o*Lanes+l], n, k, scale) })
}

func (w *Windows) sumBackwardAssembly(dy []float32, scale float32, dx []float32) int {
	taps, k := w.taps, w.k
	return w.calls(
		func(o, n, _ int) { sumPoolBackwardAVX512(&dx[0], &taps[o*k], &dy[o*Lanes], n, k, scale) },
		func(o, n, l int) { sumPoolBackwardAVX2(&dx[l], &taps[o*k], &dy[o*Lanes+l], n, k, scale) })
}

func dropAssembly(x []float32, masks []uint16, c float32, y []float32) int {
	return blocks(len(masks), 1, func(i, n int) { dropAVX2(&x[i*Lanes], &masks[i], &y[i*Lanes], n, c) })
}

func unpoolAssembly(dy []float32, masks []uint16, dx []float32, row int) int {
	return blocks(len(dy)/Lanes, 1, func(p, n int) {
		unpoolAVX2(&dy[p*Lanes], &masks[4*p], &dx[2*p*Lanes], &dx[row+2*p*Lanes], n)
	})
}
