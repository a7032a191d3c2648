package nn

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestBefore: the layers from a layer on, whose inputs are the outputs of Before, give the outputs of the whole network bit for bit: for every
// layer with parameters of many networks, with normalisations, residuals, fused pools and dropout.
func TestBefore(t *testing.T) {
	cases := readerCases()
	two := [2]int{2, 2}
	conv := Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}
	cases["a pool that is fused"] = cases["nested"]
	fused := cases["nested"]
	fused.layers = []Layer{conv, ReLU, MaxPool{Size: two}, conv, AvgPool{Size: two}, Dropout(0.5), Dense{Units: 5}, Tanh, Dropout(0.25), ReLU, Dense{Units: 3, Name: "head"}}
	cases["pools and dropout"] = fused
	normed := cases["nested"]
	normed.layers = []Layer{conv, Norm{Batch: Frozen}, ReLU, Residual{[]Layer{conv, Norm{Batch: Frozen}}, nil}, ReLU, GlobalAvgPool{}, Dense{Units: 3}}
	cases["norm"] = normed
	r := rand.New(rand.NewPCG(3, 5))
	layers := 0
	for name, c := range cases {
		net, err := New(c.input, c.layers, c.lik)
		if err != nil {
			t.Fatal(err)
		}
		if net.numConstants > 0 {
			statistics := make([]float64, net.numConstants)
			for i := range statistics {
				statistics[i] = 0.5 + r.Float64()
			}
			if net, err = net.With(statistics); err != nil {
				t.Fatal(err)
			}
		}
		const n = 70
		theta, x := make([]float64, net.Dim()), make([]float32, n*net.features())
		for i := range theta {
			theta[i] = 0.5 * r.NormFloat64()
		}
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		want := outputsOf(t, net, net.input, x, theta)
		last := -1
		for _, tensor := range net.tensors {
			if tensor.Layer <= last || tensor.Layer < 0 {
				continue
			}
			first := last < 0
			last = tensor.Layer
			place, _, _ := strings.Cut(tensor.Place, ".")
			before, err := net.Before(place)
			if first {
				if err == nil || !strings.Contains(err.Error(), "its inputs are those of the network itself") {
					t.Errorf("%s, the first layer: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, layer %s: %v", name, place, err)
			}
			layers++
			rest, err := New(before.Output(), net.layers[last:], c.lik)
			if err != nil {
				t.Fatalf("%s, layer %s: %v", name, place, err)
			}
			if rest.numConstants > 0 {
				var of []float64
				for _, v := range net.constants[before.numConstants:] {
					of = append(of, float64(v))
				}
				if rest, err = rest.With(of); err != nil {
					t.Fatal(err)
				}
			}
			features := outputsOf(t, before, net.input, x, theta[:before.Dim()])
			if got := outputsOf(t, rest, before.Output(), features, theta[before.Dim():]); !slices.Equal(got, want) {
				t.Errorf("%s, layer %s: the outputs differ", name, place)
			}
		}
	}
	if layers < 60 {
		t.Errorf("only %d layers", layers)
	}
}

// outputsOf are the outputs of a network at one θ.
func outputsOf(t *testing.T, net *Net, shape []int, x []float32, theta []float64) []float32 {
	t.Helper()
	set := &data.Set{Name: "x", Shape: shape, F32: x}
	m, err := NewModel(net, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, set.Len()*net.Outputs())
	if err := m.Outputs(t.Context(), nil, theta, out); err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		if v != v {
			t.Fatal("NaN is equal to nothing")
		}
	}
	return out
}

// TestBeforeNames: a layer is found by its name, its place, and as the last one; of a network that is partly random, too. Others are refused
// with the nearest, and what stands inside a residual with its place.
func TestBeforeNames(t *testing.T) {
	layers := []Layer{Dense{Units: 4, Name: "in"}, GELU, Dense{Units: 3}, GELU, Residual{[]Layer{Dense{Units: 3}, Tanh, Dense{Units: 3, Name: "end"}}, nil}, Dense{Units: 1, Name: "out"}}
	partly, err := Random{LastLayer}.Network([]int{2}, layers, Gaussian{SD: Learned})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"out": 12 + 15 + 24, "last": 12 + 15 + 24, "5": 12 + 15 + 24, "4": 12 + 15, "2": 12} {
		net, err := partly.Before(name)
		if err != nil || net.Dim() != want || net.Parameters() != want {
			t.Errorf("%s: %v, want %d parameters", name, err, want)
		}
	}
	for name, want := range map[string]string{
		"outt":     `"outt" is no layer with parameters: did you mean "out"?`,
		"1":        `"1" is no layer with parameters`,
		"end":      `"end" stands inside layer 4, which is a residual: name that one`,
		"4.body":   `"4.body" stands inside layer 4`,
		"4.body.0": `"4.body.0" stands inside layer 4`,
		"in":       "no layer with parameters stands before in",
		"first":    "no layer with parameters stands before first",
		"all":      `"all" is no layer with parameters`,
		"":         `"" is no layer with parameters`,
	} {
		if _, err := partly.Before(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// TestBeforeFlat: the inputs of a dense layer behind planes are flat, those of a convolution and of a residual are planes.
func TestBeforeFlat(t *testing.T) {
	conv := Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}
	net, err := New([]int{1, 6, 5}, []Layer{conv, ReLU, conv, Residual{[]Layer{conv}, nil}, MaxPool{Size: [2]int{2, 2}}, Dense{Units: 4}}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := New([]int{1, 6, 5}, []Layer{conv, LoRA{Units: 4, Rank: 2, Alpha: 2}}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if before, err := updated.Before("last"); err != nil || !slices.Equal(before.Output(), []int{90}) {
		t.Errorf("before an update: %v", err)
	}
	for name, want := range map[string][]int{"2": {3, 6, 5}, "3": {3, 6, 5}, "last": {3 * 3 * 2}} {
		if before, err := net.Before(name); err != nil || !slices.Equal(before.Output(), want) || before.Outputs() != volume(want...) {
			t.Errorf("%s: %v, want features of shape %v", name, err, want)
		}
	}
}
