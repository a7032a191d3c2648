package bnn

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// A start by He has weights of N(0, 2/fan_in), γ 1, and 0 elsewhere, the outputs that are scales among them. Of n normal numbers the mean
// square is within 5.6 standard deviations √(2/n) of its expectation, and their mean within 5.6/√n of 0, but for a probability of 1e-6 in
// all: a variance that is off by 8 % would be found. What particles share begins alike, with N(0, 1/fan_in).
func TestStartsDraw(t *testing.T) {
	tensors := []nn.Tensor{
		{Name: "wide", Size: 10000, FanIn: 9, Kind: nn.Weights}, {Name: "bias", Offset: 10000, Size: 20, FanIn: 9, Kind: nn.Biases},
		{Name: "gamma", Offset: 10020, Size: 7, Kind: nn.Scales}, {Name: "beta", Offset: 10027, Size: 7, Kind: nn.Shifts},
		{Name: "tau", Offset: 10034, Size: 7, Kind: nn.Shifts}, {Name: "out", Offset: 10041, Size: 12000, FanIn: 300, Kind: nn.Weights, Zero: 2000},
		{Name: "log_sd", Offset: 22041, Size: 1, Kind: nn.Own},
		{Name: "eps", Offset: 22042, Size: 1, Kind: nn.Epsilons},
		{Name: "A", Offset: 22043, Size: 8000, FanIn: 50, Kind: nn.Updates}, {Name: "B", Offset: 30043, Size: 90, FanIn: 7, Kind: nn.Updates, Zero: 90},
	}
	prior := isotropic(t, tensors, 0.3)
	key := rng.Key{Seed: 5, Purpose: rng.Start}
	drawn := func(by Start) []float64 {
		theta := make([]float64, 30133)
		for i := range theta {
			theta[i] = math.NaN() // what was there before counts for nothing
		}
		by.Draw(tensors, prior, key.Stream(), theta)
		return theta
	}
	shared := make([]float64, 30133)
	for s, i := key.Stream(), 0; i < len(tensors); i++ {
		untrained(tensors[i], 1, s, shared[tensors[i].Offset:][:tensors[i].Size])
	}
	for name, c := range map[string]struct {
		theta []float64
		gain  float64
	}{"he": {drawn(He{}), 2}, "shared": {shared, 1}} {
		for _, x := range tensors {
			values := c.theta[x.Offset:][:x.Size]
			if x.Kind != nn.Weights && x.Kind != nn.Updates {
				want := map[nn.Kind]float64{nn.Scales: 1, nn.Epsilons: 1e-4}[x.Kind]
				if slices.ContainsFunc(values, func(v float64) bool { return v != want }) {
					t.Errorf("%s: %s begins at %v, want %v", name, x.Name, values, want)
				}
				continue
			}
			n := x.Size - x.Zero
			mean, square := 0.0, 0.0
			for _, v := range values[:n] {
				mean, square = mean+v/float64(n), square+v*v/float64(n)
			}
			if sd := math.Sqrt(c.gain / float64(x.FanIn)); n > 0 && (!(math.Abs(mean) <= 5.6*sd/math.Sqrt(float64(n))) || !(math.Abs(square/(sd*sd)-1) <= 5.6*math.Sqrt(2/float64(n)))) {
				t.Errorf("%s: %s has mean %v and mean square %v, want N(0, %v²)", name, x.Name, mean, square, sd)
			}
			if slices.ContainsFunc(values[n:], func(v float64) bool { return v != 0 }) {
				t.Errorf("%s: the last values of %s do not begin at 0", name, x.Name)
			}
		}
	}
	theta := make([]float64, 30133)
	if prior.Sample(key.Stream(), theta); !slices.Equal(drawn(FromPrior{}), theta) {
		t.Error("the start prior is no draw of the prior")
	}
	if by, plain := UsualStart([]nn.Layer{nn.ReLU, nn.Residual{Body: []nn.Layer{nn.FRN{}}}}), UsualStart([]nn.Layer{nn.ReLU, nn.Residual{Body: []nn.Layer{nn.ReLU}}}); by != (He{}) || plain != (FromPrior{}) {
		t.Errorf("%T with a normalisation, %T without", by, plain)
	}
}
