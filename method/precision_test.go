package method

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Precision is of the last line of every island. What a line lacks is unknown; but a path without adaptive steps has no bias.
func TestPrecision(t *testing.T) {
	trace := lines(2, 5, 4)
	number := func(x numeral.Number) *numeral.Number { return &x }
	trace[3].LogZSD, trace[4].LogZSD, trace[9].LadderBias = number(9), number(0.5), number(-0.25)
	batches := smc.Schedule[smc.Full]{Iterations: 20}
	for _, c := range []struct {
		path   smc.Path
		move   mcmc.Move
		ladder []float64
	}{{smc.Tempering{}, mcmc.HMC{}, []float64{math.NaN(), -0.25}}, {batches, mcmc.Unadjusted{}, []float64{0, -0.25}}} {
		p := SMC{Islands: 2, Particles: 4, Path: c.path, Move: c.move, Combine: bnn.Equal{}}.Sampling().Precision(trace)
		same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
		for i, want := range [][2]float64{{0.5, c.ladder[0]}, {math.NaN(), c.ladder[1]}} {
			if !same(p.SD[i], want[0]) || !same(p.Ladder[i], want[1]) {
				t.Errorf("%v, island %d: %v and %v, want %v", c.path, i, p.SD[i], p.Ladder[i], want)
			}
		}
	}
	if p := (MCMC{Chains: 2, Epochs: 100, Move: mcmc.HMC{}, Start: "prior"}).Sampling().Precision(trace); p != nil {
		t.Errorf("chains: %v", p)
	}
	if p := (MAP{}).Sampling().Precision(nil); p != nil {
		t.Errorf("no sampler: %v", p)
	}
}
