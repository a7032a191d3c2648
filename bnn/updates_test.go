package bnn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// updated is a network whose last layer, head, is a low-rank update of 40 inputs to 30 units.
func updated(t *testing.T) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 40, Name: "fc"}, nn.ReLU, nn.LoRA{Units: 30, Rank: 20, Alpha: 4, Name: "head"}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// without is a file without some of its tensors.
func without(file []safetensors.Tensor, names ...string) []safetensors.Tensor {
	return slices.DeleteFunc(slices.Clone(file), func(a safetensors.Tensor) bool { return slices.Contains(names, a.Name) })
}

// TestReadUpdates: a file that has A and B gives both, beside W and b, which are no parameters. To the network of a file without them an update
// is added that changes nothing: A is drawn from N(0, 1/fan_in) and B is 0. Of the 800 numbers of A the mean square is within 5 standard
// deviations √(2/800) of its expectation, 0.25, which fails with probability 1e-6 and would find a variance of 1/rank.
func TestReadUpdates(t *testing.T) {
	net := updated(t)
	file := stateOf(net)
	w, err := ReadNetwork(saved(t, file), net)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Whole) != 4*40+20*40+30*20 || w.Untrained != nil || w.Whole[4*40] != 5./8 || w.Whole[4*40+20*40+1] != 6./8+1 {
		t.Errorf("%d parameters, untrained %+v", len(w.Whole), w.Untrained)
	}
	w, err = ReadNetwork(saved(t, without(file, "head.lora_A", "head.lora_B")), net)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Whole) != 4*40+20*40+30*20 || len(w.Untrained) != 2 || slices.ContainsFunc(w.Whole[4*40:], func(x float64) bool { return x != 0 }) {
		t.Errorf("%d parameters, untrained %+v", len(w.Whole), w.Untrained)
	}
	before := slices.Clone(w.Whole)
	w.Draw(rng.Key{Seed: 3, Purpose: rng.Start}.Stream())
	a, b, square := w.Whole[4*40:][:800], w.Whole[4*40+800:], 0.0
	for _, x := range a {
		square += x * x / 800 * 40
	}
	if !(math.Abs(square-1) <= 0.25) || slices.ContainsFunc(b, func(x float64) bool { return x != 0 }) || !slices.Equal(w.Whole[:4*40], before[:4*40]) {
		t.Errorf("A has the mean square %v times 1/40, B is %v", square, b[:3])
	}
}

// TestReadUpdatesErrors: a file that does not fit an update is refused, with the mend.
func TestReadUpdatesErrors(t *testing.T) {
	net := updated(t)
	file := stateOf(net)
	other := slices.Clone(file)
	for i := range other {
		if other[i].Name == "head.weight" {
			other[i].Shape, other[i].Data = []int{20, 40}, other[i].Data[:4*20*40]
		}
	}
	for want, c := range map[string][]safetensors.Tensor{
		"tensor head.lora_B [30 20] of the network (layer 2, lora) is not in the file":                                                                  without(file, "head.lora_B"),
		"an update has A and B; save both, or neither":                                                                                                  without(file, "head.lora_A"),
		"tensor head.weight is [20 40] in the file, the network has [30 40] (layer 2, lora): change the layers of the model to those that were trained": without(other, "head.lora_A", "head.lora_B"),
		"tensor head.weight [30 40] of the network (layer 2, lora) is not in the file":                                                                  without(file, "head.weight"),
		"if layer 2 was trained without a bias, write bias: false in it":                                                                                without(file, "head.bias", "head.lora_A", "head.lora_B"),
	} {
		if _, err := ReadNetwork(saved(t, c), net); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestUpdatesArePriored: the prior fan_in gives A the variance of its inputs and B that of the rank, and says nothing of W.
func TestUpdatesArePriored(t *testing.T) {
	net := updated(t)
	p, err := FanIn(net.Random(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]float64{0: 2. / 3, 4 * 40: 2. / 40, 4*40 + 800 - 1: 2. / 40, 4*40 + 800: 2. / 20, p.Dim() - 1: 2. / 20} {
		if sd := p.SD(at); !(math.Abs(sd*sd-want) <= 1e-12) {
			t.Errorf("parameter %d has the variance %v, want %v", at, sd*sd, want)
		}
	}
	if p.Dim() != net.Dim() {
		t.Errorf("a prior of %d numbers for %d", p.Dim(), net.Dim())
	}
}
