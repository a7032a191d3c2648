package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
)

// placed is a layer at its place in a network whose parameters are theta.
type placed struct {
	*node
	net   *Net
	theta []float64
}

// tensor is the layer's k-th tensor, nil where it has none.
func (n placed) tensor(k int) []float64 {
	if k >= len(n.params) {
		return nil
	}
	t := n.net.tensors[n.params[k]]
	if t.Role == RoleFixed {
		return widened(n.net.statistics[t.Offset:][:t.Size])
	}
	return n.theta[t.Offset:][:t.Size]
}

// references compute the layers in plain float64 for one example, written from their definitions, by their names in Layers.
// (init: a residual has layers inside.)
var references map[string]func(n placed, x []float64) []float64

func init() {
	references = map[string]func(n placed, x []float64) []float64{
		"dense": func(n placed, x []float64) []float64 {
			w, b := n.tensor(0), n.tensor(1)
			y := make([]float64, n.out[0])
			for u := range y {
				if b != nil {
					y[u] = b[u]
				}
				for k, v := range x {
					y[u] += w[u*len(x)+k] * v
				}
			}
			return y
		},
		"lora": func(n placed, x []float64) []float64 { // through B A, which the layer never forms
			l, last := n.layer.(LoRA), len(n.params)-1
			w, b, down, up, y := n.tensor(0), n.tensor(1), n.tensor(last-1), n.tensor(last), make([]float64, n.out[0])
			for u := range y {
				if !l.NoBias {
					y[u] = b[u]
				}
				for k, v := range x {
					ba := 0.0
					for r := range l.Rank {
						ba += up[u*l.Rank+r] * down[r*len(x)+k]
					}
					y[u] += (w[u*len(x)+k] + l.Alpha/float64(l.Rank)*ba) * v
				}
			}
			return y
		},
		"embed": func(n placed, x []float64) (y []float64) {
			for _, token := range x {
				width := n.layer.(Embed).Width
				y = append(y, n.tensor(0)[int(token)*width:][:width]...)
			}
			return y
		},
		"conv": func(n placed, x []float64) []float64 {
			w, b := n.tensor(0), n.tensor(1)
			l := n.layer.(Conv)
			y := make([]float64, volume(n.out...))
			for at := range y {
				o := at / (n.out[1] * n.out[2])
				if b != nil {
					y[at] = b[o]
				}
				for ch := range n.in[0] {
					n.slide(l.window(), x, ch, at, func(ky, kx int, v float64) {
						y[at] += v * w[((o*n.in[0]+ch)*l.Kernel[0]+ky)*l.Kernel[1]+kx]
					})
				}
			}
			return y
		},
		"maxpool": func(n placed, x []float64) []float64 {
			y := make([]float64, volume(n.out...))
			for at := range y {
				y[at] = math.Inf(-1)
				n.slide(n.layer.(MaxPool).window(), x, at/(n.out[1]*n.out[2]), at, func(_, _ int, v float64) { y[at] = max(y[at], v) })
			}
			return y
		},
		"avgpool": func(n placed, x []float64) []float64 {
			y, w := make([]float64, volume(n.out...)), n.layer.(AvgPool).window()
			for at := range y {
				n.slide(w, x, at/(n.out[1]*n.out[2]), at, func(_, _ int, v float64) { y[at] += v / float64(w.size[0]*w.size[1]) })
			}
			return y
		},
		"global_avgpool": func(n placed, x []float64) []float64 {
			y, area := make([]float64, n.in[0]), n.in[1]*n.in[2]
			for at, v := range x {
				y[at/area] += v / float64(area)
			}
			return y
		},
		"frn": func(n placed, x []float64) []float64 {
			l, gamma, beta := n.layer.(FRN), n.tensor(0), n.tensor(1)
			y, area, eps := make([]float64, len(x)), n.in[1]*n.in[2], l.Eps
			switch l.Eps {
			case 0:
				eps = 1e-6
			case Learned:
				eps = 1e-6 + math.Abs(n.tensor(len(n.params) - 1)[0])
			}
			for at, v := range x {
				ch, squares := at/area, 0.0
				for _, w := range x[ch*area:][:area] {
					squares += w * w
				}
				y[at] = gamma[ch]*v/math.Sqrt(squares/float64(area)+eps) + beta[ch]
				if l.TLU {
					y[at] = max(y[at], n.tensor(2)[ch])
				}
			}
			return y
		},
		"flatten": func(_ placed, x []float64) []float64 { return x },
		"dropout": func(_ placed, x []float64) []float64 { return x }, // outside training
		"relu":    elementwise(func(v float64) float64 { return max(0, v) }),
		"tanh":    elementwise(math.Tanh),
		"gelu":    elementwise(func(v float64) float64 { return v * math.Erfc(-v/math.Sqrt2) / 2 }),
		"swish":   elementwise(func(v float64) float64 { return v / (1 + math.Exp(-v)) }),
		"norm": func(n placed, x []float64) []float64 {
			y, gamma, beta, mean, variance := make([]float64, len(x)), n.tensor(0), n.tensor(1), n.tensor(2), n.tensor(3)
			for i, v := range x {
				ch := i / (n.in[1] * n.in[2])
				y[i] = gamma[ch]*(v-mean[ch])/math.Sqrt(variance[ch]+n.layer.(Norm).eps()) + beta[ch]
			}
			return y
		},
		"residual": func(n placed, x []float64) []float64 {
			y := slices.Clone(n.net.reference(n.inner[0], n.theta, x))
			for i, v := range n.net.reference(n.inner[1], n.theta, x) {
				y[i] += v
			}
			return y
		},
		"pad": func(n placed, x []float64) []float64 {
			y, step := make([]float64, volume(n.out...)), 1
			if n.out[1] < n.in[1] || n.out[2] < n.in[2] {
				step = 2
			}
			before := (n.out[0] - n.in[0]) / 2
			for at := range x {
				ch, p := at/(n.in[1]*n.in[2]), at%(n.in[1]*n.in[2])
				if qy, qx := p/n.in[2], p%n.in[2]; qy%step == 0 && qx%step == 0 {
					y[((before+ch)*n.out[1]+qy/step)*n.out[2]+qx/step] = x[at]
				}
			}
			return y
		},
	}
}

func elementwise(f func(float64) float64) func(n placed, x []float64) []float64 {
	return func(_ placed, x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = f(v)
		}
		return y
	}
}

// slide calls tap for the input pixels, in channel ch, of the window of output value at.
func (n *node) slide(w window, x []float64, ch, at int, tap func(ky, kx int, v float64)) {
	p := at % (n.out[1] * n.out[2])
	oy, ox := p/n.out[2], p%n.out[2]
	for ky := range w.size[0] {
		for kx := range w.size[1] {
			if qy, qx := oy*w.stride[0]+ky-w.pad[0], ox*w.stride[1]+kx-w.pad[1]; qy >= 0 && qy < n.in[1] && qx >= 0 && qx < n.in[2] {
				tap(ky, kx, x[(ch*n.in[1]+qy)*n.in[2]+qx])
			}
		}
	}
}

// outputs is the network in plain float64, one example at a time.
func (n *Net) outputs(theta, x []float64) []float64 { return n.reference(n.nodes, theta, x) }

func (n *Net) reference(chain []node, theta, x []float64) []float64 {
	for i := range chain {
		x = references[kind(chain[i].layer)](placed{&chain[i], n, theta}, x)
	}
	return x
}

// likelihoods are the log-likelihoods of example i for outputs z in float64, by their names in Likelihoods.
var likelihoods = map[string]func(n *Net, z, theta []float64, set *data.Set, i int) float64{
	"categorical": func(_ *Net, z, _ []float64, set *data.Set, i int) float64 {
		top, sum := z[0], 0.0
		for _, v := range z {
			top = max(top, v)
		}
		for _, v := range z {
			sum += math.Exp(v - top)
		}
		return z[set.Labels[i]] - top - math.Log(sum)
	},
	"bernoulli": func(_ *Net, z, _ []float64, set *data.Set, i int) float64 {
		t := z[0]
		if set.Labels[i] == 1 {
			t = -t
		}
		return -(max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))))
	},
	"gaussian": func(n *Net, z, theta []float64, set *data.Set, i int) float64 {
		sd := n.lik.(Gaussian).SD
		if sd == Learned {
			sd = math.Exp(theta[n.dim-1])
		}
		ll, targets := 0.0, n.Targets()
		for k, v := range z[:targets] {
			if n.lik.(Gaussian).SD == Predicted {
				sd = math.Hypot(min(1e6, max(1e-6, math.Exp(z[targets+k]))), n.lik.(Gaussian).Floor)
			}
			r := (float64(set.Values[i*targets+k]) - v) / sd
			ll -= r*r/2 + math.Log(sd) + halfLog2Pi
		}
		return ll
	},
}

func init() {
	likelihoods["student"] = func(n *Net, z, theta []float64, set *data.Set, i int) float64 {
		l := n.lik.(Student)
		df, sd, at := l.DF, l.SD, n.dim-len(l.Parameters())
		if df == Learned {
			df, at = 2+math.Exp(theta[at]), at+1
		}
		if sd == Learned {
			sd = math.Exp(theta[at])
		}
		ll, targets := 0.0, n.Targets()
		for k, v := range z[:targets] {
			if l.SD == Predicted {
				sd = math.Hypot(min(1e6, max(1e-6, math.Exp(z[targets+k]))), l.Floor)
			}
			r := (float64(set.Values[i*targets+k]) - v) / sd
			a, _ := math.Lgamma((df + 1) / 2)
			b, _ := math.Lgamma(df / 2)
			ll += a - b - math.Log(df*math.Pi)/2 - math.Log(sd) - (df+1)/2*math.Log1p(r*r/df)
		}
		return ll
	}
}

// logLik is the log-likelihood of example i given the outputs of the network.
func (n *Net) logLik(z []float64, theta []float64, set *data.Set, i int) float64 {
	return likelihoods[Likelihoods.Name(n.lik)](n, z, theta, set, i)
}

// wantReferences stops a test that compares with references if a layer or a likelihood has none.
func wantReferences(t *testing.T) {
	t.Helper()
	const add = "the %s %s has no reference to compare with: add its definition, in float64, to %s in nn/reference_test.go"
	for _, name := range Layers.Names() {
		if references[name] == nil {
			t.Fatalf(add, "layer", name, "references")
		}
	}
	for _, name := range Likelihoods.Names() {
		if likelihoods[name] == nil {
			t.Fatalf(add, "likelihood", name, "likelihoods")
		}
	}
}

// wantEveryRow fails for the layers and likelihoods that none of the networks of a test has.
func wantEveryRow(t *testing.T, nets []*Net) {
	t.Helper()
	seen := map[string]bool{}
	for _, net := range nets {
		seen[net.lik.String()] = true
		walk(net.nodes, func(n *node) { seen[kind(n.layer)] = true })
	}
	for _, name := range append(Layers.Names(), Likelihoods.Names()...) {
		if !seen[name] {
			t.Errorf("no case of this test has %s", name)
		}
	}
}

// testSet makes n random examples for a network; pixels says that they are bytes.
func testSet(net *Net, n int, pixels bool, r *rand.Rand) *data.Set {
	k := net.Targets()
	set := &data.Set{Name: "test", Shape: net.input}
	embed, _ := net.layers[0].(Embed)
	for range n * net.features() {
		if embed.Tokens > 0 {
			set.F32 = append(set.F32, float32(r.IntN(embed.Tokens)))
		} else if pixels {
			set.U8 = append(set.U8, uint8(r.IntN(256)))
		} else {
			set.F32 = append(set.F32, float32(r.NormFloat64()))
		}
	}
	if net.lik.Regression() {
		set.Outputs = k
		for range n * k {
			set.Values = append(set.Values, float32(r.NormFloat64()))
		}
		return set
	}
	set.Classes = net.Classes()
	for range n {
		set.Labels = append(set.Labels, int32(r.IntN(set.Classes)))
	}
	return set
}

func testTheta(net *Net, particles int, r *rand.Rand) []float64 {
	theta := make([]float64, particles*net.dim)
	for j := range particles {
		for _, t := range net.Random() {
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

// measured is a network with statistics for its normalisations, drawn for it.
func measured(net *Net) *Net {
	r := rand.New(rand.NewPCG(1, uint64(net.fixed)))
	statistics := make([]float64, net.fixed)
	for _, t := range net.Fixed() {
		for i := range t.Size {
			statistics[t.Offset+i] = float64(float32(r.NormFloat64()))
			if t.Kind == Variances {
				statistics[t.Offset+i] = math.Exp(statistics[t.Offset+i])
			}
		}
	}
	net, err := net.With(statistics)
	if err != nil {
		panic(err)
	}
	return net
}

func widened(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
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

// odd is a network with sizes that no kernel was tuned for.
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

func mustNet(t testing.TB, input []int, layers []Layer, lik Likelihood) *Net {
	net, err := New(input, layers, lik)
	if err != nil {
		t.Fatal(err)
	}
	return measured(net)
}

var (
	lenet5 = []Layer{
		Conv{Filters: 6, Kernel: [2]int{5, 5}, Pad: [2]int{2, 2}}, ReLU, MaxPool{Size: [2]int{2, 2}},
		Conv{Filters: 16, Kernel: [2]int{5, 5}}, ReLU, MaxPool{Size: [2]int{2, 2}},
		Dense{Units: 120}, ReLU, Dense{Units: 84}, ReLU, Dense{Units: 10},
	}
	mnist7 = []Layer{Conv{Filters: 4, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, MaxPool{Size: [2]int{2, 2}}, Dense{Units: 8}}
)
