package smc_test

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// bioassay is a dose-response experiment (Racine et al. 1986; Gelman et al., Bayesian Data Analysis, 3rd ed., section 3.7): of five
// animals at each of four log doses x, some died. An animal dies with the probability 1/(1 + exp(−a − b·x)). It is the model and
// the prior of θ = (a, b): a ~ N(0, 2²), b ~ N(10, 10²).
type bioassay struct {
	dose, died, animals []float64
}

func (bioassay) Dim() int        { return 2 }
func (m bioassay) Examples() int { return len(m.dose) }

func (m bioassay) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	for j := range ll { // particle j is θ = theta[2j:2j+2]
		ll[j] = 0
		var g [2]float64
		for i, x := range m.dose {
			z := theta[2*j] + theta[2*j+1]*x
			p := 1 / (1 + math.Exp(-z))
			ll[j] -= m.died[i]*math.Log1p(math.Exp(-z)) + (m.animals[i]-m.died[i])*math.Log1p(math.Exp(z))
			g[0] += m.died[i] - m.animals[i]*p
			g[1] += (m.died[i] - m.animals[i]*p) * x
		}
		if grad != nil {
			copy(grad[2*j:], g[:])
		}
	}
	return nil
}

func (bioassay) Sample(s *mcmc.Stream, theta []float64) {
	theta[0], theta[1] = 2*s.Normal(), 10+10*s.Normal()
}

func (bioassay) LogDensity(theta, grad []float64) float64 {
	a, b := theta[0]/2, (theta[1]-10)/10
	if grad != nil {
		grad[0], grad[1] = -a/2, -b/10
	}
	return -0.5*a*a - 0.5*b*b - math.Log(2*math.Pi*2*10)
}

// Four chains of NUTS sample the posterior of a small model. Nothing is set by hand: each chain learns its step size and the
// scales of both parameters in the first half of its evaluations. R-hat near 1 says that the chains agree.
func Example_nuts() {
	model := bioassay{
		dose:    []float64{-0.86, -0.3, -0.05, 0.73},
		died:    []float64{0, 1, 3, 5},
		animals: []float64{5, 5, 5, 5},
	}
	var mean [2]float64
	var slopes [][]float64
	divergent := 0
	for chain := range 4 {
		s := &smc.Sampler{
			Model: model, Prior: model, Particles: 1, Seed: 1, Island: chain,
			Path: smc.Fixed{Epochs: 20000}, Move: mcmc.NUTS{}, Keep: smc.Spread{States: 1000},
		}
		st, err := s.Init(context.Background())
		if err == nil {
			err = s.Run(context.Background(), st, func(_ *smc.State, info smc.Info) error {
				if info.Progress > 0.5 { // after the warm-up
					divergent += info.Divergent
				}
				return nil
			})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		var slope []float64
		theta := st.Ensemble().Theta // 1,000 states of equal weight
		for i := 0; i < len(theta); i += 2 {
			mean[0] += theta[i] / 4000
			mean[1] += theta[i+1] / 4000
			slope = append(slope, theta[i+1])
		}
		slopes = append(slopes, slope)
	}
	fmt.Printf("means of a and b %.0f and %.0f, R-hat %.2f, %d divergent\n", mean[0], mean[1], mcmc.RHat(slopes), divergent)
	// Quadrature gives 0.950 and 9.983.

	// Output: means of a and b 1 and 10, R-hat 1.00, 0 divergent
}
