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
// V_λ is as good as the number of ancestors that carry it, ν = V_λ²/Σ_a s_a⁴. The Student distribution of as many degrees of freedom
// has no variance for ν ≤ 2: up to fewCarriers the error is unknown, NaN.

// lag is the largest λ.
const lag = 16

// fewCarriers is the number of ancestors that must be exceeded for an error to be known.
const fewCarriers = 3

// descend takes over a resampling: from are the parents of the present particles.
func (st *State) descend(from []int32) {
	rows := append(make([]int32, 0, min(len(st.Genealogy)+len(from), lag*len(from))), from...)
	for was := st.Genealogy; len(was) > 0 && len(rows) < lag*len(from); was = was[len(from):] {
		for _, a := range from {
			rows = append(rows, was[a])
		}
	}
	st.Genealogy = rows
}

// meanErrors returns the standard error of the mean of each coordinate; w are the weights.
func (st *State) meanErrors(w []float64) []float64 {
	n, d := st.N(), st.Dim
	mean, _ := moments(st.X, d, st.whole(), func(j int) float64 { return w[j] })
	largest, few := make([]float64, d), make([]float64, d) // V of enough ancestors, and of few
	sums := make([]float64, n*d)
	for g, known := 0, len(st.Genealogy)/n; ; g = min(max(1, 2*g), known) {
		clear(sums)
		for j, p := range w {
			a := j
			if g > 0 {
				a = int(st.Genealogy[(g-1)*n+j])
			}
			for i, m := range mean {
				sums[a*d+i] += float64(p * (st.X[j*d+i] - m))
			}
		}
		for i := range d {
			v, fourth := 0.0, 0.0
			for a := range n {
				s := float64(sums[a*d+i] * sums[a*d+i])
				v += s
				fourth += float64(s * s)
			}
			if v*v > fewCarriers*fourth {
				largest[i] = max(largest[i], v)
			} else {
				few[i] = max(few[i], v)
			}
		}
		if g == known {
			break
		}
	}
	errors := make([]float64, d)
	for i, v := range largest {
		if errors[i] = math.Sqrt(v); !(v > 0) || few[i] > beyond*v {
			errors[i] = math.NaN()
		}
	}
	return errors
}

var beyond = 4.
