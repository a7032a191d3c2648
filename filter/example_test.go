package filter_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/ssm"
)

// counts is a model of events in a year: their number is Poisson with the rate eˣ, and x is a random walk.
type counts struct{ sd float64 } // of the walk, over the square root of a year

func (counts) Dim() int                         { return 1 }
func (counts) Start(s *ssm.Stream, x []float64) { x[0] = 1 + s.Normal() }
func (m counts) Transition(years float64) (ssm.Transition, error) {
	return walk{m.sd * math.Sqrt(years)}, nil
}
func (counts) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return poisson(scan.Values), nil }

type walk struct{ sd float64 }

func (w walk) Sample(s *ssm.Stream, from, x []float64) { x[0] = from[0] + w.sd*s.Normal() }
func (w walk) LogDensity(from, x []float64) float64 {
	u := (x[0] - from[0]) / w.sd
	return w.MaxLogDensity() - u*u/2
}
func (w walk) MaxLogDensity() float64 { return -math.Log(w.sd * math.Sqrt(2*math.Pi)) }

type poisson []float64 // counts

func (p poisson) Len() int { return len(p) }
func (p poisson) LogLik(x []float64, rows []int32) (sum float64) {
	if rows == nil {
		for i := range p {
			sum += p.term(i, x[0])
		}
	}
	for _, i := range rows {
		sum += p.term(int(i), x[0])
	}
	return sum
}
func (p poisson) term(i int, x float64) float64 {
	factorial, _ := math.Lgamma(p[i] + 1)
	return p[i]*x - math.Exp(x) - factorial
}

// A model of one's own: the rate of disasters in British coal mines, year by year from 1851 (Jarrett 1979). A bootstrap filter beside
// shows whether the simple method is enough.
func Example() {
	disasters := []float64{4, 5, 4, 0, 1, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4, 4, 1, 5, 5, 3, 4,
		2, 5, 2, 2, 3, 4, 2, 1, 3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 1, 0, 1, 1, 0, 0, 3, 1, 0, 3, 2, 2}
	ctx, job := context.Background(), filter.Job{Model: counts{sd: 0.15}, Seed: 1}
	methods := []filter.Method{
		filter.SMCMC{Particles: 4000, Burn: 250, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}},
		filter.Bootstrap{Particles: 4000},
	}
	for _, m := range methods {
		f, err := m.On(job)
		if err != nil {
			log.Fatal(err)
		}
		state, err := f.Init(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Title())
		for k, z := range disasters {
			if _, err := f.Step(ctx, state, &ssm.Scan{Time: float64(1851 + k), Width: 1, Values: []float64{z}}); err != nil {
				log.Fatal(err)
			}
			if k%40 == 19 {
				fmt.Printf("  %.0f: the rate is about %.0f a year\n", state.Time, math.Exp(state.Quantiles(0.5)[0]))
			}
		}
	}
	// Output:
	// sequential MCMC, 4,000 samples a scan by 8 filters, each after 250 of burn-in
	//   1870: the rate is about 4 a year
	//   1910: the rate is about 1 a year
	// a bootstrap filter of 4,000 particles
	//   1870: the rate is about 4 a year
	//   1910: the rate is about 1 a year
}
