package data

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Spread says how the values of a target that is a number are spread over the rows of a table.
type Spread struct {
	Distinct int     // different values
	Common   float64 // the most frequent of them, the smallest of several
	Share    float64 // of the rows, that have it
	Least    float64 // the smallest value
	Tails    float64 // the distance from the 1 % to the 99 % quantile over that between the quartiles: 3.4 for normal values. +Inf where these are equal

	// Of values that are all above 0, how often the 95 % quantile has the 5 % one in it, and how far the median is from the middle of these two,
	// as a share of half their distance, for the values and for their logarithms: 0 for what is symmetric, at most 1. All are 0 for others.
	Ratio, Skew, LogSkew float64
}

// spreadOf measures values. Those that are missing, NaN, do not count.
func spreadOf(values []float64) *Spread {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(v)
	s := &Spread{Least: math.Inf(1)}
	if len(v) > 0 {
		s.Least = v[0]
	}
	n := float64(len(v))
	for i := 0; i < len(v); {
		k := i + 1
		for k < len(v) && v[k] == v[i] {
			k++
		}
		s.Distinct++
		if share := float64(k-i) / n; share > s.Share {
			s.Common, s.Share = v[i], share
		}
		i = k
	}
	if len(v) > 0 {
		at := func(q float64) float64 { return v[int(math.Round(q*(n-1)))] }
		if s.Tails = math.Inf(1); at(.75) > at(.25) {
			s.Tails = (at(.99) - at(.01)) / (at(.75) - at(.25))
		}
		if low, middle, high := at(.05), at(.5), at(.95); s.Least > 0 && high > low {
			s.Ratio, s.Skew, s.LogSkew = high/low, skew(low, middle, high), skew(rng.Log(low), rng.Log(middle), rng.Log(high))
		}
	}
	return s
}

// skew is the skewness by quantiles, (high + low − 2 middle)/(high − low), at any size of the numbers.
func skew(low, middle, high float64) float64 {
	above, below := float64(high/2)-float64(middle/2), float64(middle/2)-float64(low/2)
	return (above - below) / (above + below)
}

// zeros is the share of the rows of a table that are 0 in column j, if no value is below 0 and none is more frequent; else 0.
func zeros(t *Table, j int) float64 {
	if s := spreadOf(valuesOf(t, j)); s.Least == 0 && s.Common == 0 {
		return s.Share
	}
	return 0
}

// valuesOf returns the values of column j.
func valuesOf(t *Table, j int) []float64 {
	values := make([]float64, t.Rows())
	for i := range values {
		values[i] = t.Values[i*t.Cols+j]
	}
	return values
}
