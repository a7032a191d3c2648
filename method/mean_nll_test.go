package method

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// The standard error of the weighted mean NLL is that of the mean over populations: particles x ~ N(0, 1) with weights e^x, normalised, have
// the mean NLL −1 of NLL = −x, and over 4,000 populations of 400 the sd of the mean is the root of the mean squared error that is
// stated, within 8 %. The number of particles, in place of the squares of the weights, would make it 0.6 of that. Particles of weight 0
// count for nothing.
func TestErrorOfAWeightedMeanNLL(t *testing.T) {
	const particles, populations, examples = 400, 4000, 5
	var sum, squares, stated float64
	for k := range populations {
		s := rng.Key{Seed: 3, Purpose: rng.Synthetic, Iteration: k}.Stream()
		st := &smc.State{Population: mcmc.NewPopulation(particles+1, 1, mcmc.Needs{}), LogW: make([]float64, particles+1), Examples: examples}
		total := 0.0
		for j := range particles {
			x := s.Normal()
			st.LL[j], st.LogW[j] = examples*x, x
			total += math.Exp(x)
		}
		for j := range particles {
			st.LogW[j] -= math.Log(total)
		}
		st.LL[particles], st.LogW[particles] = math.Inf(-1), math.Inf(-1)
		mean, se := meanNLL(st)
		sum, squares, stated = sum+mean, squares+mean*mean, stated+se*se/populations
	}
	mean := sum / populations
	sd := math.Sqrt(squares/populations - mean*mean)
	if !(math.Abs(mean+1) <= 0.02) || !(math.Abs(math.Sqrt(stated)/sd-1) <= 0.08) {
		t.Errorf("mean %.4f, want −1; its sd is %.4f, and %.4f is stated", mean, sd, math.Sqrt(stated))
	}
}
