package filter

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Distance is the two-sided distance of Kolmogorov and Smirnov between the laws that two states give coordinate i: the largest
// difference of their distribution functions. For particles of equal weight against a normal distribution it is the first value
// of uq.KS.
func Distance(a, b *State, i int) float64 {
	fa, jumps := a.cdf(i)
	fb, more := b.cdf(i)
	most := 0.0
	for _, x := range slices.Concat(jumps, more) {
		la, ra := fa(x)
		lb, rb := fb(x)
		most = max(most, math.Abs(la-lb), math.Abs(ra-rb))
	}
	if jumps == nil && more == nil { // two normal distributions: at many points of both
		for _, st := range []*State{a, b} {
			for p := range 999 {
				x := st.Mean[i] + float64(math.Sqrt(st.Cov[i*st.Dim+i])*rng.NormalQuantile(float64(p+1)/1000))
				_, u := fa(x)
				_, v := fb(x)
				most = max(most, math.Abs(u-v))
			}
		}
	}
	return most
}

// below is the probability of what is certain, or impossible.
func below(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// cdf returns the distribution function of coordinate i, from the left and at x, and the places where it jumps.
func (st *State) cdf(i int) (f func(x float64) (left, at float64), jumps []float64) {
	if st.X == nil {
		sd := math.Sqrt(st.Cov[i*st.Dim+i])
		if sd == 0 { // one value
			return func(x float64) (left, at float64) { return below(st.Mean[i] < x), below(st.Mean[i] <= x) }, st.Mean[i : i+1]
		}
		return func(x float64) (float64, float64) {
			p := 0.5 * rng.Erfc((st.Mean[i]-x)/(sd*math.Sqrt2))
			return p, p
		}, nil
	}
	type particle struct{ x, w float64 }
	list, weight := make([]particle, st.N()), st.weights()
	for j := range list {
		list[j] = particle{st.X[j*st.Dim+i], weight(j)}
	}
	slices.SortStableFunc(list, func(a, b particle) int { return cmp.Compare(a.x, b.x) })
	jumps = make([]float64, len(list))
	sums := make([]float64, len(list)+1)
	for j, p := range list {
		jumps[j], sums[j+1] = p.x, sums[j]+p.w
	}
	return func(x float64) (float64, float64) {
		first, _ := slices.BinarySearch(jumps, x)
		after := first
		for after < len(jumps) && jumps[after] == x {
			after++
		}
		return sums[first], sums[after]
	}, jumps
}
