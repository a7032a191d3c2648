// Logz compares the errors that runs of tempered SMC state of their own log Z with the spread of log Z over runs:
//
//	go run ./bench/logz [-runs N] [-seed N] [D:J …]
//
// A cell D:J is a linear regression of D coefficients on 2D rows, coefficients and noise N(0, 1), whose log Z is known, sampled by J
// particles with HMC by default. The table has, over the runs of a cell: the stages; mean and standard deviation of log Z less exact,
// and the logarithm of the mean of Z over exact; the standard deviation that runs state by themselves, on average and from the 5th to
// the 95th percentile; and the bias that they state for the adaptation of the ladder.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

func main() {
	runs := flag.Int("runs", 200, "of a cell")
	seed := flag.Uint64("seed", 77, "of all runs; they differ in their islands")
	flag.Parse()
	cells := flag.Args()
	if len(cells) == 0 {
		cells = []string{"2:10", "2:50", "2:300", "5:10", "5:50", "5:300", "20:10", "20:50", "20:300"}
	}
	workers := mcmc.NewPool(0)
	fmt.Printf("%8s %7s %16s %7s %9s   %-22s %11s\n", "D:J", "stages", "log Z − exact", "sd", "log mean", "sd stated", "ladder bias")
	for _, cell := range cells {
		var d, j int
		if n, err := fmt.Sscanf(cell, "%d:%d", &d, &j); n != 2 || err != nil || d < 1 || j < 3 {
			log.Fatalf("%q: want D:J, such as 20:50", cell)
		}
		m, exact := regression(d, 2*d)
		islands := make([]*smc.Sampler, *runs)
		for i := range islands {
			islands[i] = &smc.Sampler{Model: m, Prior: standard(d), Path: smc.Tempering{}, Move: mcmc.HMC{}, Particles: j, Seed: *seed, Island: i}
		}
		states, err := smc.RunIslands(context.Background(), workers, islands, nil)
		if err != nil {
			log.Fatalf("%s: %v", cell, err)
		}
		show(cell, exact, states)
	}
}

// show prints the row of a cell.
func show(cell string, exact float64, states []*smc.State) {
	n := float64(len(states))
	var logZ, stated []float64
	var stages, bias, mean, ofZ, square float64
	for _, st := range states {
		logZ, stated = append(logZ, st.LogZ-exact), append(stated, st.Genealogy.SD())
		stages, bias, mean = stages+float64(st.K)/n, bias+st.LadderBias/n, mean+(st.LogZ-exact)/n
	}
	for _, z := range logZ {
		ofZ, square = ofZ+math.Exp(z-mean)/n, square+(z-mean)*(z-mean)/(n-1)
	}
	average := 0.0
	for _, s := range stated {
		average += s / n
	}
	slices.Sort(stated)
	fmt.Printf("%8s %7.1f %8.3f ± %5.3f %7.3f %9.3f   %5.3f (%.2f to %.2f)   %11.3f\n", cell, stages, mean, math.Sqrt(square/n), math.Sqrt(square),
		mean+math.Log(ofZ), average, numeral.Quantile(stated, 0.05), numeral.Quantile(stated, 0.95), bias)
}

// linear is −½ Σ (y − x'θ)² and its constant, with x'x and x'y in place of the rows.
type linear struct {
	xx       [][]float64
	xy       []float64
	constant float64
}

func (m *linear) Dim() int      { return len(m.xy) }
func (m *linear) Examples() int { return 1 }

// LogLik is that of package mcmc.
func (m *linear) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	d := m.Dim()
	for j := range ll {
		ll[j] = m.constant
		for i, x := range theta[j*d : (j+1)*d] {
			slope := m.xy[i]
			for k, y := range theta[j*d : (j+1)*d] {
				slope -= m.xx[i][k] * y
			}
			ll[j] += 0.5 * x * (m.xy[i] + slope)
			if grad != nil {
				grad[j*d+i] = slope
			}
		}
	}
	return nil
}

// regression draws n rows, and returns their model and its exact log Z: y is N(0, I + X X').
func regression(d, n int) (*linear, float64) {
	stream := rand.New(rand.NewPCG(uint64(d), uint64(n)))
	m := &linear{xx: make([][]float64, d), xy: make([]float64, d), constant: -0.5 * float64(n) * math.Log(2*math.Pi)}
	truth := make([]float64, d)
	for i := range truth {
		truth[i], m.xx[i] = stream.NormFloat64(), make([]float64, d)
	}
	for range n {
		x, y := make([]float64, d), stream.NormFloat64()
		for i := range x {
			x[i] = stream.NormFloat64()
			y += x[i] * truth[i]
		}
		for i := range x {
			m.xy[i] += x[i] * y
			for k := range x {
				m.xx[i][k] += x[i] * x[k]
			}
		}
		m.constant -= 0.5 * y * y
	}
	// log Z = constant − ½ log det(I + X'X) + ½ (X'y)' (I + X'X)⁻¹ X'y, by Cholesky's factor
	logZ, factor, solved := m.constant, make([][]float64, d), make([]float64, d)
	for i := range factor {
		factor[i] = make([]float64, d)
		for k := 0; k <= i; k++ {
			s := m.xx[i][k]
			for l := range k {
				s -= factor[i][l] * factor[k][l]
			}
			if k < i {
				factor[i][k] = s / factor[k][k]
			} else {
				factor[i][i] = math.Sqrt(s + 1)
			}
		}
		s := m.xy[i]
		for l := range i {
			s -= factor[i][l] * solved[l]
		}
		solved[i] = s / factor[i][i]
		logZ += 0.5*solved[i]*solved[i] - math.Log(factor[i][i])
	}
	return m, logZ
}

// standard is N(0, 1) of that many coefficients.
type standard int

func (p standard) Dim() int                             { return int(p) }
func (standard) SD(int) float64                         { return 1 }
func (standard) Mean(int) float64                       { return 0 }
func (standard) Sample(s *mcmc.Stream, theta []float64) { s.Normals(theta) }

// LogDensity is that of package mcmc.
func (standard) LogDensity(theta, grad []float64) (l float64) {
	for i, x := range theta {
		l -= 0.5*x*x + 0.5*math.Log(2*math.Pi)
		if grad != nil {
			grad[i] = -x
		}
	}
	return l
}
