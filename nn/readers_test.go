package nn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// readerCases are networks in which values have several readers.
func readerCases() map[string]struct {
	input  []int
	layers []Layer
	lik    Likelihood
} {
	conv := func(f, k, s, p int) Conv {
		return Conv{Filters: f, Kernel: [2]int{k, k}, Stride: [2]int{s, s}, Pad: [2]int{p, p}}
	}
	dense := func(units int) Layer { return Dense{Units: units} }
	layers := func(l ...Layer) []Layer { return l }
	two := [2]int{2, 2}
	same := layers(AvgPool{Size: [2]int{1, 1}})
	image, features := []int{2, 6, 5}, []int{6}
	type net = struct {
		input  []int
		layers []Layer
		lik    Likelihood
	}
	return map[string]net{
		// In the conv stage: borders that one reader wants and another does not.
		"identity":           {image, layers(conv(3, 3, 1, 1), ReLU, Residual{Body: layers(conv(4, 3, 1, 1), ReLU, conv(3, 3, 1, 1))}, Tanh, dense(3)), Categorical{}},
		"identity first":     {image, layers(conv(3, 3, 1, 1), Tanh, Residual{same, layers(conv(3, 5, 1, 2), Swish)}, dense(3)), Categorical{}},
		"projection":         {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(4, 3, 2, 1), Swish, conv(4, 3, 1, 1)), layers(conv(4, 1, 2, 0))}, GlobalAvgPool{}, dense(3)), Categorical{}},
		"pad":                {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(6, 3, 2, 1), Swish, conv(6, 3, 1, 1)), layers(Pad{})}, ReLU, Residual{layers(conv(9, 3, 1, 1)), layers(Pad{})}, conv(2, 3, 1, 1), dense(3)), Categorical{}},
		"pad behind relu":    {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(6, 3, 2, 1), ReLU), layers(Pad{})}, Residual{layers(conv(6, 3, 1, 1), ReLU), nil}, conv(2, 3, 1, 1), dense(3)), Categorical{}},
		"pad, activation":    {image, layers(conv(3, 3, 1, 1), Residual{layers(conv(6, 3, 2, 1)), layers(Pad{}, Swish)}, Residual{layers(conv(7, 3, 1, 1)), layers(Pad{}, Tanh, GELU)}, dense(3)), Categorical{}},
		"pad of the input":   {image, layers(Residual{layers(conv(2, 3, 2, 1)), layers(Pad{})}, Tanh, dense(3)), Categorical{}},
		"of the input":       {image, layers(Residual{layers(conv(2, 3, 1, 1)), nil}, ReLU, conv(2, 3, 1, 1), dense(3)), Categorical{}},
		"pools in branches":  {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(5, 3, 1, 1), ReLU, MaxPool{Size: two}), layers(conv(5, 3, 1, 1), ReLU, AvgPool{Size: two})}, dense(3)), Categorical{}},
		"means in branches":  {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(5, 3, 1, 1), ReLU, AvgPool{Size: two}), layers(conv(5, 3, 1, 1), ReLU, AvgPool{Size: two})}, conv(2, 3, 1, 1), dense(3)), Categorical{}},
		"pool as a branch":   {image, layers(conv(2, 3, 1, 1), ReLU, Residual{layers(MaxPool{[2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}}), layers(conv(2, 3, 1, 1))}, dense(3)), Categorical{}},
		"activation, border": {image, layers(conv(2, 3, 1, 1), Residual{layers(Tanh), layers(conv(2, 5, 1, 2))}, dense(3)), Categorical{}},
		"border, activation": {image, layers(conv(2, 3, 1, 1), Residual{layers(conv(2, 3, 1, 1)), layers(GELU)}, conv(2, 3, 1, 0), dense(3)), Categorical{}},
		"relu, activation":   {image, layers(conv(2, 3, 1, 1), ReLU, Residual{layers(Tanh), layers(Swish)}, dense(3)), Categorical{}},
		"frn":                {image, layers(conv(3, 3, 1, 1), FRN{TLU: true}, Residual{layers(conv(4, 3, 1, 1), FRN{Eps: Learned}, Swish, conv(3, 5, 1, 2), FRN{}), nil}, Residual{layers(FRN{}, Tanh), layers(FRN{TLU: true}, ReLU)}, conv(2, 3, 1, 1), dense(3)), Categorical{}},
		"nested":             {image, layers(conv(2, 3, 1, 1), ReLU, Residual{layers(Residual{layers(conv(2, 3, 1, 1)), nil}, conv(2, 3, 1, 1)), layers(Residual{Body: same})}, dense(3)), Categorical{}},
		"twice itself":       {image, layers(conv(2, 3, 1, 1), Residual{Body: same}, ReLU, conv(2, 2, 1, 0), dense(3)), Categorical{}},
		"conv and dense":     {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(conv(2, 3, 1, 1), dense(4)), layers(dense(4))}, dense(3)), Categorical{}},
		"dense and conv":     {image, layers(conv(3, 3, 1, 1), ReLU, Residual{layers(dense(4)), layers(conv(2, 3, 1, 1), Swish, conv(2, 3, 1, 1), dense(4))}, dense(3)), Categorical{}},
		"the output":         {[]int{1, 4, 4}, layers(conv(2, 3, 1, 1), ReLU, Residual{layers(conv(2, 3, 1, 1)), nil}), Gaussian{SD: 1}},

		// In the dense stage.
		"dense identity":     {features, layers(dense(5), ReLU, Residual{layers(dense(7), Tanh, dense(5)), nil}, dense(2)), Gaussian{SD: Learned}},
		"two dense layers":   {features, layers(dense(5), Tanh, Residual{layers(dense(4), ReLU), layers(dense(4), Swish)}, dense(3)), Categorical{}},
		"two of the input":   {features, layers(Residual{layers(dense(4), Tanh), layers(dense(4))}, dense(3)), Categorical{}},
		"input and a pool":   {[]int{2, 4, 6}, layers(Residual{layers(dense(4), Tanh), layers(AvgPool{Size: two}, dense(4))}, ReLU, dense(3)), Categorical{}},
		"dense twice itself": {features, layers(dense(4), Swish, Residual{Body: layers(Residual{Body: layers(dense(4))})}, dense(3)), Categorical{}},
		"dense output":       {features, layers(dense(3), ReLU, Residual{layers(dense(3)), nil}), Categorical{}},
	}
}

// TestReaders checks networks in which values have several readers against finite differences of the float64 reference.
func TestReaders(t *testing.T) {
	for name, c := range readerCases() {
		t.Run(name, func(t *testing.T) {
			net := mustNet(t, c.input, c.layers, c.lik)
			r := rand.New(rand.NewPCG(8, uint64(len(name))))
			set := testSet(net, 35, false, r) // three groups, the last not full
			checkGradient(t, net, set, testTheta(net, 3, r), r)
		})
	}
}

// TestReadersOfManyParticles compares passes of many particles with calls of a single one, bit by bit: two dense layers
// that read different values of the input must not share the transposed tile that lasts from pass to pass.
func TestReadersOfManyParticles(t *testing.T) {
	for name, c := range readerCases() {
		t.Run(name, func(t *testing.T) {
			net := mustNet(t, c.input, c.layers, c.lik)
			particles := 800 // with one thread, tasks of two passes
			if net.program().batch == 1 {
				particles = 3
			}
			r := rand.New(rand.NewPCG(9, uint64(len(name))))
			m, err := NewModel(net, testSet(net, 70, false, r), pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			theta, d := testTheta(net, particles, r), net.dim
			ll, grad := make([]float64, particles), make([]float64, len(theta))
			if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
				t.Fatal(err)
			}
			for j := 0; j < particles; j += 1 + particles/40 { // at all places of a pass
				one, own := make([]float64, 1), make([]float64, d)
				if err := m.LogLik(context.Background(), nil, theta[j*d:][:d], one, own); err != nil {
					t.Fatal(err)
				}
				if ll[j] != one[0] || !slices.Equal(grad[j*d:][:d], own) {
					t.Fatalf("particle %d: log-likelihood %v and gradient %v, alone %v and %v", j, ll[j], grad[j*d:][:d], one[0], own)
				}
			}
		})
	}
}

// TestChainHasNoAccumulate checks that only values with several readers cost ops.
func TestChainHasNoAccumulate(t *testing.T) {
	count := func(net *Net) (accumulates int) {
		for _, ops := range net.program().ops {
			for _, o := range ops {
				if _, ok := o.(*accumulate); ok {
					accumulates++
				}
			}
		}
		return accumulates
	}
	if n := count(odd(t)); n != 0 {
		t.Errorf("%d gradients are added in a chain", n)
	}
	for name, want := range map[string]int{"identity": 1, "of the input": 0, "nested": 3, "two dense layers": 1, "two of the input": 0} {
		c := readerCases()[name]
		if n := count(mustNet(t, c.input, c.layers, c.lik)); n != want {
			t.Errorf("%s: %d gradients are added, want %d", name, n, want)
		}
	}
}

// TestInnerLayers checks what a layer that consists of others adds to the network: names as PyTorch gives them to the
// modules body and shortcut, and the arithmetic, which leaves out the input gradients of all layers that read the input.
func TestInnerLayers(t *testing.T) {
	body := []Layer{Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, Conv{Filters: 2, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}, NoBias: true, Name: "last"}}
	net := mustNet(t, []int{2, 4, 4}, []Layer{
		Tanh, Residual{body, []Layer{Conv{Filters: 2, Kernel: [2]int{1, 1}}}}, Residual{Body: []Layer{Tanh}}, Dense{Units: 3},
	}, Categorical{})
	var names []string
	for _, p := range net.Tensors() {
		names = append(names, fmt.Sprintf("%d %s", p.Layer, p.Name))
	}
	want := "1 1.body.0.weight, 1 1.body.0.bias, 1 last.weight, 1 1.shortcut.0.weight, 1 1.shortcut.0.bias, 3 4.weight, 3 4.bias"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("tensors %s\nwant    %s", got, want)
	}
	first, last, shortcut, head := 2*9*2*16, 2*9*2*16, 2*2*16, 32*3
	if got, want := net.Flops(), 2*float64(2*first+3*last+2*shortcut+3*head); got != want {
		t.Errorf("%v floating-point operations, want %v", got, want)
	}

	for want, layers := range map[string][]Layer{
		`layer 0 (residual): body: layer 1 (dense): units must be positive`:                         {Residual{[]Layer{ReLU, Dense{}}, nil}, Dense{Units: 2}},
		`layer 0 (residual): the body gives [3 4 4] and the shortcut [2 4 4], and they are added: `: {Residual{[]Layer{Conv{Filters: 3, Kernel: [2]int{1, 1}}}, nil}, Dense{Units: 2}},
		`layer 0 (residual): shortcut: layer 1 (dense): the name "a" is taken`:                      {Residual{[]Layer{Dense{Units: 2}}, []Layer{Dense{Units: 2, Name: "a"}, Dense{Units: 2, Name: "a"}}}, Dense{Units: 2}},
	} {
		if _, err := New([]int{2, 4, 4}, layers, Categorical{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
