package lanes

import (
	"fmt"
	"slices"
)

// Load is a plan that puts 16 examples, which are stored one after the other, side by side. at[f] is the place of feature
// f's vector.
type Load struct {
	at  []int32
	dst int // reach, in elements
}

// NewLoad builds a plan for len(at) features. The vectors must not overlap.
func NewLoad(at []int32) (*Load, error) {
	l := &Load{at: slices.Clone(at)}
	for f, a := range at {
		if a < 0 || a > maxReach-Lanes {
			return nil, fmt.Errorf("load: feature %d: offset %d out of range", f, a)
		}
		l.dst = max(l.dst, int(a)+Lanes)
	}
	if a, b, ok := overlapping(at, 0); ok {
		return nil, fmt.Errorf("load: vectors at %d and %d overlap", a, b)
	}
	return l, nil
}

// overlapping finds two overlapping vectors whose offsets differ by at least apart: 0, or 1 if equal vectors are allowed.
func overlapping(offsets []int32, apart int32) (a, b int32, found bool) {
	sorted := slices.Sorted(slices.Values(offsets))
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a >= 0 && b-a >= apart && b-a < Lanes {
			return a, b, true
		}
	}
	return 0, 0, false
}

// Channel says how numbers are taken: v as (v − Mean)·Factor, in this order, each step rounded to float32.
type Channel struct{ Mean, Factor float32 }

// AsIs takes numbers as they are.
var AsIs = []Channel{{Mean: 0, Factor: 1}}

// U8 takes bytes as fractions of 255. row[i] is where lane i's example starts in src. The features are divided evenly between the
// channels, in order: c is the channel of feature f.
//
//	for f := range at {
//		for i := range 16 {
//			dst[at[f]+i] = (float32(src[row[i]+f])/255 - c.Mean) * c.Factor
//		}
//	}
func (l *Load) U8(src []uint8, row *[Lanes]int, channels []Channel, dst []float32) {
	l.check(len(src), row, len(channels), len(dst))
	per := len(l.at) / len(channels)
	for k, c := range channels {
		first, end := k*per, (k+1)*per
		for f := first + loadU8Assembly(src[first:], row, l.at[first:end], c, dst); f < end; f++ {
			v := at(dst, int(l.at[f]))
			for i, r := range row {
				v[i] = (float32(src[r+f])/255 - c.Mean) * c.Factor
			}
		}
	}
}

// F32 takes numbers:
//
//	dst[at[f]+i] = (src[row[i]+f] - c.Mean) * c.Factor
func (l *Load) F32(src []float32, row *[Lanes]int, channels []Channel, dst []float32) {
	l.check(len(src), row, len(channels), len(dst))
	per := len(l.at) / len(channels)
	for k, c := range channels {
		first, end := k*per, (k+1)*per
		for f := first + loadF32Assembly(src[first:], row, l.at[first:end], c, dst); f < end; f++ {
			v := at(dst, int(l.at[f]))
			for i, r := range row {
				v[i] = (src[r+f] - c.Mean) * c.Factor
			}
		}
	}
}

// F16 takes numbers of 16 bits, which it widens:
//
//	dst[at[f]+i] = (src[row[i]+f].Float32() - c.Mean) * c.Factor
func (l *Load) F16(src []Float16, row *[Lanes]int, channels []Channel, dst []float32) {
	l.check(len(src), row, len(channels), len(dst))
	per := len(l.at) / len(channels)
	for k, c := range channels {
		first, end := k*per, (k+1)*per
		for f := first + loadF16Assembly(src[first:], row, l.at[first:end], c, dst); f < end; f++ {
			v := at(dst, int(l.at[f]))
			for i, r := range row {
				v[i] = (src[r+f].Float32() - c.Mean) * c.Factor
			}
		}
	}
}

// Standard says how features are standardised: v as float32(To·((v − Mean)/SD)), computed in float64, and 0 where SD is 0.
type Standard struct {
	Mean, SD []float64 // of each feature
	To       float64
}

// Standardise standardises what was loaded, of which each feature is one of s:
//
//	dst[at[f]+i] = float32(s.To * ((float64(dst[at[f]+i]) - s.Mean[f]) / s.SD[f]))
func (l *Load) Standardise(s *Standard, dst []float32) {
	if len(s.Mean) != len(l.at) || len(s.SD) != len(l.at) {
		panic(fmt.Sprintf("lanes: %d means and %d deviations of %d features", len(s.Mean), len(s.SD), len(l.at)))
	}
	checkLen("dst", len(dst), l.dst)
	for f := standardiseAssembly(l.at, s, dst); f < len(l.at); f++ {
		v := at(dst, int(l.at[f]))
		for i, x := range v {
			v[i] = float32(s.To * ((float64(x) - s.Mean[f]) / s.SD[f]))
		}
	}
	for f, sd := range s.SD {
		if sd == 0 {
			clear(at(dst, int(l.at[f]))[:])
		}
	}
}

func (l *Load) check(src int, row *[Lanes]int, channels, dst int) {
	for i, r := range row {
		if r < 0 || r > src-len(l.at) {
			panic(fmt.Sprintf("lanes: lane %d: example at %d, of %d features, in %d values", i, r, len(l.at), src))
		}
	}
	if channels < 1 || len(l.at)%channels != 0 {
		panic(fmt.Sprintf("lanes: %d features in %d channels", len(l.at), channels))
	}
	checkLen("dst", dst, l.dst)
}

// Transpose turns n vectors into 16 rows of n elements, the inverse of loading, and fills each row with zeros up to
// the next multiple of 16:
//
//	for e := range 16 {
//		for i := range n {
//			dst[e*dstStride+i] = x[16*i+e]
//		}
//		clear(dst[e*dstStride+n : e*dstStride+(n+15)/16*16])
//	}
func Transpose(x []float32, n int, dst []float32, dstStride int) {
	wide := (n + Lanes - 1) / Lanes * Lanes
	if n < 0 || len(x) < n*Lanes || dstStride < wide || n > 0 && len(dst) < (Lanes-1)*dstStride+wide {
		panic(fmt.Sprintf("lanes: Transpose: %d elements for %d vectors, into %d elements, rows %d apart",
			len(x), n, len(dst), dstStride))
	}
	done := transposeAssembly(x, n, dst, dstStride)
	if done < wide { // vectors of zeros make the last blocks whole
		var last [Lanes * Lanes]float32
		copy(last[:], x[done*Lanes:n*Lanes])
		if transposeAssembly(last[:], wide-done, dst[done:], dstStride) > 0 {
			return
		}
	}
	for e := range Lanes {
		row := dst[e*dstStride:][:wide]
		for i := done; i < n; i++ {
			row[i] = x[i*Lanes+e]
		}
		clear(row[n:])
	}
}
