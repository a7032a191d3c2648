package lanes

import (
	"fmt"
	"math"
	"slices"
)

// Windows is a plan for pooling by a table: taps[o·k : o·k+k] are the offsets of output o's window, −1 where the window
// extends over the border.
type Windows struct {
	taps    []int32
	k       int
	outputs int // elements
	inputs  int // reach in elements
}

// NewWindows builds a plan for len(taps)/k outputs. Two vectors that the taps name must be equal or disjoint.
func NewWindows(taps []int32, k int) (*Windows, error) {
	if k < 1 || len(taps)%k != 0 {
		return nil, fmt.Errorf("windows: %d taps in windows of %d", len(taps), k)
	}
	if len(taps)/k > maxReach/Lanes {
		return nil, fmt.Errorf("windows: more than %d outputs", maxReach/Lanes)
	}
	w := &Windows{taps: slices.Clone(taps), k: k, outputs: len(taps) / k * Lanes}
	for i, t := range taps {
		if t < -1 || t > maxReach-Lanes {
			return nil, fmt.Errorf("windows: output %d, tap %d: offset %d out of range", i/k, i%k, t)
		}
		if t >= 0 {
			w.inputs = max(w.inputs, int(t)+Lanes)
		}
	}
	if a, b, ok := overlapping(taps, 1); ok {
		return nil, fmt.Errorf("windows: vectors at %d and %d overlap", a, b)
	}
	return w, nil
}

// window calls f with the taps of output o that are not −1.
func (w *Windows) window(o int, f func(t int, offset int)) {
	for t, offset := range w.taps[o*w.k:][:w.k] {
		if offset >= 0 {
			f(t, int(offset))
		}
	}
}

// Max takes the largest value of each window and stores in arg its tap, the first of several. If the window has a NaN, the
// result is NaN, and arg is the tap of the last NaN. In each lane
//
//	y, arg = -Inf, -1
//	for t := range k {
//		if v := x[taps[o*k+t]]; v > y || v != v {
//			y, arg = v, t
//		}
//	}
//
// without the taps that are −1.
func (w *Windows) Max(x, y []float32, arg []int32) {
	checkLen("x", len(x), w.inputs)
	checkLen("y", len(y), w.outputs)
	checkLen("arg", len(arg), w.outputs)
	for o := w.maxAssembly(x, y, arg); o < w.outputs/Lanes; o++ {
		best, which := at(y, o*Lanes), (*[Lanes]int32)(arg[o*Lanes:])
		for l := range Lanes {
			best[l], which[l] = float32(math.Inf(-1)), -1
		}
		w.window(o, func(t, offset int) {
			for l, v := range at(x, offset) {
				if v > best[l] || v != v {
					best[l], which[l] = v, int32(t)
				}
			}
		})
	}
}

// MaxBackward adds dy to dx at the maximum, given Max's arg. In each lane, for outputs o and taps t in order, unless the
// tap is −1,
//
//	dx[taps[o*k+t]] += arg[o] == t ? dy[o] : 0
func (w *Windows) MaxBackward(dy []float32, arg []int32, dx []float32) {
	checkLen("dy", len(dy), w.outputs)
	checkLen("arg", len(arg), w.outputs)
	checkLen("dx", len(dx), w.inputs)
	for o := w.maxBackwardAssembly(dy, arg, dx); o < w.outputs/Lanes; o++ {
		d, which := at(dy, o*Lanes), (*[Lanes]int32)(arg[o*Lanes:])
		w.window(o, func(t, offset int) {
			v := at(dx, offset)
			for l := range v {
				var add float32
				if which[l] == int32(t) {
					add = d[l]
				}
				v[l] += add
			}
		})
	}
}

// Pick takes from each window the value at Max's arg, 0 where that is −1. In each lane
//
//	y[o] = x[taps[o*k+arg[o]]]
func (w *Windows) Pick(x []float32, arg []int32, y []float32) {
	checkLen("x", len(x), w.inputs)
	checkLen("arg", len(arg), w.outputs)
	checkLen("y", len(y), w.outputs)
	for o := range w.outputs / Lanes {
		for l := o * Lanes; l < (o+1)*Lanes; l++ {
			y[l] = 0
			if t := arg[l]; t >= 0 {
				y[l] = x[int(w.taps[o*w.k+int(t)])+l%Lanes]
			}
		}
	}
}

// Sum is scale times the sum of each window; with scale 1/k it is the mean. In each lane
//
//	y[o] = scale * Σ_t x[taps[o*k+t]]
//
// in the order of the taps, from 0, without those that are −1.
func (w *Windows) Sum(x []float32, scale float32, y []float32) {
	checkLen("x", len(x), w.inputs)
	checkLen("y", len(y), w.outputs)
	for o := w.sumAssembly(x, scale, y); o < w.outputs/Lanes; o++ {
		var sum vector
		w.window(o, func(_, offset int) {
			for l, v := range at(x, offset) {
				sum[l] += v
			}
		})
		for l, v := range sum {
			y[o*Lanes+l] = scale * v
		}
	}
}

// SumBackward adds to dx the gradients of Sum. In each lane, for outputs o and taps t in order, unless the tap is −1,
//
//	dx[taps[o*k+t]] += scale * dy[o]
func (w *Windows) SumBackward(dy []float32, scale float32, dx []float32) {
	checkLen("dy", len(dy), w.outputs)
	checkLen("dx", len(dx), w.inputs)
	for o := w.sumBackwardAssembly(dy, scale, dx); o < w.outputs/Lanes; o++ {
		d := *at(dy, o*Lanes)
		for l := range d {
			d[l] = float32(scale * d[l])
		}
		w.window(o, func(_, offset int) {
			v := at(dx, offset)
			for l := range v {
				v[l] += d[l]
			}
		})
	}
}

// Unpool spreads the gradient of a row of 2×2 pools over the two rows of pixels below it, which are row elements apart and
// do not overlap:
//
//	for p := range len(dy) / Lanes {
//		for q := range 4 {
//			for l := range Lanes {
//				open := masks[4*p+q]>>l&1 == 1
//				dx[q/2*row+(2*p+q%2)*Lanes+l] = open ? dy[p*Lanes+l] : 0
//			}
//		}
//	}
//
// masks are the result of [PoolMasks] for the masks of [Gemm.StoreMaxPool], or the masks of [Gemm.StoreMeanPool].
func Unpool(dy []float32, masks []uint16, dx []float32, row int) {
	sameVectors("Unpool", len(dy))
	n := len(dy) / Lanes
	if len(masks) < 4*n || row < 2*n*Lanes || n > 0 && len(dx)-row < 2*n*Lanes {
		panic(fmt.Sprintf("lanes: Unpool: %d masks for %d windows, into %d elements, rows %d apart",
			len(masks), n, len(dx), row))
	}
	for p := unpoolAssembly(dy, masks, dx, row); p < n; p++ {
		d, mask := at(dy, p*Lanes), (*[4]uint16)(masks[4*p:])
		for q, k := range mask {
			v := at(dx, q/2*row+(2*p+q%2)*Lanes)
			for l := range v {
				v[l] = 0
				if k>>l&1 == 1 {
					v[l] = d[l]
				}
			}
		}
	}
}
