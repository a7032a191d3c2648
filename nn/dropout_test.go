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
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// dropoutCase is a network with dropout layers at every kind of place.
type dropoutCase struct {
	name   string
	input  []int
	layers []Layer
	lik    Likelihood
}

func dropoutCases(rate Dropout) []dropoutCase {
	conv := Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}
	top := MaxPool{Size: [2]int{2, 2}}
	image := []int{2, 10, 9}
	return []dropoutCase{
		{"of the input", []int{70}, []Layer{rate, Dense{Units: 3}}, Categorical{}},
		{"of an image", image, []Layer{rate, Dense{Units: 1, NoBias: true}}, Bernoulli{}},
		{"of activations of the input", []int{6}, []Layer{Swish, rate, ReLU, Dense{Units: 3}}, Categorical{}},
		{"of an activation", []int{6}, []Layer{Dense{Units: 90}, Tanh, rate, Dense{Units: 5}, ReLU, rate, Dense{Units: 2}}, Gaussian{SD: Learned}},
		{"before a relu", []int{6}, []Layer{Dense{Units: 130, NoBias: true}, rate, ReLU, Dense{Units: 3}}, Categorical{}},
		{"of a pool", image, []Layer{conv, ReLU, top, rate, Dense{Units: 3}}, Categorical{}},
		{"of a pool, before a relu", image, []Layer{conv, top, rate, ReLU, Flatten{}, Dense{Units: 3}}, Categorical{}},
		{"of a convolution with a border", image, []Layer{conv, Tanh, Residual{[]Layer{conv}, nil}, Flatten{}, rate, Dense{Units: 3}}, Categorical{}},
	}
}

// masked is θ of an example in a training step, written from the definition: a column of the dense layer behind each dropout
// layer is 0 or divided by 1 − p. It must find the weights by itself.
func (n *Net) masked(theta []float64, view View, example int) []float64 {
	own, s := slices.Clone(theta), view.stream(rng.Dropout, example)
	var visit func(chain []node)
	visit = func(chain []node) {
		for i := range chain {
			for _, inner := range chain[i].inner {
				visit(inner)
			}
			p, ok := chain[i].layer.(Dropout)
			if !ok {
				continue
			}
			for kind(chain[i].layer) != "dense" {
				i++
			}
			t := n.tensors[chain[i].params[0]]
			units, inputs := t.Shape[0], t.Shape[1]
			var zero uint64
			for k := range inputs {
				if k%64 == 0 {
					zero = s.Bernoulli(float64(p))
				}
				for u := range units {
					w := &own[t.Offset+u*inputs+k]
					if *w /= 1 - float64(p); zero>>(k%64)&1 == 1 {
						*w = 0
					}
				}
			}
		}
	}
	visit(n.nodes)
	return own
}

// TestDropoutGradients checks training steps against the float64 reference with each example's mask in its weights, and the
// gradients against finite differences at the same masks.
func TestDropoutGradients(t *testing.T) {
	view := View{Seed: 5, Restart: 2, Epoch: 7}
	for _, c := range dropoutCases(0.3) {
		t.Run(c.name, func(t *testing.T) {
			net := mustNet(t, c.input, c.layers, c.lik)
			r := rand.New(rand.NewPCG(6, uint64(len(c.name))))
			set := testSet(net, 35, false, r)
			theta, d := testTheta(net, 2, r), net.dim
			m, err := NewModel(net, set, pool.New(2))
			if err != nil {
				t.Fatal(err)
			}
			ll, grad := make([]float64, 2), make([]float64, len(theta))
			if err := m.LogLikSeen(context.Background(), view, nil, theta, ll, grad); err != nil {
				t.Fatal(err)
			}
			value := func(theta []float64) (sum float64) {
				for i := range set.Len() {
					own := net.masked(theta, view, i)
					sum += net.logLik(net.outputs(own, net.example(set, i)), own, set, i)
				}
				return sum
			}
			components := 20
			if testing.Short() {
				components = 3
			}
			for j := range 2 {
				own, slope := slices.Clone(theta[j*d:][:d]), grad[j*d:][:d]
				if want := value(own); !golden.Near(ll[j], want, 1e-5, 1e-5) {
					t.Fatalf("particle %d: log-likelihood %.9g, reference %.9g", j, ll[j], want)
				}
				scale := norm(slope) / math.Sqrt(float64(d))
				for range components {
					i, h := r.IntN(d), 1e-6
					at := own[i]
					own[i] = at + h
					up := value(own)
					own[i] = at - h
					down := value(own)
					own[i] = at
					// The tolerance is that of checkGradient.
					want := (up - down) / (2 * h)
					if tol := 2e-4*scale + 1e-4*math.Abs(want) + 1e-9*math.Abs(up)/h*1e-4 + 1e-5; !(math.Abs(slope[i]-want) <= tol) {
						t.Fatalf("particle %d: ∂/∂θ[%d] = %.8g, finite difference %.8g (tolerance %.2g)", j, i, slope[i], want, tol)
					}
				}
			}
		})
	}
}

// everything is what a model computes of some examples: log-likelihoods and gradients without and, as a training step sees them, with dropout.
func everything(t *testing.T, net *Net, set *data.Set, p *Pool, rows []int32, theta []float64, view View) (bits []uint64) {
	t.Helper()
	m, err := NewModel(net, set, p)
	if err != nil {
		t.Fatal(err)
	}
	particles := len(theta) / net.dim
	ll, grad := make([]float64, 2*particles), make([]float64, 2*len(theta))
	if err := m.LogLik(context.Background(), rows, theta, ll[:particles], grad[:len(theta)]); err != nil {
		t.Fatal(err)
	}
	if err := m.LogLikSeen(context.Background(), view, rows, theta, ll[particles:], grad[len(theta):]); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(ll, grad...) {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

// TestDropoutIsTheIdentity: outside training a network with dropout layers computes the bits of the network without them, and so
// does training at rate 0. It has the same parameters and the same arithmetic, and the modules of PyTorch are counted with it.
func TestDropoutIsTheIdentity(t *testing.T) {
	for i, c := range dropoutCases(0.3) {
		t.Run(c.name, func(t *testing.T) {
			var plain []Layer
			for _, l := range c.layers {
				if _, ok := l.(Dropout); !ok {
					plain = append(plain, l)
				}
			}
			without, with := mustNet(t, c.input, plain, c.lik), mustNet(t, c.input, c.layers, c.lik)
			zero := mustNet(t, c.input, dropoutCases(0)[i].layers, c.lik)
			r := rand.New(rand.NewPCG(2, uint64(i)))
			set, theta := testSet(with, 150, false, r), testTheta(with, 3, r)
			want := everything(t, without, set, pool.New(2), nil, theta, View{Epoch: 1})
			if got := everything(t, zero, set, pool.New(2), nil, theta, View{Epoch: 1}); !slices.Equal(got, want) {
				t.Error("at rate 0: other bits than without dropout")
			}
			got := everything(t, with, set, pool.New(2), nil, theta, View{Epoch: 1})
			if !slices.Equal(got[:3], want[:3]) || !slices.Equal(got[6:6+len(theta)], want[6:6+len(theta)]) {
				t.Error("outside training: other bits than without dropout")
			}
			for j := range 3 {
				if got[3+j] == want[3+j] {
					t.Errorf("particle %d: in training the same log-likelihood as without dropout", j)
				}
			}
			if with.Dim() != without.Dim() || with.Flops() != without.Flops() || !with.Dropout() || !zero.Dropout() || without.Dropout() {
				t.Errorf("%d parameters and %v operations, without dropout %d and %v", with.Dim(), with.Flops(), without.Dim(), without.Flops())
			}
		})
	}
	net := mustNet(t, []int{1, 4, 4}, []Layer{Conv{Filters: 2, Kernel: [2]int{3, 3}}, ReLU, Dropout(0.2), Dense{Units: 2}}, Categorical{})
	if name := net.tensors[2].Name; name != "4.weight" { // conv, relu, dropout, flatten, dense
		t.Errorf("the dense layer's weight is %s, want 4.weight", name)
	}
	if title := net.Title(); title != "conv 2 → dense 2" {
		t.Errorf("titled %q", title)
	}
}

// TestDropoutSameBits runs training steps on every kernel, with 1, 2 and 7 threads and several segments.
func TestDropoutSameBits(t *testing.T) {
	long := testkit.Long(t, 1)
	for _, c := range dropoutCases(0.3) {
		t.Run(c.name, func(t *testing.T) {
			net := mustNet(t, c.input, c.layers, c.lik)
			r := rand.New(rand.NewPCG(4, uint64(len(c.name))))
			set, theta := testSet(net, 280, false, r), testTheta(net, 2, r)
			rows := make([]int32, 40)
			for i := range rows {
				rows[i] = int32(r.IntN(280))
			}
			for _, batch := range [][]int32{nil, rows} {
				var want []uint64
				for _, kernel := range lanes.Kernels() {
					if kernel == "go" && batch == nil && !long && (testing.Short() || len(lanes.Kernels()) > 1) {
						continue // too much for the Go kernel
					}
					restore, err := lanes.SetKernel(kernel)
					if err != nil {
						t.Fatal(err)
					}
					for _, threads := range []int{1, 2, 7} {
						got := everything(t, net, set, pool.New(threads), batch, theta, View{Seed: 3, Epoch: 2})
						if want == nil {
							want = got
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%s, %d threads: other bits than %s with one", kernel, threads, lanes.Kernels()[0])
						}
					}
					restore()
				}
			}
		})
	}
}

// TestMasksAreOfExamples: an example has the same mask in every batch and at every place of it; another seed, restart, epoch or
// example has another.
func TestMasksAreOfExamples(t *testing.T) {
	c := dropoutCases(0.4)[3]
	net := mustNet(t, c.input, c.layers, c.lik)
	r := rand.New(rand.NewPCG(11, 1))
	set, theta := testSet(net, 200, false, r), testTheta(net, 1, r)
	for i := range net.features() { // examples 7 and 8 differ in their index alone
		set.F32[8*net.features()+i] = set.F32[7*net.features()+i]
	}
	copy(set.Values[8*set.Outputs:], set.Values[7*set.Outputs:][:set.Outputs])
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	of := func(view View, rows ...int32) float64 {
		ll := []float64{0}
		if err := m.LogLikSeen(context.Background(), view, rows, theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		return ll[0]
	}
	view := View{Seed: 1, Restart: 2, Epoch: 3}
	for _, n := range []int{1, 16, 17, 64, 65, 200} {
		rows, sum := make([]int32, n), 0.0
		for i, p := range r.Perm(200)[:n] {
			rows[i] = int32(p)
			sum += of(view, rows[i])
		}
		if got := of(view, rows...); !(math.Abs(got-sum) <= 1e-9*math.Abs(sum)) { // float32 terms are added in float64
			t.Errorf("a batch of %d: log-likelihood %v, of its examples one by one %v", n, got, sum)
		}
	}
	one := of(view, 7)
	for what, other := range map[string]float64{
		"seed": of(View{2, 2, 3}, 7), "restart": of(View{1, 3, 3}, 7), "epoch": of(View{1, 2, 4}, 7), "example": of(view, 8),
	} {
		if other == one {
			t.Errorf("another %s has the same mask", what)
		}
	}
	if a, b := view.key(rng.Dropout, rng.MaxIslands-1), view.key(rng.Dropout, rng.MaxIslands); a.Check() != nil || b.Check() != nil || a == b || b == view.key(rng.Dropout, 0) {
		t.Errorf("examples 2²⁴ − 1 and 2²⁴ have the keys %+v and %+v", a, b)
	}
}

// TestPass: a pass is the network with some inputs of the next dense layer set to 0 and the others scaled. Each input is kept
// with probability 1 − p, and passes differ. A pass has other masks than any example in training.
func TestPass(t *testing.T) {
	const p = 0.3
	for _, c := range dropoutCases(p) {
		net := mustNet(t, c.input, c.layers, c.lik)
		r := rand.New(rand.NewPCG(12, 5))
		theta := testTheta(net, 1, r)
		reads := map[int]bool{} // parameters that multiply a masked input
		for _, d := range net.drops {
			for i := range net.tensors[d.weight].Size {
				reads[net.tensors[d.weight].Offset+i] = true
			}
		}
		masked := map[int]int{} // passes that set a parameter to 0
		const passes = 400
		for pass := range passes {
			own := slices.Clone(theta)
			net.Pass(own, 9, pass)
			for i, w := range own {
				switch want := theta[i] / (1 - p); {
				case reads[i] && w == 0:
					masked[i]++
				case reads[i] && !(math.Abs(w-want) <= 1e-12), !reads[i] && w != theta[i]:
					t.Fatalf("%s, pass %d: parameter %d is %v, from %v", c.name, pass, i, w, theta[i])
				}
			}
			if other := slices.Clone(theta); pass < 2 {
				net.Pass(other, 9, 1)
				if slices.Equal(other, own) != (pass == 1) {
					t.Errorf("%s: pass %d against pass 1", c.name, pass)
				}
				if slices.Equal(own, net.masked(theta, View{Seed: 9, Epoch: 1}, pass)) {
					t.Errorf("%s: pass %d has the mask of an example in training", c.name, pass)
				}
			}
		}
		for _, d := range net.drops {
			tensor := net.tensors[d.weight]
			for i := range d.size {
				count := masked[tensor.Offset+i]
				// 6.2 standard deviations, beyond which one of the 1,100 inputs is with probability 6e-7; an error of .15 in p is found.
				if sd := math.Sqrt(passes * p * (1 - p)); !(math.Abs(float64(count)-passes*p) <= 6.2*sd) {
					t.Errorf("%s: input %d of %s is dropped in %d of %d passes", c.name, i, tensor.Name, count, passes)
				}
				for at := i; at < tensor.Size; at += d.size {
					if got := masked[tensor.Offset+at]; got != count {
						t.Fatalf("%s: weight %d of %s is dropped in %d passes, and its input in %d", c.name, at, tensor.Name, got, count)
					}
				}
			}
		}
	}
}

// TestDropoutPlaces: dropout is refused where its mask is no change of a dense layer's weights, with the place and the mend.
func TestDropoutPlaces(t *testing.T) {
	const here = Dropout(0.5)
	conv := Conv{Filters: 2, Kernel: [2]int{3, 3}}
	for i, c := range []struct {
		layers []Layer
		fault  string // its place; empty: none
	}{
		{[]Layer{here, Dense{Units: 2}}, ""},
		{[]Layer{conv, here, ReLU, Flatten{}, ReLU, Dense{Units: 2}}, ""},
		{[]Layer{Dense{Units: 2}, here}, "layers.1"},
		{[]Layer{Dense{Units: 2}, here, ReLU}, "layers.1"},
		{[]Layer{here, conv, Dense{Units: 2}}, "layers.0"},
		{[]Layer{conv, here, MaxPool{Size: [2]int{2, 2}}, Dense{Units: 2}}, "layers.1"},
		{[]Layer{conv, here, Tanh, Dense{Units: 2}}, "layers.1"},
		{[]Layer{conv, here, here, Dense{Units: 2}}, "layers.1"},
		{[]Layer{conv, here, Residual{Body: []Layer{Dense{Units: 2}}}, Dense{Units: 2}}, "layers.1"},
	} {
		got := faults(Architecture{Layers: c.layers, Likelihood: Categorical{}})
		_, err := New([]int{1, 6, 6}, c.layers, Categorical{})
		if c.fault == "" {
			if got != nil || err != nil {
				t.Errorf("case %d is refused: %q, %v", i, got, err)
			}
			continue
		}
		if want := c.fault + ": " + misplaced; !slices.Equal(got, []string{want}) || err == nil || !strings.Contains(err.Error(), "(dropout): "+misplaced) {
			t.Errorf("case %d: %q and %v, want %s", i, got, err, want)
		}
	}
	for _, rate := range []Dropout{-0.1, 1, Dropout(math.NaN()), Dropout(math.Inf(1))} {
		_, err := New([]int{3}, []Layer{rate, Dense{Units: 2}}, Categorical{})
		if err == nil || !strings.Contains(err.Error(), "layer 0 (dropout): the rate must be at least 0 and below 1") {
			t.Errorf("rate %v: %v", rate, err)
		}
		if got := faults(rate); len(got) != 1 || !strings.HasPrefix(got[0], "want a rate of at least 0 and below 1, have ") {
			t.Errorf("rate %v: %q", rate, got)
		}
	}
	if at := Dropouts([]Layer{here, ReLU, here}); !slices.Equal(at, []int{0, 2}) {
		t.Errorf("dropout layers at %v", at)
	}
}
