package mcmc

import (
	"math"
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
		rank := float64(first+1+end) / 2
		normal := normalQuantile((rank - 0.375) / (float64(len(all)) + 0.25))
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

// normalQuantile is Φ⁻¹(p) for 0 < p < 1 with a relative error of about 1e-16 (Wichura 1988, algorithm AS 241, PPND16).
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		return q * rational(&as241Centre, 0.180625-float64(q*q))
	}
	r := math.Sqrt(-rng.Log(min(p, 1-p)))
	if r <= 5 {
		r = rational(&as241Middle, r-1.6)
	} else {
		r = rational(&as241Tail, r-5)
	}
	return math.Copysign(r, q)
}

// fraction has the coefficients of two polynomials of degree 7, the highest first.
type fraction struct{ above, below [8]float64 }

func rational(f *fraction, x float64) float64 {
	above, below := 0.0, 0.0
	for i, a := range f.above {
		above = float64(above*x) + a
		below = float64(below*x) + f.below[i]
	}
	return above / below
}

var as241Centre = fraction{
	[8]float64{
		2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4, 4.5921953931549871457e+4,
		1.3731693765509461125e+4, 1.9715909503065514427e+3, 1.3314166789178437745e+2, 3.3871328727963666080e+0,
	},
	[8]float64{
		5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
		5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1,
	},
}

var as241Middle = fraction{
	[8]float64{
		7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e+0,
		3.64784832476320460504e+0, 5.76949722146069140550e+0, 4.63033784615654529590e+0, 1.42343711074968357734e+0,
	},
	[8]float64{
		1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
		6.89767334985100004550e-1, 1.67638483018380384940e+0, 2.05319162663775882187e+0, 1,
	},
}

var as241Tail = fraction{
	[8]float64{
		2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
		2.96560571828504891230e-1, 1.78482653991729133580e+0, 5.46378491116411436990e+0, 6.65790464350110377720e+0,
	},
	[8]float64{
		2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
		1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1,
	},
}
