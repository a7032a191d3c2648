package smc

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// Moves that carry every particle by the same vector, with what lies between given by hand: three particles at the corners of
// a triangle, whose distances from its centre are known; one alone; and copies of one particle.
func TestRelativeDisplacement(t *testing.T) {
	shift := scripted(func(_ int, theta []float64) {
		for i := range theta {
			theta[i] += []float64{3, 4}[i%2]
		}
	})
	stay := scripted(func(int, []float64) {})
	for _, c := range []struct {
		what  string
		start []float64 // pairs
		move  scripted
		moves int
		want  float64
	}{
		// The mean is (2, 2), the squared distances from it are 8, 0 and 8.
		{"one move", []float64{0, 0, 2, 2, 4, 4}, shift, 1, 5 / math.Sqrt((8+0+8)/3.0)},
		{"three moves in a line", []float64{0, 0, 2, 2, 4, 4}, shift, 3, 15 / math.Sqrt((8+0+8)/3.0)},
		{"nobody moves", []float64{0, 0, 2, 2, 4, 4}, stay, 2, 0},
		{"a single particle, from (3, 4) to (6, 8)", []float64{3, 4}, shift, 1, 5.0 / 10},
		{"a single particle that stays at 0", []float64{0, 0}, stay, 1, 0},
		{"copies that stay", []float64{1, 1, 1, 1}, stay, 1, 0},
		{"copies that stay together", []float64{1, 1, 1, 1}, shift, 1, math.Inf(1)},
	} {
		s := Sampler{
			Model: density{2, func([]float64, []float64) float64 { return 0 }}, Prior: normal{d: 2, sd: 1}, Path: Ladder{[]float64{1}},
			Particles: len(c.start) / 2, Start: c.start, Resample: Resampler{When: Never{}},
			Move: repeated{c.move, mcmc.Mutations{Count: c.moves}},
		}
		if _, info := step(t, &s); float64(info.Displacement) != c.want && !golden.Near(float64(info.Displacement), c.want, 1e-14, 0) {
			t.Errorf("%s: displacement %v, want %v", c.what, info.Displacement, c.want)
		}
	}
}

// Distances are from the parents' positions: with resampling in every iteration, a common shift has the same length for all
// particles, whichever survived.
func TestRelativeDisplacementAfterResampling(t *testing.T) {
	s := Sampler{
		Model: density{1, func(theta, _ []float64) float64 { return -theta[0] * theta[0] }}, Prior: normal{d: 1, sd: 3}, Path: Ladder{[]float64{1}},
		Particles: 50, Resample: Resampler{When: Always{}},
		Move: repeated{scripted(func(_ int, theta []float64) {
			for i := range theta {
				theta[i] += 7
			}
		}), mcmc.Mutations{Count: 1}},
	}
	st, info := step(t, &s)
	mean, square := 0.0, 0.0
	for _, x := range st.Theta {
		mean += x / 50
	}
	for _, x := range st.Theta {
		square += (x - mean) * (x - mean) / 50
	}
	if info.Parents > 40 {
		t.Fatalf("%d of 50 particles are parents: resampling does not tell", info.Parents)
	}
	if want := 7 / math.Sqrt(square); !golden.Near(float64(info.Displacement), want, 1e-12, 0) {
		t.Errorf("displacement %v, want %v", info.Displacement, want)
	}
}

// BenchmarkRelativeDisplacement is what an iteration pays for the number: a population of the preset mnist7-smc, whose
// iterations take some 200 milliseconds, and one of pima, some 50.
func BenchmarkRelativeDisplacement(b *testing.B) {
	for _, c := range []struct{ j, d int }{{10, 6320}, {1000, 9}} {
		b.Run(fmt.Sprintf("%dx%d", c.j, c.d), func(b *testing.B) {
			p := mcmc.NewPopulation(c.j, c.d, mcmc.Needs{})
			before := p.Blank()
			for i := range p.Theta {
				p.Theta[i] = float64(i % 7)
			}
			s := Sampler{before: State{Population: before}, lineage: make([]int32, c.j), centre: make([]float64, c.d)}
			st := &State{Population: p}
			for b.Loop() {
				s.relativeDisplacement(st)
			}
		})
	}
}
