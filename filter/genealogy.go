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
	largest, carriers, few := make([]float64, d), make([]float64, d), make([]float64, d) // V, its ν, and a V of few ancestors
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
