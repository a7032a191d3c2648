package chart

import "math"

// Thin keeps about most points of a line at most: the lowest and the highest of each stretch, and both ends. No peak is lost,
// so the picture looks the same.
func Thin(x, y []float64, most int) (tx, ty []float64) {
	n := len(x)
	if n <= most || most < 4 {
		return x, y
	}
	keep := func(i int) { tx, ty = append(tx, x[i]), append(ty, y[i]) }
	keep(0)
	buckets := (most - 2) / 2
	for b := range buckets {
		low, high := -1, -1
		for i := 1 + b*(n-2)/buckets; i < 1+(b+1)*(n-2)/buckets; i++ {
			if math.IsNaN(y[i]) {
				continue
			}
			if low < 0 || y[i] < y[low] {
				low = i
			}
			if high < 0 || y[i] > y[high] {
				high = i
			}
		}
		if low < 0 {
			continue
		}
		keep(min(low, high))
		if low != high {
			keep(max(low, high))
		}
	}
	keep(n - 1)
	return tx, ty
}

// Smooth returns the means of both coordinates over the given number of stretches of x of equal length. x ascends. An empty
// stretch has no point.
func Smooth(x, y []float64, stretches int) (sx, sy []float64) {
	n := len(x)
	if n <= stretches {
		return x, y
	}
	width := (x[n-1] - x[0]) / float64(stretches)
	for i, b := 0, 0; i < n; b++ {
		end := x[0] + float64(width*float64(b+1))
		var u, v, count float64
		for ; i < n && (x[i] <= end || b >= stretches-1); i++ {
			if finite(x[i]) && finite(y[i]) {
				u += x[i]
				v += y[i]
				count++
			}
		}
		if count > 0 {
			sx, sy = append(sx, u/count), append(sy, v/count)
		}
	}
	return sx, sy
}
