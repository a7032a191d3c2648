package lanes

import (
	"fmt"
	"math"
)

// Pooling is by a table: taps[o·k : o·k+k] are the offsets of output o's window in x, −1 where it hangs over the
// border. They are the caller's, built once, and not checked; two vectors that they name are equal or disjoint.

func checkTaps(name string, taps []int32, k, n int) int {
	if k < 1 || len(taps)%k != 0 || n != len(taps)/k*Lanes {
		panic(fmt.Sprintf("lanes: %s: %d taps of windows of %d for %d elements", name, len(taps), k, n))
	}
	return len(taps) / k
}

// MaxPool takes the largest value of each window and notes in arg which tap had it, the first if several do; a NaN
// in the window gives NaN, with arg the last of them. In each lane
//
//	y, arg = -Inf, -1
//	for t := range k {
//		if v := x[taps[o*k+t]]; v > y || v != v {
//			y, arg = v, t
//		}
//	}
//
// without the taps that are −1.
func MaxPool(x []float32, taps []int32, k int, y []float32, arg []int32) {
	outputs := checkTaps("MaxPool", taps, k, len(y))
	sameLen("MaxPool", len(y), len(arg))
	for o := maxPoolAssembly(x, taps, k, y, arg); o < outputs; o++ {
		best, which := at(y, o*Lanes), (*[Lanes]int32)(arg[o*Lanes:])
		for l := range Lanes {
			best[l], which[l] = float32(math.Inf(-1)), -1
		}
		for t, off := range taps[o*k:][:k] {
			if off < 0 {
				continue
			}
			for l, v := range vectorAt(x, off) {
				if v > best[l] || v != v {
					best[l], which[l] = v, int32(t)
				}
			}
		}
	}
}

// MaxPoolBackward adds dy to dx where the maximum was, arg being MaxPool's. In each lane, for outputs o and taps t
// in order, unless the tap is −1,
//
//	dx[taps[o*k+t]] += arg[o] == t ? dy[o] : 0
func MaxPoolBackward(dy []float32, arg, taps []int32, k int, dx []float32) {
	outputs := checkTaps("MaxPoolBackward", taps, k, len(dy))
	sameLen("MaxPoolBackward", len(dy), len(arg))
	for o := maxPoolBackwardAssembly(dy, arg, taps, k, dx); o < outputs; o++ {
		d, which := at(dy, o*Lanes), (*[Lanes]int32)(arg[o*Lanes:])
		for t, off := range taps[o*k:][:k] {
			if off < 0 {
				continue
			}
			v := vectorAt(dx, off)
			for l := range v {
				var add float32
				if which[l] == int32(t) {
					add = d[l]
				}
				v[l] += add
			}
		}
	}
}

// SumPool is scale times the sum of each window; with scale 1/k, the mean. In each lane
//
//	y[o] = scale * Σ_t x[taps[o*k+t]]
//
// in the order of the taps, from 0, without those that are −1.
func SumPool(x []float32, taps []int32, k int, scale float32, y []float32) {
	outputs := checkTaps("SumPool", taps, k, len(y))
	for o := sumPoolAssembly(x, taps, k, scale, y); o < outputs; o++ {
		var sum vector
		for _, off := range taps[o*k:][:k] {
			if off < 0 {
				continue
			}
			for l, v := range vectorAt(x, off) {
				sum[l] += v
			}
		}
		for l, v := range sum {
			y[o*Lanes+l] = scale * v
		}
	}
}

// SumPoolBackward adds to dx the gradients of SumPool. In each lane, for outputs o and taps t in order, unless the tap
// is −1,
//
//	dx[taps[o*k+t]] += scale * dy[o]
func SumPoolBackward(dy []float32, taps []int32, k int, scale float32, dx []float32) {
	outputs := checkTaps("SumPoolBackward", taps, k, len(dy))
	for o := sumPoolBackwardAssembly(dy, taps, k, scale, dx); o < outputs; o++ {
		d := *at(dy, o*Lanes)
		for l := range d {
			d[l] = float32(scale * d[l])
		}
		for _, off := range taps[o*k:][:k] {
			if off < 0 {
				continue
			}
			for l, v := range d {
				dx[int(off)+l] += v
			}
		}
	}
}
