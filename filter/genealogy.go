package filter

import "math"

// The error of a particle filter's mean, with what earlier scans have left in it, is estimated from one run by the particles'
// genealogy (Chan and Lai 2013; Lee and Whiteley 2018). Particles of different ancestors have moved and been chosen independently
// since, but for the resampling. With the mean m = Σ W_i x_i of a coordinate, and E_i the ancestor of particle i λ resamplings ago,
//
//	s_a = Σ_{i: E_i = a} W_i (x_i − m),   V_λ = Σ_a s_a².
//
// V_0 is the error that the weights of the present scan show, as if the particles were independent draws. V_λ adds what the λ
// resamplings before have left. For λ back to the start it is the variance of m under multinomial resampling; other schemes add less,
// and then V_λ is a little too large. But resampling makes ancestors coalesce, and where one ancestor is left, V_λ is 0. So λ is limited
// (Olsson and Douc 2019): a filter forgets old errors as new measurements come in, and it is these that make it resample. The standard
// error is the root of the largest V_λ of λ = 0, 1, 2, 4, 8, 16.
//
// V_λ is as good as the number of ancestors that carry it, ν = V_λ²/Σ_a s_a⁴. So it is multiplied by student(ν), as the variance of few
// repeated filters is. One that few ancestors carry does not count. But it says that the error is unknown, NaN, where it is far above
// all others: then earlier scans have left an error of which too little is known.

const (
	lag         = 16 // the largest λ
	fewCarriers = 4  // V_λ with a ν of up to this does not count
	farAbove    = 4  // times another V_λ
)

// descend returns a genealogy after a resampling: from are the parents of the present particles. A genealogy has a row of N ancestors for
// each of the last resamplings, the last one first.
func descend(was, from []int32) []int32 {
	rows := append(make([]int32, 0, min(len(was)+len(from), lag*len(from))), from...)
	for ; len(was) > 0 && len(rows) < lag*len(from); was = was[len(from):] {
		for _, a := range from {
			rows = append(rows, was[a])
		}
	}
	return rows
}

// student is the variance of Student's distribution with n − 1 degrees of freedom: that of a mean of n draws, divided by its
// standard error, which is estimated from the same draws. There is none for n ≤ 3.
func student(n float64) float64 { return (n - 1) / (n - 3) }

// meanErrors returns the standard error of the mean of each coordinate of particles with the weights w.
func meanErrors(x, w, mean []float64, genealogy []int32) []float64 {
	n, d := len(w), len(mean)
	largest, carriers, few := make([]float64, d), make([]float64, d), make([]float64, d) // V, its ν, and a V of few ancestors
	sums := make([]float64, n*d)
	for g, known := 0, len(genealogy)/n; ; g = min(max(1, 2*g), known) {
		clear(sums)
		for j, p := range w {
			a := j
			if g > 0 {
				a = int(genealogy[(g-1)*n+j])
			}
			for i, m := range mean {
				sums[a*d+i] += float64(p * (x[j*d+i] - m))
			}
		}
		for i := range d {
			v, fourth := 0.0, 0.0
			for a := range n {
				s := float64(sums[a*d+i] * sums[a*d+i])
				v += s
				fourth += float64(s * s)
			}
			switch nu := float64(v*v) / fourth; {
			case !(nu > fewCarriers):
				few[i] = max(few[i], v)
			case v > largest[i]:
				largest[i], carriers[i] = v, nu
			}
		}
		if g == known {
			break
		}
	}
	errors := make([]float64, d)
	for i, v := range largest {
		if errors[i] = math.Sqrt(student(carriers[i]) * v); !(v > 0 && few[i] <= farAbove*v) {
			errors[i] = math.NaN()
		}
	}
	return errors
}
