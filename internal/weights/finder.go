package weights

import "sort"

// Finder finds the particle at a position in the cumulative weights, as resampling does.
type Finder struct {
	cumulated []float64
	last      int // the last particle alive, for positions beyond a sum that is below 1 by rounding
}

// NewFinder cumulates normalised weights w. It keeps no reference to them.
func NewFinder(w []float64) Finder {
	f := Finder{cumulated: make([]float64, len(w))}
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

// At returns the smallest j with w_0 + … + w_j above a position in [0, 1). A particle of weight 0 is never found.
func (f Finder) At(position float64) int32 {
	j := sort.Search(len(f.cumulated), func(j int) bool { return f.cumulated[j] > position })
	return int32(min(j, f.last))
}

// Systematic fills ancestors, of any length n, with the particles at the positions (i+u)/n, in their order, by normalised
// weights w (systematic resampling; Douc, Cappé, Moulines 2005). u is uniform in [0, 1). Of n ancestors particle j is n·w_j,
// rounded up or down.
func Systematic(w []float64, u float64, ancestors []int32) {
	find, n, j := NewFinder(w), float64(len(ancestors)), 0
	for i := range ancestors { // positions rise, so the search goes on from the last particle
		for position := (float64(i) + u) / n; j < find.last && find.cumulated[j] <= position; {
			j++
		}
		ancestors[i] = int32(j)
	}
}
