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
	Gap      float64 // the smallest distance of two different values, in standard deviations of all
	Least    float64 // the smallest value
	Ratio    float64 // of the 95 % quantile to the median, for values above 0
	Tails    float64 // the distance of the 99 % from the 1 % quantile over that of the quartiles; 3.4 for normal values
}

// spreadOf measures values, of which there is one at least.
func spreadOf(values []float64) *Spread {
	v := slices.Clone(values)
	slices.Sort(v)
	n := float64(len(v))
	s := &Spread{Least: v[0], Gap: math.Inf(1)}
	mean, square := 0.0, 0.0
	for _, x := range v {
		mean += x / n
	}
	for i := 0; i < len(v); {
		k := i
		for ; k < len(v) && v[k] == v[i]; k++ {
			square += float64((v[k] - mean) * (v[k] - mean))
		}
		s.Distinct++
		if share := float64(k-i) / n; share > s.Share {
			s.Common, s.Share = v[i], share
		}
		if i > 0 {
			s.Gap = min(s.Gap, v[i]-v[i-1])
		}
		i = k
	}
	s.Gap /= math.Sqrt(square / n)
	at := func(q float64) float64 { return v[int(q*(n-1)+.5)] }
	s.Ratio, s.Tails = at(.95)/at(.5), (at(.99)-at(.01))/(at(.75)-at(.25))
	return s
}
