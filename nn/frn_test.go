package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// TestFRNOfOnePixel compares with the closed form: the mean of squares of one pixel x is x², so that z = γ x/√(x² + ε) + β, and dz/dx = γ ε/(x² + ε)^1.5.
// The pixel is w times the input. Behind the threshold follows nothing, or Swish, whose derivative is that of its own input, max(z, τ).
func TestFRNOfOnePixel(t *testing.T) {
	layers := []Layer{Conv{Filters: 1, Kernel: [2]int{1, 1}, NoBias: true}, FRN{TLU: true, Eps: Learned}}
	for _, net := range []*Net{mustNet(t, []int{1, 1, 1}, layers, Gaussian{SD: 1}), mustNet(t, []int{1, 1, 1}, append(layers, Swish), Gaussian{SD: 1})} {
		for _, c := range []struct{ x, w, gamma, beta, tau, eps, target float64 }{
			{.5, 2, 1.5, .25, -8, .25, 1},    // passes
			{-.5, 2, 1.5, .25, -.5, .25, 1},  // stops at the threshold
			{.5, -.5, .75, .5, -8, -.125, 3}, // ε from the other side of 0
			{.5, 1, 1, 0, -8, 0, .5},         // and at 0, from the right
			{0, 1, 2, .5, -8, .125, 1},       // nothing but β
		} {
			set := &data.Set{Name: "pixel", Shape: []int{1, 1, 1}, F32: []float32{float32(c.x)}, Values: []float32{float32(c.target)}, Outputs: 1}
			m, err := NewModel(net, set, pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			ll, grad := make([]float64, 1), make([]float64, net.dim)
			if err := m.LogLik(context.Background(), nil, []float64{c.w, c.gamma, c.beta, c.tau, c.eps}, ll, grad); err != nil {
				t.Fatal(err)
			}
			x, eps, sign := c.w*c.x, 1e-6+math.Abs(c.eps), 1.
			if c.eps < 0 {
				sign = -1
			}
			root := 1 / math.Sqrt(x*x+eps)
			z := c.gamma*x*root + c.beta
			y, slope := max(z, c.tau), 1.
			if len(net.nodes) > 2 {
				s := 1 / (1 + math.Exp(-y))
				y, slope = y*s, s+y*s*(1-s)
			}
			r := c.target - y
			d := r * slope
			want := []float64{d * c.gamma * eps * root * root * root * c.x, d * x * root, d, 0, d * -c.gamma * x * root * root * root / 2 * sign}
			if z <= c.tau {
				want = []float64{0, 0, 0, d, 0}
			}
			for i, w := range append(want, -r*r/2-math.Log(2*math.Pi)/2) {
				if got := append(slices.Clone(grad), ll[0])[i]; !golden.Near(got, w, 1e-5, 1e-6) {
					t.Errorf("%+v, %d layers: number %d of the gradient and the log-likelihood is %v, want %v", c, len(net.nodes), i, got, w)
				}
			}
		}
	}
}

// TestFRNOfNaN: a NaN in any of the parameters is one in the log-likelihood, also in τ, where a comparison would hide it.
func TestFRNOfNaN(t *testing.T) {
	net := mustNet(t, []int{2, 3, 4}, []Layer{Conv{Filters: 2, Kernel: [2]int{2, 2}}, FRN{TLU: true, Eps: Learned}, ReLU, FRN{}, Swish, Dense{Units: 2}}, Categorical{})
	r := rand.New(rand.NewPCG(5, 7))
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(net, testSet(net, 20, false, r), pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range net.tensors {
			theta, ll := testTheta(net, 1, r), make([]float64, 1)
			theta[p.Offset] = math.NaN()
			if err := m.LogLik(context.Background(), nil, theta, ll, nil); err != nil {
				t.Fatal(err)
			}
			if !math.IsNaN(ll[0]) {
				t.Errorf("%s: NaN in %s gives log-likelihood %v", kernel, p.Name, ll[0])
			}
		}
		restore()
	}
}

// TestFRNTakesActivations: what follows is computed with the normalisation, and what it computes has the borders that the next convolution wants.
func TestFRNTakesActivations(t *testing.T) {
	conv := Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}
	for _, f := range []Layer{ReLU, Swish, GELU, Tanh} {
		net := mustNet(t, []int{2, 5, 6}, []Layer{conv, FRN{TLU: true}, f, conv, FRN{}, conv, Dense{Units: 2}}, Categorical{})
		if ops := net.program().ops[stageConv]; len(ops) != 6 { // the last takes the border off for the dense layer
			t.Errorf("%s: %d ops before the dense layer, want 6", kind(f), len(ops))
		}
	}
}

// TestFRNTensors: their names, kinds and places; and it is refused where there are no planes.
func TestFRNTensors(t *testing.T) {
	net := mustNet(t, []int{3, 4, 4}, []Layer{FRN{}, Residual{Body: []Layer{Conv{Filters: 3, Kernel: [2]int{1, 1}}, FRN{TLU: true, Eps: Learned}, FRN{Eps: Learned, Name: "bn"}}}, Dense{Units: 2}}, Categorical{})
	var names []string
	for _, x := range net.Tensors() {
		if x.Of == "frn" {
			names = append(names, x.Name)
			want := map[string]Kind{"weight": Scales, "bias": Shifts, "tau": Shifts, "eps": Epsilons}[x.Name[strings.LastIndexByte(x.Name, '.')+1:]]
			if size := map[bool]int{false: 3, true: 1}[want == Epsilons]; x.Kind != want || x.Size != size || x.FanIn != 0 {
				t.Errorf("%+v: want kind %v, %d numbers", x, want, size)
			}
		}
	}
	want := "0.weight 0.bias 1.body.1.weight 1.body.1.bias 1.body.1.tau 1.body.1.eps bn.weight bn.bias bn.eps"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tensors %s\nwant    %s", got, want)
	}
	if title := net.Title(); title != "residual → dense 2" {
		t.Errorf("title %q", title)
	}
	_, err := New([]int{3, 4, 4}, []Layer{Dense{Units: 4}, FRN{}, Dense{Units: 2}}, Categorical{})
	const refused = "layer 1 (frn): needs an input of shape [channels, height, width], has [4]: put it before the dense layers, or leave it out"
	if err == nil || err.Error() != refused {
		t.Errorf("error %v, want %s", err, refused)
	}
}

// TestResNet20 counts by the sizes of the layers, as the specification of smc-sghmc-ensembles has them: 268,346 of convolutions and the dense layer,
// and γ, β and τ of 688 channels; a learned ε for each of 19 layers more.
func TestResNet20(t *testing.T) {
	net := mustNet(t, []int{3, 32, 32}, ResNet20(10), Categorical{})
	sizes := map[Kind]int{}
	for _, x := range net.Tensors() {
		sizes[x.Kind] += x.Size
	}
	if sizes[Weights]+sizes[Biases] != 268_346 || sizes[Scales] != 688 || sizes[Shifts] != 2*688 || net.Dim() != 268_346+3*688 {
		t.Errorf("%d parameters: %v", net.Dim(), sizes)
	}
	learned := mustNet(t, []int{3, 32, 32}, withLearnedEps(ResNet20(10)), Categorical{})
	if more := learned.Dim() - net.Dim(); more != 19 {
		t.Errorf("%d parameters more with a learned ε, want 19", more)
	}
	pixels, first := 32*32, 32*32*27*16
	forward := first + 6*pixels*144*16 + // sixteen channels
		pixels/4*(144*32+5*288*32) + pixels/16*(288*64+5*576*64) + 640
	if want := 2 * float64(3*forward-first); net.Flops() != want || math.Abs(want-242e6) > 1e6 {
		t.Errorf("%v floating-point operations, want %v", net.Flops(), want)
	}
	if title := net.Title(); title != "conv 16 → 9 × residual → pool → dense 10" {
		t.Errorf("title %q", title)
	}
}

func withLearnedEps(layers []Layer) []Layer {
	layers = slices.Clone(layers)
	for i, l := range layers {
		switch l := l.(type) {
		case FRN:
			l.Eps = Learned
			layers[i] = l
		case Residual:
			l.Body = withLearnedEps(l.Body)
			layers[i] = l
		}
	}
	return layers
}

// withNorms puts normalisations behind some of the convolutions and pools of a network, also inside residuals.
func withNorms(layers []Layer, r *rand.Rand) (all []Layer) {
	for _, l := range layers {
		switch l := l.(type) {
		case Residual:
			all = append(all, Residual{withNorms(l.Body, r), withNorms(l.Shortcut, r)})
		case Conv, MaxPool, AvgPool:
			if all = append(all, l); r.IntN(4) == 0 {
				all = append(all, FRN{TLU: r.IntN(2) == 0, Eps: []float64{0, 1e-3, Learned}[r.IntN(3)]})
			}
		default:
			all = append(all, l)
		}
	}
	return all
}
