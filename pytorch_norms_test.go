package starling

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// formula is n numbers from 0 to 1, multiples of 2⁻²⁴, as in testdata/pytorch/norms.py.
func formula(name string, n int) []float64 {
	u, seed := make([]float64, n), uint64(crc32.ChecksumIEEE([]byte(name)))*0x9E3779B97F4A7C15
	for i := range u {
		z := seed + uint64(i)*0xBF58476D1CE4E5B9
		z ^= z >> 31
		z *= 0x94D049BB133111EB
		z ^= z >> 29
		u[i] = float64(z>>40) / (1 << 24)
	}
	return u
}

// formulaWeights are the values of a tensor, as in norms.py.
func formulaWeights(x nn.Tensor) []float32 {
	w, scale := make([]float32, x.Size), 0.1
	if len(x.Shape) == 4 {
		scale = 6
	}
	for i, u := range formula(x.Name, x.Size) {
		switch {
		case len(x.Shape) > 1:
			u = (2*u - 1) * math.Sqrt(scale/float64(x.Size/x.Shape[0]))
		case strings.HasSuffix(x.Name, "running_mean"), strings.HasSuffix(x.Name, "bias"), strings.HasSuffix(x.Name, "tau"):
			u -= 0.5
		default:
			u += 0.5
		}
		w[i] = float32(u)
	}
	return w
}

// stateDict is a file that holds the network with the weights of the formula, as PyTorch saves it: with counters of batches.
func stateDict(t *testing.T, net *nn.Net) []byte {
	t.Helper()
	var tensors []safetensors.Tensor
	add := func(x safetensors.Tensor, bits []byte) {
		x.Data = bits
		tensors = append(tensors, x)
	}
	for _, x := range net.Tensors() {
		var bits []byte
		for _, v := range formulaWeights(x) {
			bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(v))
		}
		add(safetensors.Tensor{Name: x.Name, DType: "F32", Shape: x.Shape}, bits)
	}
	for _, x := range net.Constants() {
		if name, ok := strings.CutSuffix(x.Name, "running_var"); ok {
			add(safetensors.Tensor{Name: name + "num_batches_tracked", DType: "I64"}, make([]byte, 8))
		}
	}
	var b strings.Builder
	if err := safetensors.Write(&b, tensors); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

// netOf is the network of a config in testdata/pytorch.
func netOf(t *testing.T, name string) *nn.Net {
	t.Helper()
	spec := parsed(t, filepath.Join("testdata/pytorch", name+".yaml"))
	net, err := nn.New(spec.Model.Input, spec.Model.Layers, spec.Model.Likelihood)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestPyTorchNetworks: logits and gradients of networks whose weights are a formula are those that PyTorch computed in float64
// (testdata/pytorch/norms.py). Every NAME-reference.json there is compared; that of VGG16 has a test of its own.
// The gradients of ResNet-20 agree to 1e-5 of their norm with batch norms, and to 4e-4 with FRN, where a value may be on either side of τ.
func TestPyTorchNetworks(t *testing.T) {
	files, err := filepath.Glob("testdata/pytorch/*-reference.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d references, %v", len(files), err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), "-reference.json"); name != "vgg16" {
			t.Run(name, func(t *testing.T) { likePyTorch(t, name, 1e-3) })
		}
	}
}

// TestPyTorchVGG16 is TestPyTorchNetworks for VGG16. Its gradient depends on which of two nearly equal pixels a pool takes, and on which side
// of 0 a value is: noise of 2e-6 of the deviation behind every convolution changes it by 2e-3 of its norm in PyTorch, too.
func TestPyTorchVGG16(t *testing.T) {
	testkit.Takes(t, 1)
	likePyTorch(t, "vgg16", 5e-3)
}

// likePyTorch wants logits within 1e-4. The gradient of each tensor is compared by its norm and along a direction, within a share of the norm.
func likePyTorch(t *testing.T, name string, bound float64) {
	t.Helper()
	text, err := os.ReadFile("testdata/pytorch/" + name + "-reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Logits    []float64
		Gradients map[string][2]float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	net := netOf(t, name)
	w, err := bnn.ReadNetwork(stateDict(t, net), net)
	if err != nil {
		t.Fatal(err)
	}
	set := &data.Set{Name: name, Shape: []int{3, 32, 32}, Classes: 10}
	for _, u := range formula("inputs", 64*3*32*32) {
		set.F32 = append(set.F32, float32(u))
	}
	for i := range 64 {
		set.Labels = append(set.Labels, int32(i%10))
	}
	model, err := nn.NewModel(w.Net, set, nn.NewPool(1))
	if err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, len(want.Logits))
	if err := model.Outputs(context.Background(), nil, w.Whole, logits); err != nil {
		t.Fatal(err)
	}
	worst, largest := 0.0, 0.0
	for i, x := range want.Logits {
		d := math.Abs(float64(logits[i]) - x)
		worst, largest = max(worst, d), max(largest, math.Abs(x))
		if !(d <= 1e-4) {
			t.Fatalf("logit %d is %v, PyTorch's %v", i, logits[i], x)
		}
	}
	ll, grad := make([]float64, 1), make([]float64, net.Dim())
	if err := model.LogLik(context.Background(), nil, w.Whole, ll, grad); err != nil {
		t.Fatal(err)
	}
	if len(net.Random()) != len(want.Gradients) {
		t.Errorf("%d tensors, PyTorch has %d", len(net.Random()), len(want.Gradients))
	}
	away := 0.0
	for _, x := range net.Random() {
		norm, along := 0.0, 0.0
		for i, u := range formula("along "+x.Name, x.Size) {
			g := grad[x.Offset+i]
			norm, along = norm+g*g, along+g*(2*u-1)
		}
		norm = math.Sqrt(norm)
		by := want.Gradients[x.Name]
		d := max(math.Abs(norm-by[0]), math.Abs(along-by[1])) / by[0]
		if away = max(away, d); !(d <= bound) {
			t.Errorf("the gradient of %s has norm %v and product %v, PyTorch's %v", x.Name, norm, along, by)
		}
	}
	t.Logf("%s: logits to %.1f differ by at most %.1e, gradients by %.1e of their norm", net.Size(), largest, worst, away)
}

// TestCountsOfNetworks: the networks have as many parameters as their papers' tables say: VGG16 has 14,710,464 weights in its convolutions.
func TestCountsOfNetworks(t *testing.T) {
	const convolutions, channels = 14710464, 4224
	vgg := netOf(t, "vgg16")
	if got, want := vgg.Parameters(), convolutions+2*channels+513*10; got != want {
		t.Errorf("VGG16 has %d parameters, want %d", got, want)
	}
	if statistics := 2 * channels; len(vgg.Constants()) != 26 || vgg.Partly() || len(formulaOf(vgg)) != statistics {
		t.Errorf("VGG16 has %d tensors of statistics, %d numbers, partly random: %v", len(vgg.Constants()), len(formulaOf(vgg)), vgg.Partly())
	}
	var plain []nn.Layer // with biases in place of norms, and 100 classes
	for _, l := range parsed(t, "testdata/pytorch/vgg16.yaml").Model.Layers {
		switch l := l.(type) {
		case nn.Norm:
		case nn.Conv:
			l.NoBias = false
			plain = append(plain, l)
		case nn.Dense:
			plain = append(plain, nn.Dense{Units: 100})
		default:
			plain = append(plain, l)
		}
	}
	net, err := nn.New([]int{3, 32, 32}, plain, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := net.Parameters(), convolutions+channels+513*100; got != want {
		t.Errorf("VGG16 without norms has %d parameters, want %d", got, want)
	}
	// 268,346 with option A and without norms; two projections, and norms of 16, 6·16, 32, 6·32, 64 and 6·64 channels.
	if got, want := netOf(t, "resnet20").Parameters(), 268346+16*32+32*64+2*(7*16+7*32+7*64); got != want {
		t.Errorf("ResNet-20 has %d parameters, want %d", got, want)
	}
}

// formulaOf is the statistics of a network by the formula.
func formulaOf(net *nn.Net) (all []float32) {
	for _, x := range net.Constants() {
		all = append(all, formulaWeights(x)...)
	}
	return all
}
