package bnn

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// drawing are tensors of each kind, in their order, and the number of their values.
func drawing() (tensors []nn.Tensor, size int) {
	tensors = []nn.Tensor{
		{Name: "wide", Size: 10000, FanIn: 9, Kind: nn.Weights}, {Name: "bias", Size: 3000, FanIn: 9, Kind: nn.Biases},
		{Name: "gamma", Size: 7, Kind: nn.Scales}, {Name: "beta", Size: 7, Kind: nn.Shifts}, {Name: "tau", Size: 7, Kind: nn.Shifts},
		{Name: "out", Size: 12000, FanIn: 300, Kind: nn.Weights, Zero: 2000}, {Name: "out bias", Size: 3000, FanIn: 300, Kind: nn.Biases, Zero: 500},
		{Name: "log_sd", Size: 1, Kind: nn.Own}, {Name: "eps", Size: 1, Kind: nn.Epsilons},
		{Name: "A", Size: 8000, FanIn: 50, Kind: nn.Updates}, {Name: "B", Size: 90, FanIn: 7, Kind: nn.Updates, Zero: 90},
		{Name: "embedding", Size: 6000, FanIn: 1, Kind: nn.Weights, Of: "embed", Shape: []int{600, 10}},
	}
	for i := range tensors {
		tensors[i].Offset, size = size, size+tensors[i].Size
	}
	return tensors, size
}

// The values of each tensor at a start have the variance that the start's rule gives, in units of 1/fan_in for weights and, by torch alone,
// biases: 2 by he, 1 by jax and where particles share them, 1/3 by torch. Vectors of an embedding of width 10 have theirs. γ is 1, a learned ε is
// 1e-4, and all else is 0, the outputs that are scales among them. Of n numbers that are no heavier in the tails than normal ones, the mean square
// is within 5.7 standard deviations √(2/n) of its expectation, and their mean within 5.7/√n of 0, but for a probability of 1e-6 in all 60
// comparisons: a variance that is off by 15 % would be found in any tensor, and one off by 9 % among the weights.
func TestStartsDraw(t *testing.T) {
	tensors, size := drawing()
	prior := isotropic(t, tensors, 0.3)
	key := rng.Key{Seed: 5, Purpose: rng.Start}
	drawn := func(by Start) []float64 {
		theta := make([]float64, size)
		for i := range theta {
			theta[i] = math.NaN() // what was there before counts for nothing
		}
		by.Draw(tensors, prior, key.Stream(), theta)
		return theta
	}
	shared := make([]float64, size)
	for s, i := key.Stream(), 0; i < len(tensors); i++ {
		untrained(tensors[i], 1, s, shared[tensors[i].Offset:][:tensors[i].Size])
	}
	rules := map[string]struct{ weights, biases, vectors float64 }{"he": {2, 0, 2}, "shared": {1, 0, 1}, "jax": {1, 0, 0.1}, "torch": {1. / 3, 1. / 3, 1}}
	thetas := map[string][]float64{"shared": shared}
	for _, row := range Starts {
		theta := drawn(row.Part)
		if fromPrior := make([]float64, size); !row.Part.Untrained() {
			if prior.Sample(key.Stream(), fromPrior); !slices.Equal(theta, fromPrior) {
				t.Errorf("the start %s is no draw of the prior", row.Name)
			}
			continue
		}
		thetas[row.Name] = theta
	}
	for name, theta := range thetas {
		rule, ok := rules[name]
		if !ok {
			t.Errorf("no rule for the start %s", name)
		}
		for _, x := range tensors {
			values, variance := theta[x.Offset:][:x.Size], 0.0
			switch {
			case x.Of == "embed":
				variance = rule.vectors
			case x.Kind == nn.Weights || x.Kind == nn.Updates:
				variance = rule.weights / float64(x.FanIn)
			case x.Kind == nn.Biases:
				variance = rule.biases / float64(x.FanIn)
			}
			if variance == 0 {
				want := map[nn.Kind]float64{nn.Scales: 1, nn.Epsilons: 1e-4}[x.Kind]
				if slices.ContainsFunc(values, func(v float64) bool { return v != want }) {
					t.Errorf("%s: %s begins at %v…, want %v", name, x.Name, values[0], want)
				}
				continue
			}
			n := x.Size - x.Zero
			mean, square := 0.0, 0.0
			for _, v := range values[:n] {
				mean, square = mean+v/float64(n), square+v*v/float64(n)
			}
			if sd := math.Sqrt(variance); n > 0 && (!(math.Abs(mean) <= 5.7*sd/math.Sqrt(float64(n))) || !(math.Abs(square/variance-1) <= 5.7*math.Sqrt(2/float64(n)))) {
				t.Errorf("%s: %s has mean %v and mean square %v, want 0 and %v", name, x.Name, mean, square, variance)
			}
			if slices.ContainsFunc(values[n:], func(v float64) bool { return v != 0 }) {
				t.Errorf("%s: the last values of %s do not begin at 0", name, x.Name)
			}
		}
	}
}

// Weights and biases are distributed as those of PyTorch and JAX, whose quantiles over 4,000,000 draws are in testdata/starts.json: at each
// of them the share of 1,000,000 draws below differs from the library's by less than ε₁ + ε₂, where ε = √(ln(2/δ)/2n) is the bound of Dvoretzky,
// Kiefer, Wolfowitz and Massart of each sample, with δ = 1e-7 for ours: 1e-6 in all but for the libraries' own draws, which are as they are. So a
// normal distribution of the same variance, .012 away at the cut, would be found. No number lies beyond the largest that can be.
func TestStartsOfLibraries(t *testing.T) {
	text, err := os.ReadFile("testdata/starts.json")
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		P       []float64
		Samples map[string]map[string]struct {
			N         int
			Quantiles []float64
		}
	}
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	const n, fanIn = 1_000_000, 50
	bound := func(n int) float64 { return math.Sqrt(math.Log(2/1e-7) / 2 / float64(n)) }
	tensors := []nn.Tensor{{Size: n, FanIn: fanIn, Kind: nn.Weights}, {Offset: n, Size: n, FanIn: fanIn, Kind: nn.Biases}}
	for name, most := range map[string]float64{"jax": 2 / cutSD, "torch": 1} {
		start, _ := Starts.Find(name)
		theta := make([]float64, 2*n)
		start.Draw(tensors, nil, rng.Key{Seed: 6, Purpose: rng.Start}.Stream(), theta)
		for kind, sample := range of.Samples[name] {
			values := theta[:n]
			if kind == "bias" {
				values = theta[n:]
			}
			for i, q := range sample.Quantiles {
				below := 0
				for _, v := range values {
					if v*math.Sqrt(fanIn) < q {
						below++
					}
				}
				if share := float64(below) / n; !(math.Abs(share-of.P[i]) <= bound(n)+bound(sample.N)) {
					t.Errorf("%s, %s: %v of the draws are below %v, the library's %v", name, kind, share, q, of.P[i])
				}
			}
			low, high := slices.Min(values)*math.Sqrt(fanIn), slices.Max(values)*math.Sqrt(fanIn)
			if !(max(-low, high) <= most*(1+1e-12)) || !(min(-low, high) >= 0.999*most) {
				t.Errorf("%s, %s: draws from %v to %v, want all between ±%v", name, kind, low, high, most)
			}
		}
		if len(of.Samples[name]) < 2 {
			t.Errorf("no samples of %s", name)
		}
	}
}

// Descents of a network with a normalisation begin by he, others at draws of the prior.
func TestUsualStart(t *testing.T) {
	if by, plain := UsualStart([]nn.Layer{nn.ReLU, nn.Residual{Body: []nn.Layer{nn.FRN{}}}}), UsualStart([]nn.Layer{nn.ReLU, nn.Residual{Body: []nn.Layer{nn.ReLU}}}); by != (He{}) || plain != (FromPrior{}) {
		t.Errorf("%T with a normalisation, %T without", by, plain)
	}
}
