package bnn

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// startNet has learned and frozen layers with and without a bias, convolutions too, and a random last one.
func startNet(t *testing.T) *nn.Net {
	t.Helper()
	net, err := nn.NewPartly([]int{1, 8, 8}, []nn.Layer{
		nn.Conv{Filters: 300, Kernel: [2]int{3, 3}, Name: "conv"}, nn.Tanh, nn.GlobalAvgPool{}, nn.Dense{Units: 50, NoBias: true, Name: "frozen"},
		nn.Dense{Units: 40, Name: "bias"}, nn.Tanh, nn.Dense{Units: 1, Name: "last"},
	}, nn.Gaussian{SD: nn.Learned}, func(module string) nn.Role {
		return map[string]nn.Role{"conv": nn.RoleLearned, "frozen": nn.RoleFrozen, "bias": nn.RoleLearned}[module]
	})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// Weights that particles share begin at N(0, 1/fan_in), everything else at 0. Of n normal numbers the mean square is within 5.6
// standard deviations √(2/n) of its expectation, and their mean within 5.6/√n of 0, but for a probability of 1e-6 in all.
func TestDrawShared(t *testing.T) {
	net := startNet(t)
	psi := DrawShared(net, rng.Key{Seed: 2, Purpose: rng.Start}.Stream())
	fanIn := map[string]float64{"conv.weight": 9, "bias.weight": 50}
	for _, x := range net.Tensors() {
		if x.Role != nn.RoleLearned {
			continue
		}
		mean, square, n := 0.0, 0.0, float64(x.Size)
		for _, v := range psi[x.Offset:][:x.Size] {
			mean += v / n
			square += v * v / n
		}
		in, drawn := fanIn[x.Name]
		switch {
		case !drawn && (mean != 0 || square != 0):
			t.Errorf("%s begins at a mean of %v and a mean square of %v", x.Name, mean, square)
		case drawn && !(math.Abs(mean)*math.Sqrt(in) <= 5.6/math.Sqrt(n) && math.Abs(square*in-1) <= 5.6*math.Sqrt(2/n)):
			t.Errorf("%s of %v inputs: mean %v, mean square %v", x.Name, in, mean, square)
		}
	}
	twins, err := nn.NewPartly([]int{3}, []nn.Layer{nn.Dense{Units: 5, Name: "in"}, nn.Tanh, nn.Dense{Units: 4, Name: "out"}},
		nn.Gaussian{SD: nn.Predicted}, func(module string) nn.Role {
			return map[string]nn.Role{"in": nn.RoleRandom, "out": nn.RoleLearned}[module]
		})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range DrawShared(twins, rng.Key{Seed: 2, Purpose: rng.Start}.Stream()) {
		if mean := i < 2*5; mean == (x == 0) {
			t.Errorf("value %d of two means and two log σ begins at %v", i, x)
		}
	}
	if again := DrawShared(net, rng.Key{Seed: 2, Purpose: rng.Start}.Stream()); again[3] != psi[3] || psi[3] == psi[4] {
		t.Error("another draw from the same stream")
	}
}

// The prior of whole networks is that of θ and flat on all else, at any place of θ among the tensors.
func TestWholePrior(t *testing.T) {
	net := startNet(t)
	prior, err := FanIn(net.Random(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if prior.Dim() != 41 || prior.SD(0) != math.Sqrt(3./40) {
		t.Fatalf("a prior of %d parameters, the first of sd %v", prior.Dim(), prior.SD(0))
	}
	p := Whole(prior, net)
	if p.Dim() != net.Parameters() {
		t.Fatalf("%d parameters", p.Dim())
	}
	whole, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
	p.Sample(rng.Key{Seed: 3, Purpose: rng.Start}.Stream(), whole)
	theta, psi := net.Split(whole)
	want := make([]float64, len(theta))
	density := prior.LogDensity(theta, want)
	if got := p.LogDensity(whole, grad); got != density || p.LogDensity(whole, nil) != density {
		t.Errorf("log-density %v, of θ %v", got, density)
	}
	for x, part := range net.Places(grad) {
		if x.Role != nn.RoleRandom {
			wantNear(t, "gradient of "+x.Name, part, make([]float64, x.Size), 0, 0)
		}
	}
	slope, _ := net.Split(grad)
	wantNear(t, "gradient of θ", slope, want, 0, 0)
	if theta[0] == 0 || psi[0] == 0 || psi[net.Learned()-1] != 0 {
		t.Errorf("a draw with θ_0 %v, ψ_0 %v and log σ %v", theta[0], psi[0], psi[net.Learned()-1])
	}
	for x, part := range net.Places(whole) {
		if x.Name == "frozen.weight" && !(part[0] != part[1] && math.Abs(part[0]) < 6/math.Sqrt(300)) {
			t.Errorf("frozen weights are drawn as %v, %v", part[0], part[1])
		}
	}
	if all := net.Whole(); Whole(prior, all) != prior {
		t.Error("another prior where all is random")
	}
}
