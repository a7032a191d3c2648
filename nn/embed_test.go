package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
)

// TestEmbedIsDense: vectors of whole numbers are a dense layer without bias on the numbers' unit vectors, and have its gradient.
func TestEmbedIsDense(t *testing.T) {
	const tokens, width, n, particles = 7, 5, 77, 3
	net := mustNet(t, []int{1}, []Layer{Embed{Tokens: tokens, Width: width, Name: "in"}, Tanh, Dense{Units: 3, Name: "out"}}, Categorical{})
	plain := mustNet(t, []int{tokens}, []Layer{Dense{Units: width, NoBias: true, Name: "in"}, Tanh, Dense{Units: 3, Name: "out"}}, Categorical{})
	r := rand.New(rand.NewPCG(3, 3))
	set, theta := testSet(net, n, false, r), testTheta(net, particles, r)
	units := *set
	units.Shape, units.F32 = []int{tokens}, make([]float32, n*tokens)
	for i, token := range set.F32 {
		units.F32[i*tokens+int(token)] = 1
	}
	turned := func(theta []float64) []float64 {
		same := append([]float64(nil), theta...)
		for j := range particles {
			for token := range tokens {
				for k := range width {
					same[j*net.dim+k*tokens+token] = theta[j*net.dim+token*width+k]
				}
			}
		}
		return same
	}
	logits, grad := logitsAndGradient(t, net, set, theta)
	wantLogits, want := logitsAndGradient(t, plain, &units, turned(theta))
	for i := range logits {
		if !(math.Abs(float64(logits[i]-wantLogits[i])) <= 1e-6) {
			t.Fatalf("logit %d is %v, of the dense layer %v", i, logits[i], wantLogits[i])
		}
	}
	for i, g := range turned(grad) {
		if !(math.Abs(g-want[i]) <= 1e-4) {
			t.Errorf("∂/∂θ[%d] is %v, of the dense layer %v", i, g, want[i])
		}
	}
}

// TestEmbedLayout: tensors have the names of an nn.Sequential of nn.Embedding, nn.Flatten and nn.Linear.
func TestEmbedLayout(t *testing.T) {
	net := mustNet(t, []int{32}, []Layer{Embed{Tokens: 65, Width: 16}, Dense{Units: 256}, ReLU, Dense{Units: 65}}, Categorical{})
	got := ""
	for _, x := range net.Tensors() {
		got += x.Name + " "
	}
	if got != "0.weight 2.weight 2.bias 4.weight 4.bias " || net.Dim() != 65*16+512*256+256+256*65+65 || net.Title() != "embed 16 → dense 256 → dense 65" {
		t.Errorf("tensors %s, D = %d, %s", got, net.Dim(), net.Title())
	}
	if want := 2. * (3*512*256 + 3*256*65); net.Flops() != want {
		t.Errorf("%v floating-point operations, want %v", net.Flops(), want)
	}
}

// TestEmbedFaults: a layer in the wrong place is refused, and inputs that are no tokens are, with row, place and mend, before anything is
// computed, in each part of the data.
func TestEmbedFaults(t *testing.T) {
	layer := Embed{Tokens: 4, Width: 2}
	for want, c := range map[string]struct {
		input  []int
		layers []Layer
	}{
		"layer 1 (embed): reads whole numbers, which the inputs of the network are and the outputs of a layer are not: put it first": {[]int{3}, []Layer{ReLU, layer, Dense{Units: 2}}},
		"layer 0 (residual): body: layer 0 (embed): reads whole numbers":                                                             {[]int{3}, []Layer{Residual{Body: []Layer{layer}}, Dense{Units: 2}}},
		"layer 0 (embed): needs inputs of shape [positions], has [1 2 2]":                                                            {[]int{1, 2, 2}, []Layer{layer, Dense{Units: 2}}},
		"layer 0 (embed): tokens and width must be positive, have 0 and 2":                                                           {[]int{3}, []Layer{Embed{Width: 2}, Dense{Units: 2}}},
	} {
		if _, err := New(c.input, c.layers, Categorical{}); err == nil || err.Error() != want && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	net := mustNet(t, []int{3}, []Layer{layer, Dense{Units: 2}}, Categorical{})
	good := &data.Set{Name: "train", Shape: []int{3}, F32: []float32{0, 1, 2, 3, 3, 0}, Labels: []int32{0, 1}, Classes: 2}
	if _, err := NewModel(net, good, nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		x    float32
		rows []int32
		file string
		want string
	}{
		{4, nil, "", `data set "test": row 1, place 2 is 4, and embed takes whole numbers from 0 to 3: correct it, or write tokens: 5 or more`},
		{4, []int32{7, 9}, "text.npy", "text.npy: row 9, place 2 is 4, and embed takes"},
		{-1, nil, "", `row 1, place 2 is -1, and embed takes whole numbers from 0 to 3: correct it, or write standardise: none under data, if it is scaled`},
		{0.5, nil, "", "row 1, place 2 is 0.5, and"},
		{float32(math.NaN()), nil, "", "row 1, place 2 is NaN, and"},
		{float32(math.Inf(1)), nil, "", "row 1, place 2 is +Inf, and"},
	} {
		bad := *good
		bad.Name, bad.F32, bad.Rows, bad.Source = "test", append([]float32{0, 1, 2, 3, 3}, c.x), c.rows, c.file
		if _, err := NewModel(net, &bad, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
		f := config.NewFaults()
		a := Architecture{Layers: []Layer{layer, Dense{Units: 2}}, Likelihood: Categorical{}}
		a.Network(&data.Problem{Train: good, Test: &bad}, f)
		if all := f.All(); len(all) != 1 || all[0].Path != "layers.0" || !strings.Contains(all[0].Message, c.want) {
			t.Errorf("before training: %+v, want %s", all, c.want)
		}
	}
	pixels := &data.Set{Name: "pixels", Shape: []int{3}, U8: []uint8{0, 1, 2}, Labels: []int32{0}, Classes: 2}
	if _, err := NewModel(net, pixels, nil); err == nil || !strings.Contains(err.Error(), "holds bytes") {
		t.Errorf("bytes: %v", err)
	}
}
