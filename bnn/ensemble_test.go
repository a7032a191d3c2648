package bnn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/nn"
)

// oneWeight is the network y = θ x; its particles are numbers.
func oneWeight(t *testing.T) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, nn.Gaussian{SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestGoldenIslands: the combined estimate Σ ω_p (1/I) Σ φ with the reference's evidence is the reference's.
func TestGoldenIslands(t *testing.T) {
	net := oneWeight(t)
	for _, c := range golden.Read(t, "weights.json") {
		switch c.Kind {
		case "ensemble": // TestGoldenEnsemble
			continue
		case "islands":
		default:
			t.Errorf("case %s: unknown kind %q", c.Name, c.Kind)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var in struct{ Phi [][]float64 }
			var want struct {
				LogZ, Omega []float64
				Estimate    float64
			}
			decode(t, c.Inputs, &in)
			decode(t, c.Expected, &want)
			islands := make([]Island, len(in.Phi))
			for p, phi := range in.Phi {
				islands[p] = Island{Theta: make([]float64, len(phi)), LogEvidence: want.LogZ[p]}
			}
			e := combine(t, net, islands, Evidence{})
			omega, estimate := make([]float64, len(islands)), 0.0
			i := 0
			for p, phi := range in.Phi {
				for _, x := range phi {
					w := math.Exp(e.LogWeights[i])
					omega[p] += w
					estimate += w * x
					i++
				}
			}
			wantNear(t, "omega", omega, want.Omega, 1e-9, 1e-12)
			wantNear(t, "estimate", []float64{estimate}, []float64{want.Estimate}, 1e-9, 1e-12)
		})
	}
}

// Check 3 of scalable-bayesian-monte-carlo: weights by exact exponentials, for islands of different sizes with
// weights of their own; a constant added to all evidence changes nothing, and 1e5 nats below zero is no underflow.
func TestCombineBruteForce(t *testing.T) {
	net := oneWeight(t)
	islands := []Island{
		{Theta: []float64{1, 2, 3}, LogEvidence: -2},
		{Theta: []float64{4, 5}, LogEvidence: -1, LogWeights: []float64{3, 5}},
		{Theta: []float64{6}, LogEvidence: math.Inf(-1)},
	}
	z := math.Exp(-2) + math.Exp(-1)
	a := math.Exp(3) + math.Exp(5)
	for by, want := range map[Combination][]float64{
		Equal{}:    {1.0 / 9, 1.0 / 9, 1.0 / 9, math.Exp(3) / a / 3, math.Exp(5) / a / 3, 1.0 / 3},
		Evidence{}: {math.Exp(-2) / z / 3, math.Exp(-2) / z / 3, math.Exp(-2) / z / 3, math.Exp(-1+3) / a / z, math.Exp(-1+5) / a / z, 0},
	} {
		e := combine(t, net, islands, by)
		wantNear(t, Combinations.Name(by), weightsOf(e), want, 1e-14, 0)
		if err := e.check(); err != nil {
			t.Error(err)
		}
		if e.Size() != 6 || e.Island[2] != 0 || e.Island[3] != 1 || e.Island[5] != 2 || e.Theta[4] != 5 {
			t.Errorf("islands %v, parameters %v", e.Island, e.Theta)
		}
		low := append([]Island(nil), islands...)
		for p := range low {
			low[p].LogEvidence -= 1e5
		}
		wantNear(t, "shifted", weightsOf(combine(t, net, low, by)), want, 1e-10, 0)
	}
}

func TestCombineErrors(t *testing.T) {
	net := oneWeight(t)
	for name, c := range map[string]struct {
		islands []Island
		by      Combination
		reason  string
	}{
		"no island":         {nil, Equal{}, "no islands"},
		"empty island":      {[]Island{{Theta: []float64{}}}, Equal{}, "island 0"},
		"NaN evidence":      {[]Island{{Theta: []float64{1}}, {Theta: []float64{1}, LogEvidence: math.NaN()}}, Evidence{}, "island 1 has log-weight NaN"},
		"infinite evidence": {[]Island{{Theta: []float64{1}, LogEvidence: math.Inf(1)}}, Evidence{}, "+Inf"},
		"no evidence":       {[]Island{{Theta: []float64{1}, LogEvidence: math.Inf(-1)}}, Evidence{}, "all 1 islands are dead"},
		"dead island":       {[]Island{{Theta: []float64{1}, LogWeights: []float64{math.Inf(-1)}}}, Equal{}, "weights of island 0"},
	} {
		if _, err := Combine(net, c.islands, c.by); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.reason)
		}
	}
}

// An ensemble can be weighted by either rule, whichever it was combined by, and is not changed.
func TestWeigh(t *testing.T) {
	islands := []Island{
		{Theta: []float64{1, 2, 3}, LogEvidence: -2e5},
		{Theta: []float64{4, 5}, LogEvidence: -2e5 - 1, LogWeights: []float64{3, 5}},
	}
	net := oneWeight(t)
	for _, from := range Combinations {
		e := combine(t, net, islands, from.Part)
		before := slices.Clone(e.LogWeights)
		for _, to := range Combinations {
			got, err := e.Weigh(to.Part)
			if err != nil {
				t.Fatal(err)
			}
			wantNear(t, from.Name+" to "+to.Name, got, combine(t, net, islands, to.Part).LogWeights, 0, 1e-14)
		}
		if got, err := e.Weigh(nil); err != nil || !slices.Equal(got, combine(t, net, islands, nil).LogWeights) {
			t.Errorf("nil is not the way to weigh islands that Combine takes for it: %v", err)
		} else if equal, _ := e.Weigh(Equal{}); !slices.Equal(got, equal) {
			t.Error("nil is not Equal")
		}
		if !slices.Equal(e.LogWeights, before) {
			t.Error("Weigh changes the ensemble")
		}
	}
}

func weightsOf(e *Ensemble) []float64 {
	weights, _ := exponentials([][]float64{e.LogWeights})
	return weights[0]
}

// TestCombineLarge: evidences and log-weights so large that the logarithm of their sum is lost beside them give weights
// that sum to 1 all the same.
func TestCombineLarge(t *testing.T) {
	net := oneWeight(t)
	d := net.Dim()
	e, err := Combine(net, []Island{
		{Theta: make([]float64, 2*d), LogWeights: []float64{1e300, 1e300}, LogEvidence: 1e12},
		{Theta: make([]float64, 3*d), LogWeights: []float64{-1e17, -1e17, -1e17}, LogEvidence: 1e12 + 1},
	}, Evidence{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range e.LogWeights {
		sum += math.Exp(l)
	}
	if !(math.Abs(sum-1) <= 1e-12) {
		t.Errorf("the weights %v sum to %v", e.LogWeights, sum)
	}
}
