package mcmc

import (
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// splitChains cuts chains of at least 8 states in half, so that a chain that drifts disagrees with itself; of an odd number of
// states it leaves out the middle one. Nil if there is no chain, if one is shorter or of another length than the first, or if
// a value is not finite.
func splitChains(chains [][]float64) (halves [][]float64) {
	for _, c := range chains {
		n := len(c) / 2
		if n < 4 || len(c) != len(chains[0]) || slices.ContainsFunc(c, func(x float64) bool { return x-x != 0 }) {
			return nil
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	return halves
}

// rankNormal replaces every value by Φ⁻¹((r − 3/8)/(S + 1/4)) (Blom 1958), with r its rank among the S values of all chains;
// equal values share the mean of their ranks. Outliers and heavy tails then have no weight of their own, and the variances
// that R-hat compares exist.
func rankNormal(chains [][]float64) [][]float64 {
	type place struct {
		x    float64
		c, i int
	}
	states := 0
	for _, chain := range chains {
		states += len(chain)
	}
	all := make([]place, 0, states)
	for c, chain := range chains {
		for i, x := range chain {
			all = append(all, place{x, c, i})
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	z := make([][]float64, len(chains))
	for c := range z {
		z[c] = make([]float64, len(chains[c]))
	}
	for first := 0; first < len(all); {
		end := first + 1
		for end < len(all) && all[end].x == all[first].x {
			end++
		}
		rank := float64(0.5 * float64(first+1+end))
		normal := rng.NormalQuantile((rank - 0.375) / (float64(len(all)) + 0.25))
		for _, p := range all[first:end] {
			z[p.c][p.i] = normal
		}
		first = end
	}
	return z
}

// mapChains returns chains of the values of f.
func mapChains(chains [][]float64, f func(float64) float64) [][]float64 {
	of := make([][]float64, len(chains))
	for c, chain := range chains {
		for _, x := range chain {
			of[c] = append(of[c], f(x))
		}
	}
	return of
}
