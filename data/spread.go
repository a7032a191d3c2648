package data

import (
	"math"
	"slices"
)

// Spread says how the values of a target that is a number are spread over the rows of a table.
type Spread struct {
	Distinct int     // different values
	Common   float64 // the most frequent of them, the smallest of several
	Share    float64 // of the rows, that have it
	Least    float64 // the smallest value
	Tails    float64 // the distance from the 1 % to the 99 % quantile over that between the quartiles: 3.4 for normal values. +Inf where these are equal
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
	}
	return s
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
