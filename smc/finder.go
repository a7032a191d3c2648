package smc

import "sort"

// finder finds the particle of a position in the cumulative weights.
type finder struct {
	cumulated []float64
	last      int // the last particle alive, for positions beyond a sum that is below 1 by rounding
}

func newFinder(w []float64) finder {
	f := finder{cumulated: make([]float64, len(w))}
	var sum float64
	for j, v := range w {
		sum += v
		f.cumulated[j] = sum
		if v > 0 {
			f.last = j
		}
	}
	return f
}

func (f finder) at(position float64) int32 {
	j := sort.Search(len(f.cumulated), func(j int) bool { return f.cumulated[j] > position })
	return int32(min(j, f.last))
}
