package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// outputs is the network in plain float64, one example at a time, written from the definitions of the layers.
func (n *Net) outputs(theta, x []float64) []float64 {
	shape := n.input
	for i, l := range n.layers {
		var w, b []float64
		for _, p := range n.params[i] {
			t := n.tensors[p]
			if w == nil {
				w = theta[t.Offset:][:t.Size]
			} else {
				b = theta[t.Offset:][:t.Size]
			}
		}
		out := n.shapes[i+1]
		size := 1
		for _, d := range out {
			size *= d
		}
		y := make([]float64, size)
		// slide calls tap for every input pixel (channel ch) of the window of output pixel (oy, ox).
		slide := func(k, s, p [2]int, ch, oy, ox int, tap func(ky, kx int, v float64)) {
			for ky := range k[0] {
				for kx := range k[1] {
					if qy, qx := oy*s[0]+ky-p[0], ox*s[1]+kx-p[1]; qy >= 0 && qy < shape[1] && qx >= 0 && qx < shape[2] {
						tap(ky, kx, x[(ch*shape[1]+qy)*shape[2]+qx])
					}
				}
			}
		}
		switch l := l.(type) {
		case Dense:
			for u := range l.Units {
				if b != nil {
					y[u] = b[u]
				}
				for k, v := range x {
					y[u] += w[u*len(x)+k] * v
				}
			}
		case Conv:
			for o := range out[0] {
				for p := range out[1] * out[2] {
					at := o*out[1]*out[2] + p
					if b != nil {
						y[at] = b[o]
					}
					for ch := range shape[0] {
						slide(l.Kernel, ones(l.Stride), l.Pad, ch, p/out[2], p%out[2], func(ky, kx int, v float64) {
							y[at] += v * w[((o*shape[0]+ch)*l.Kernel[0]+ky)*l.Kernel[1]+kx]
						})
					}
				}
			}
		case MaxPool, AvgPool:
			k, s, pad := window(l)
			_, top := l.(MaxPool)
			for at := range y {
				ch, p := at/(out[1]*out[2]), at%(out[1]*out[2])
				if top {
					y[at] = math.Inf(-1)
				}
				slide(k, s, pad, ch, p/out[2], p%out[2], func(_, _ int, v float64) {
					if top {
						y[at] = max(y[at], v)
					} else {
						y[at] += v / float64(k[0]*k[1])
					}
				})
			}
		case GlobalAvgPool:
			area := shape[1] * shape[2]
			for at, v := range x {
				y[at/area] += v / float64(area)
			}
		case Activation:
			for k, v := range x {
				y[k] = [...]float64{max(0, v), math.Tanh(v), v * math.Erfc(-v/math.Sqrt2) / 2, v / (1 + math.Exp(-v))}[l]
			}
		case Flatten:
			y = x
		}
		x, shape = y, out
	}
	return x
}

// logLik is the log-likelihood of example i given the outputs of the network.
func (n *Net) logLik(z []float64, theta []float64, set *data.Set, i int) float64 {
	switch lik := n.lik.(type) {
	case Categorical:
		top, sum := z[0], 0.0
		for _, v := range z {
			top = max(top, v)
		}
		for _, v := range z {
			sum += math.Exp(v - top)
		}
		return z[set.Labels[i]] - top - math.Log(sum)
	case Bernoulli:
		t := z[0]
		if set.Labels[i] == 1 {
			t = -t
		}
		return -(max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))))
	case Gaussian:
		sd := lik.SD
		if lik.Learned {
			sd = math.Exp(theta[n.dim-1])
		}
		ll := 0.0
		for k, v := range z {
			r := (float64(set.Values[i*len(z)+k]) - v) / sd
			ll -= r*r/2 + math.Log(sd) + halfLog2Pi
		}
		return ll
	}
	panic("unknown likelihood")
}

// testSet makes n random examples for a network; pixels says that they are bytes.
func testSet(net *Net, n int, pixels bool, r *rand.Rand) *data.Set {
	k := net.Outputs()
	set := &data.Set{Name: "test", Shape: net.input}
	for range n * net.features() {
		if pixels {
			set.U8 = append(set.U8, uint8(r.IntN(256)))
		} else {
			set.F32 = append(set.F32, float32(r.NormFloat64()))
		}
	}
	switch net.lik.(type) {
	case Gaussian:
		set.Outputs = k
		for range n * k {
			set.Values = append(set.Values, float32(r.NormFloat64()))
		}
	default:
		set.Classes = max(2, k)
		for range n {
			set.Labels = append(set.Labels, int32(r.IntN(set.Classes)))
		}
	}
	return set
}

func testTheta(net *Net, particles int, r *rand.Rand) []float64 {
	theta := make([]float64, particles*net.dim)
	for j := range particles {
		for _, t := range net.tensors {
			sd := .5
			if t.FanIn > 0 {
				sd = 1.2 / math.Sqrt(float64(t.FanIn))
			}
			for i := range t.Size {
				theta[j*net.dim+t.Offset+i] = float64(float32(sd * r.NormFloat64()))
			}
		}
	}
	return theta
}

func (n *Net) example(set *data.Set, i int) []float64 {
	x := make([]float64, n.features())
	for f := range x {
		if set.U8 != nil {
			x[f] = float64(float32(set.U8[i*len(x)+f]) / 255)
		} else {
			x[f] = float64(set.F32[i*len(x)+f])
		}
	}
	return x
}

// odd is the network that nobody tuned the kernels for.
func odd(t testing.TB) *Net {
	net, err := New([]int{3, 29, 23}, []Layer{
		Conv{Filters: 7, Kernel: [2]int{7, 5}, Stride: [2]int{2, 2}, Pad: [2]int{1, 0}}, Tanh,
		Conv{Filters: 5, Kernel: [2]int{3, 2}, Pad: [2]int{1, 1}, NoBias: true}, ReLU, MaxPool{Size: [2]int{2, 2}},
		Dense{Units: 13}, GELU, Dense{Units: 11},
	}, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestGradients checks every layer and likelihood by one helper: values against the float64 reference, gradients
// against its finite differences.
func TestGradients(t *testing.T) {
	pair := func(a, b int) [2]int { return [2]int{a, b} }
	conv := func(f, k, s, p int) Conv {
		return Conv{Filters: f, Kernel: pair(k, k), Stride: pair(s, s), Pad: pair(p, p)}
	}
	image, large := []int{2, 9, 10}, []int{2, 17, 18}
	cases := []struct {
		name   string
		input  []int
		layers []Layer
		lik    Likelihood
		n      int
	}{
		{"dense", []int{5}, []Layer{Dense{Units: 3}}, Categorical{}, 70},
		{"dense no bias", []int{17}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{}, 131},
		{"dense wide", []int{100}, []Layer{Dense{Units: 1}}, Bernoulli{}, 70},
		{"dense bias bernoulli", []int{3}, []Layer{Dense{Units: 1}}, Bernoulli{}, 20},
		{"mlp", []int{6}, []Layer{Dense{Units: 18}, ReLU, Dense{Units: 7}, Tanh, Dense{Units: 2}}, Gaussian{SD: .7}, 65},
		{"relu first", []int{9}, []Layer{ReLU, Dense{Units: 4}}, Categorical{}, 33},
		{"learned sd", []int{4}, []Layer{Dense{Units: 5}, Swish, Dense{Units: 2}}, Gaussian{Learned: true}, 90},
		{"gelu", []int{4}, []Layer{Dense{Units: 5}, GELU, Dense{Units: 3}}, Categorical{}, 16},
		{"relu then tanh", []int{4}, []Layer{Dense{Units: 5}, ReLU, Tanh, Dense{Units: 3}}, Categorical{}, 16},
		{"conv", image, []Layer{conv(3, 3, 1, 0), Dense{Units: 3}}, Categorical{}, 19},
		{"conv relu", image, []Layer{conv(3, 3, 1, 1), ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"conv conv", image, []Layer{conv(3, 3, 1, 1), ReLU, conv(4, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool relu", image, []Layer{conv(7, 2, 1, 0), MaxPool{Size: pair(2, 2)}, ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"conv pool conv pool", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean", image, []Layer{conv(3, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean conv mean", image, []Layer{conv(7, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"conv mean conv mean no bias", image, []Layer{conv(3, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, Conv{Filters: 5, Kernel: pair(2, 2), Pad: pair(1, 1), NoBias: true}, ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride max stride max", large, []Layer{conv(3, 3, 2, 1), ReLU, MaxPool{Size: pair(2, 2)}, conv(4, 2, 2, 1), ReLU, MaxPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride mean stride mean", large, []Layer{conv(3, 3, 2, 1), ReLU, AvgPool{Size: pair(2, 2)}, conv(4, 2, 2, 1), ReLU, AvgPool{Size: pair(2, 2)}, Dense{Units: 3}}, Categorical{}, 19},
		{"ends in conv mean", image, []Layer{Conv{Filters: 2, Kernel: pair(3, 2), NoBias: true}, ReLU, AvgPool{Size: pair(2, 2)}}, Categorical{}, 21},
		{"conv tanh conv", image, []Layer{conv(3, 5, 1, 2), Tanh, conv(4, 3, 1, 1), Tanh, Dense{Units: 3}}, Categorical{}, 19},
		{"stride", image, []Layer{conv(3, 3, 2, 1), Swish, conv(6, 3, 2, 1), ReLU, GlobalAvgPool{}, Dense{Units: 3}}, Categorical{}, 19},
		{"stride over kernel", image, []Layer{conv(3, 3, 1, 0), ReLU, conv(6, 1, 3, 0), Dense{Units: 3}}, Categorical{}, 19},
		{"max pool 3", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{pair(3, 3), pair(2, 2), pair(1, 1)}, Dense{Units: 3}}, Categorical{}, 19},
		{"max pool first", image, []Layer{MaxPool{Size: pair(2, 2)}, conv(3, 3, 1, 1), Dense{Units: 3}}, Categorical{}, 19},
		{"avg pool", image, []Layer{conv(3, 3, 1, 1), AvgPool{pair(3, 2), pair(2, 1), pair(1, 0)}, conv(2, 3, 1, 1), ReLU, Dense{Units: 3}}, Categorical{}, 19},
		{"no dense", image, []Layer{conv(3, 3, 1, 1), ReLU, conv(4, 1, 1, 0), GlobalAvgPool{}}, Categorical{}, 37},
		{"one pixel", []int{1, 1, 1}, []Layer{conv(3, 1, 1, 0), ReLU, Flatten{}, Dense{Units: 2, Name: "head"}}, Categorical{}, 3},
		{"softmax regression on images", []int{1, 20, 20}, []Layer{Dense{Units: 10}}, Categorical{}, 70},
		{"mlp on images", []int{784}, []Layer{Dense{Units: 200}, ReLU, Dense{Units: 10}}, Categorical{}, 20},
		{"ends in relu", []int{3, 2, 6}, []Layer{Dense{Units: 11}, ReLU}, Categorical{}, 21},
		{"ends in conv", []int{1, 4, 4}, []Layer{conv(1, 3, 1, 1), ReLU, conv(1, 3, 1, 1)}, Gaussian{SD: 1}, 21},
		{"ends in conv relu pool", image, []Layer{conv(2, 3, 1, 1), ReLU, conv(2, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}}, Categorical{}, 21},
		{"activation behind flatten", image, []Layer{conv(2, 3, 1, 1), ReLU, conv(2, 3, 1, 1), Flatten{}, Tanh, Dense{Units: 3}}, Categorical{}, 21},
		// Sums with more terms than a kernel takes at once.
		{"many inputs", []int{20_000}, []Layer{Dense{Units: 2}, ReLU, Dense{Units: 2}}, Categorical{}, 18},
		{"many units", []int{2}, []Layer{Dense{Units: 3}, ReLU, Dense{Units: 17_000}, Tanh, Dense{Units: 2}}, Categorical{}, 3},
		{"many channels", []int{1, 3, 3}, []Layer{conv(2000, 1, 1, 0), ReLU, conv(2, 3, 1, 1), ReLU, Dense{Units: 2}}, Categorical{}, 3},
		{"many filters", []int{1, 3, 3}, []Layer{conv(2, 3, 1, 1), ReLU, conv(2000, 3, 1, 1), GlobalAvgPool{}, Dense{Units: 2}}, Categorical{}, 3},
		{"odd", odd(t).input, odd(t).layers, Categorical{}, 18},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			net, err := New(c.input, c.layers, c.lik)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			set := testSet(net, c.n, false, r)
			checkGradient(t, net, set, testTheta(net, 3, r), r)
		})
	}
}

// checkGradient compares LogLik of the particles with the float64 reference at up to 40 parameters.
func checkGradient(t *testing.T, net *Net, set *data.Set, theta []float64, r *rand.Rand) {
	t.Helper()
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	d := net.Dim()
	particles := len(theta) / d
	ll, grad := make([]float64, particles), make([]float64, len(theta))
	if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
		t.Fatal(err)
	}
	value := func(theta []float64) (sum float64) {
		for i := range set.Len() {
			sum += net.logLik(net.outputs(theta, net.example(set, i)), theta, set, i)
		}
		return sum
	}
	for j := range particles {
		own := append([]float64(nil), theta[j*d:(j+1)*d]...)
		want := value(own)
		if !(math.Abs(ll[j]-want) <= 1e-5*math.Abs(want)+1e-5) {
			t.Fatalf("particle %d: log-likelihood %.9g, reference %.9g", j, ll[j], want)
		}
		scale := norm(grad[j*d:(j+1)*d]) / math.Sqrt(float64(d))
		for range min(d, 40) {
			i := r.IntN(d)
			const h = 1e-6
			at := own[i]
			own[i] = at + h
			up := value(own)
			own[i] = at - h
			down := value(own)
			own[i] = at
			// Error of the difference quotient: rounding of the values over h; of float32 sums: 1e-4 of the
			// gradient's size. A kink within h of a pixel would show, but has probability below 1e-3 a case.
			want, tol := (up-down)/(2*h), 2e-4*scale+1e-4*math.Abs((up-down)/(2*h))+1e-9*math.Abs(up)/h*1e-4+1e-5
			if got := grad[j*d+i]; !(math.Abs(got-want) <= tol) {
				t.Fatalf("particle %d: ∂/∂θ[%d] = %.8g, finite difference %.8g (tolerance %.2g)", j, i, got, want, tol)
			}
		}
	}
}

// TestSameBits runs one network on every kernel with 1, 2 and 7 threads, over full and tail tiles, mini-batches and
// several segments.
func TestSameBits(t *testing.T) {
	logistic := mustNet(t, []int{9}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{})
	means := mustNet(t, []int{2, 23, 17}, []Layer{
		Conv{Filters: 5, Kernel: [2]int{4, 3}, Pad: [2]int{1, 0}}, ReLU, AvgPool{Size: [2]int{2, 2}},
		Conv{Filters: 7, Kernel: [2]int{2, 3}, Pad: [2]int{0, 1}}, ReLU, AvgPool{Size: [2]int{2, 2}}, Dense{Units: 3},
	}, Categorical{})
	for _, c := range []struct {
		name         string
		net          *Net
		n, particles int
		slow         bool // too much for the Go kernel
	}{
		{"odd", odd(t), 1003, 3, true},
		{"odd, two chunks", odd(t), 300, 1, false},
		{"means", means, 300, 1, false},
		{"logistic", logistic, 9001, 150, testing.Short()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			set := testSet(c.net, c.n, c.net != logistic, r)
			particles := c.particles
			theta := testTheta(c.net, particles, r)
			rows := make([]int32, c.n/3)
			for i := range rows {
				rows[i] = int32(r.IntN(c.n))
			}
			var want []uint64
			for _, kernel := range lanes.Kernels() {
				if kernel == "go" && c.slow && (testing.Short() || len(lanes.Kernels()) > 1) {
					continue
				}
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range []int{1, 2, 7} {
					m, err := NewModel(c.net, set, pool.New(threads))
					if err != nil {
						t.Fatal(err)
					}
					var got []uint64
					for _, batch := range [][]int32{nil, rows} {
						ll, grad := make([]float64, particles), make([]float64, len(theta))
						if err := m.LogLik(context.Background(), batch, theta, ll, grad); err != nil {
							t.Fatal(err)
						}
						value := make([]float64, particles)
						if err := m.LogLik(context.Background(), batch, theta, value, nil); err != nil {
							t.Fatal(err)
						}
						for j := range ll {
							if ll[j] != value[j] {
								t.Fatalf("%s: value alone %v, with gradient %v", kernel, value[j], ll[j])
							}
						}
						for _, v := range append(ll, grad...) {
							got = append(got, math.Float64bits(v))
						}
					}
					if want == nil {
						want = got
					}
					for i := range got {
						if got[i] != want[i] {
							t.Fatalf("%s, %d threads: value %d is %x, want %x", kernel, threads, i, got[i], want[i])
						}
					}
				}
				restore()
			}
			if want == nil {
				t.Skip("the only kernel here is the reference, which takes too long with -short")
			}
		})
	}
}

func mustNet(t testing.TB, input []int, layers []Layer, lik Likelihood) *Net {
	net, err := New(input, layers, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestNaN says that a NaN among parameters or inputs comes out as a NaN, whichever kernel it passes.
func TestNaN(t *testing.T) {
	net := odd(t)
	r := rand.New(rand.NewPCG(5, 6))
	set := testSet(net, 40, false, r)
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(net, set, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range net.tensors {
			theta := testTheta(net, 1, r)
			theta[p.Offset] = math.NaN()
			ll := make([]float64, 1)
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

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		input  []int
		layers []Layer
		lik    Likelihood
	}{
		{[]int{1, 2}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{0}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{}}, Categorical{}},
		{[]int{3}, []Layer{Conv{Filters: 1, Kernel: [2]int{1, 1}}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{Conv{Filters: 1, Kernel: [2]int{5, 5}}, Dense{Units: 2}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{MaxPool{Size: [2]int{2, 2}, Pad: [2]int{2, 2}}, Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 2, Name: "a"}, Dense{Units: 2, Name: "a"}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 2}}, Bernoulli{}},
		{[]int{3}, []Layer{Dense{Units: 2}}, Gaussian{}},
		{[]int{3}, []Layer{ReLU}, Categorical{}},
		{[]int{3}, []Layer{nil}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Gaussian{SD: 1e-30}},
		{[]int{3}, []Layer{Dense{Units: 1}}, Gaussian{SD: math.Inf(1)}},
		{[]int{1 << 20, 1 << 20, 1 << 20}, []Layer{Dense{Units: 2}}, Categorical{}},
		{[]int{3}, []Layer{Dense{Units: 1 << 40}, Dense{Units: 2}}, Categorical{}},
		{[]int{1 << 20}, []Layer{Dense{Units: 1 << 20}, Dense{Units: 2}}, Categorical{}},
		{[]int{1, 4, 4}, []Layer{Conv{Filters: 1, Kernel: [2]int{1, 1}, Pad: [2]int{1 << 40, 0}}, Dense{Units: 2}}, Categorical{}},
	} {
		if _, err := New(c.input, c.layers, c.lik); err == nil {
			t.Error(fmt.Sprintf("%v %v %v", c.input, c.layers, c.lik), "was accepted")
		}
	}
}

func TestParameterCounts(t *testing.T) {
	pair := func(a int) [2]int { return [2]int{a, a} }
	for _, c := range []struct {
		name   string
		layers []Layer
		want   int
		flops  float64 // 0: not stated
	}{
		{"LeNet-5", lenet5, 61_706, 2.264e6},
		{"FashionMNIST CNN", []Layer{Conv{Filters: 8, Kernel: pair(3), Pad: pair(1)}, ReLU, MaxPool{Size: pair(2)}, Conv{Filters: 16, Kernel: pair(3), Pad: pair(1)}, ReLU, MaxPool{Size: pair(2)}, Dense{Units: 120}, ReLU, Dense{Units: 10}}, 96_658, 0},
		{"MNIST7", mnist7, 6_320, .1505e6},
	} {
		if net := mustNet(t, []int{1, 28, 28}, c.layers, Categorical{}); net.Dim() != c.want {
			t.Errorf("%s has %d parameters, want %d", c.name, net.Dim(), c.want)
		} else if c.flops > 0 && math.Abs(net.Flops()/c.flops-1) > 1e-3 {
			t.Errorf("%s: %g floating-point operations an example, want %g", c.name, net.Flops(), c.flops)
		}
	}
}

var (
	lenet5 = []Layer{
		Conv{Filters: 6, Kernel: [2]int{5, 5}, Pad: [2]int{2, 2}}, ReLU, MaxPool{Size: [2]int{2, 2}},
		Conv{Filters: 16, Kernel: [2]int{5, 5}}, ReLU, MaxPool{Size: [2]int{2, 2}},
		Dense{Units: 120}, ReLU, Dense{Units: 84}, ReLU, Dense{Units: 10},
	}
	mnist7 = []Layer{Conv{Filters: 4, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, MaxPool{Size: [2]int{2, 2}}, Dense{Units: 8}}
)
