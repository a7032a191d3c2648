package nn

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// replay computes a network in the float64 reference again and again, from one layer on, whose outputs are moved. (Layers that consist of others
// are computed as they are.)
type replay struct {
	net      *Net
	theta, x []float64
	nodes    []*node     // in the order of computing
	inputs   [][]float64 // of these
	outputs  [][]float64
}

// through computes the network with see in place of every layer: at is the layer's number.
func (r *replay) through(see func(at int, n placed, x []float64, f func(placed, []float64) []float64) []float64) []float64 {
	at := 0
	for name, f := range references {
		if name == "residual" {
			continue
		}
		defer func() { references[name] = f }()
		references[name] = func(n placed, x []float64) []float64 {
			at++
			return see(at-1, n, x, f)
		}
	}
	return r.net.outputs(r.theta, r.x)
}

func newReplay(net *Net, theta, x []float64) *replay {
	r := &replay{net: net, theta: theta, x: x}
	r.through(func(_ int, n placed, x []float64, f func(placed, []float64) []float64) []float64 {
		y := f(n, x)
		r.nodes, r.inputs, r.outputs = append(r.nodes, n.node), append(r.inputs, x), append(r.outputs, y)
		return y
	})
	return r
}

// moved is the network's outputs where those of layer k are moved.
func (r *replay) moved(k int, by []float64) []float64 {
	return r.through(func(at int, n placed, x []float64, f func(placed, []float64) []float64) []float64 {
		switch {
		case at < k:
			return r.outputs[at]
		case at > k:
			return f(n, x)
		}
		y := slices.Clone(r.outputs[at])
		for i, v := range by {
			y[i] += v
		}
		return y
	})
}

// positions is how many positions a layer has, and what is multiplied by its weight at one of them.
func (r *replay) positions(k int) (count int, inputs func(p int) []float64) {
	n, x := r.nodes[k], r.inputs[k]
	l, ok := n.layer.(Conv)
	if !ok {
		return 1, func(int) []float64 { return x }
	}
	return n.out[1] * n.out[2], func(p int) []float64 {
		a := make([]float64, n.in[0]*l.Kernel[0]*l.Kernel[1])
		for ch := range n.in[0] {
			n.slide(l.window(), x, ch, p, func(ky, kx int, v float64) { a[(ch*l.Kernel[0]+ky)*l.Kernel[1]+kx] = v })
		}
		return a
	}
}

// curvature is Σ_p jᵀHj, where j is the derivative of the outputs when the outputs of layer k move along u at position p. H is the Hessian.
func (r *replay) curvature(k, positions int, u []float64, hessian [][]float64) (sum float64) {
	const h = 1e-6
	by := make([]float64, len(r.outputs[k]))
	for p := range positions {
		clear(by)
		for o, v := range u {
			by[o*positions+p] = h * v
		}
		up := r.moved(k, by)
		for i := range by {
			by[i] = -by[i]
		}
		down := r.moved(k, by)
		for a, row := range hessian {
			for b, v := range row {
				sum += (up[a] - down[a]) * v * (up[b] - down[b]) / (4 * h * h)
			}
		}
	}
	return sum
}

// TestFactorsOfGoldenNets compares A with the mean of outer products of float64 inputs, and G with its quadratic form uᵀGu along some u, by finite
// differences of the float64 reference. Layers without factors are frozen.
func TestFactorsOfGoldenNets(t *testing.T) {
	long := testkit.Long(t, 1)
	for _, c := range goldenCases(t) {
		if _, ok := later[c.Name]; ok {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			whole, theta, set := c.network(t)
			if whole.dim > 1000 && !long {
				set = first(set, 1)
			}
			without := map[string]bool{}
			for _, tensor := range whole.tensors {
				without[tensor.Place] = tensor.Of == "frn"
			}
			net, err := NewPartly(whole.input, whole.layers, whole.lik, func(module string) Role {
				return map[bool]Role{true: RoleFrozen}[without[module]]
			})
			if err != nil {
				t.Fatal(err)
			}
			m, err := NewModel(net, set, pool.New(2))
			if err != nil {
				t.Fatal(err)
			}
			random, shared := net.Split(theta)
			factors, err := m.At(shared).Factors(context.Background(), random)
			if err != nil {
				t.Fatal(err)
			}
			checkFactors(t, whole, theta, set, factors, func(layer, work int) bool {
				return c.Name == "relu_exact_zero_preactivation" && layer == 0 || work > 1e7 && !long
			})
		})
	}
}

// checkFactors compares the factors of a network with its float64 reference. omit says which layers' G is not compared, for positions × D: before
// a ReLU that is exactly at 0 finite differences have no meaning, and others take minutes.
func checkFactors(t *testing.T, net *Net, theta []float64, set *data.Set, factors []Factor, omit func(layer, work int) bool) {
	t.Helper()
	n := set.Len()
	runs, hessians := make([]*replay, n), make([][][]float64, n)
	for i := range n {
		x := net.example(set, i)
		runs[i] = newReplay(net, theta, x)
		hessians[i] = net.hessian(net.outputs(theta, x), theta, set, i)
	}
	var layers []int // numbers in the order of computing, by factor
	for k, node := range runs[0].nodes {
		if name := kind(node.layer); name == "dense" || name == "conv" {
			layers = append(layers, k)
		}
	}
	if len(factors) != len(layers) {
		t.Fatalf("%d factors of %d layers", len(factors), len(layers))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for l, k := range layers {
		f, tensors := factors[l], runs[0].nodes[k].params
		if weight := net.tensors[tensors[0]]; f.Weight.Name != weight.Name || f.Layer+".weight" != weight.Name || (f.Bias != nil) != (len(tensors) == 2) {
			t.Fatalf("factor %d is %s of %s, want %s", l, f.Weight.Name, f.Layer, weight.Name)
		}
		out := f.Weight.Shape[0]
		in := f.Weight.Size / out
		if f.Bias != nil {
			in++
		}
		if len(f.A) != in*in || len(f.G) != out*out {
			t.Fatalf("%s: A of %d numbers, G of %d", f.Layer, len(f.A), len(f.G))
		}
		a, positions := make([]float64, in*in), 0
		for _, run := range runs {
			var inputs func(p int) []float64
			positions, inputs = run.positions(k)
			for p := range positions {
				x := inputs(p)
				if f.Bias != nil {
					x = append(slices.Clone(x), 1)
				}
				for i, v := range x {
					for j, w := range x {
						a[i*in+j] += v * w / float64(n*positions)
					}
				}
			}
		}
		mean := 0.0
		for i := range in {
			mean += a[i*in+i] / float64(in)
		}
		for i, want := range a {
			if scale := math.Sqrt(a[i/in*in+i/in]*a[i%in*in+i%in]) + 0.1*mean; !(math.Abs(f.A[i]-want) <= 1e-4*scale) { // float32 values are off by some 1e-5, sums by less
				t.Fatalf("%s: A[%d, %d] = %.8g, want %.8g", f.Layer, i/in, i%in, f.A[i], want)
			}
		}
		for o := range out {
			for p := range o {
				if f.G[o*out+p] != f.G[p*out+o] {
					t.Fatalf("%s: G is not symmetric at %d, %d", f.Layer, o, p)
				}
			}
		}
		if omit(l, positions*net.dim) {
			continue
		}
		probes := 4
		if net.dim > 1000 {
			probes = 1
		}
		for range probes {
			u := make([]float64, out)
			for o := range u {
				u[o] = r.NormFloat64()
			}
			want, got := 0.0, 0.0
			for i, run := range runs {
				want += run.curvature(k, positions, u, hessians[i]) / float64(n)
			}
			for o, v := range u {
				for p, w := range u {
					got += v * f.G[o*out+p] * w
				}
			}
			if !(math.Abs(got-want) <= 2e-4*want+1e-6) {
				t.Fatalf("%s: uᵀGu = %.8g, want %.8g", f.Layer, got, want)
			}
		}
	}
}

// first is the first n examples of a set.
func first(set *data.Set, n int) *data.Set {
	some := *set
	some.F32 = set.F32[:n*set.Features()]
	if set.Labels != nil {
		some.Labels = set.Labels[:n]
	} else {
		some.Values = set.Values[:n*set.Outputs]
	}
	return &some
}

// TestFactorsOfManyRows: widths beyond a block, rows that are kept and rows that are summed, several rounds, a tail, and no bias.
func TestFactorsOfManyRows(t *testing.T) {
	net := mustNet(t, []int{150}, []Layer{Dense{Units: 131, NoBias: true}, Tanh, Dense{Units: 140}, Swish, Dense{Units: 2}}, Categorical{})
	r := rand.New(rand.NewPCG(1, 3))
	set, theta := testSet(net, 1033, false, r), testTheta(net, 1, r)
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	factors, err := m.Factors(context.Background(), theta)
	if err != nil {
		t.Fatal(err)
	}
	checkFactors(t, net, theta, set, factors, func(int, int) bool { return false })
}

// TestFactorsOfLastLayer: where only the last layer is random, it alone has a factor, the same as where all layers are.
func TestFactorsOfLastLayer(t *testing.T) {
	layers := []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}}, FRN{}, ReLU, Residual{[]Layer{Dense{Units: 5}, Tanh}, []Layer{Dense{Units: 5}}}, Dense{Units: 4}}
	r := rand.New(rand.NewPCG(1, 4))
	whole := mustNet(t, []int{1, 6, 5}, layers, Categorical{})
	net, err := Random{LastLayer}.Network([]int{1, 6, 5}, layers, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	theta, set := testTheta(whole, 1, r), testSet(whole, 70, false, r)
	random, shared := net.Split(theta)
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	factors, err := m.At(shared).Factors(context.Background(), random)
	if err != nil || len(factors) != 1 || factors[0].Layer != "4" {
		t.Fatal(factors, err)
	}
	n := 0
	run := newReplay(whole, theta, whole.example(set, 0))
	for k := range run.nodes {
		if run.nodes[k].params != nil {
			n = k
		}
	}
	want := make([]float64, 36)
	for i := range set.Len() {
		x := append(slices.Clone(newReplay(whole, theta, whole.example(set, i)).inputs[n]), 1)
		for a, v := range x {
			for b, w := range x {
				want[a*6+b] += v * w / 70
			}
		}
	}
	for i, v := range want {
		if !(math.Abs(factors[0].A[i]-v) <= 1e-5*math.Abs(v)+1e-5) {
			t.Fatalf("A[%d] = %.8g, want %.8g", i, factors[0].A[i], v)
		}
	}
}

// TestFactorsOfLaplaceTorch compares the factors of golden networks, LeNet-5 among them, with those of laplace-torch 0.3
// (bench/laplace_factors.py): trace, norm and a quadratic form of each.
func TestFactorsOfLaplaceTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/factors.json")
	if err != nil {
		t.Fatal(err)
	}
	type numbers struct{ Trace, Norm, Form float64 }
	var want map[string][]struct{ A, G numbers }
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range goldenCases(t) {
		layers := want[c.Name]
		if layers == nil {
			continue
		}
		net, theta, set := c.network(t)
		m, err := NewModel(net, set, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		factors, err := m.Factors(context.Background(), theta)
		if err != nil || len(factors) != len(layers) {
			t.Fatal(len(factors), err)
		}
		for l, f := range factors {
			for _, factor := range []struct {
				name    string
				m       []float64
				n, size int // compared, of all
				want    numbers
			}{{"A", f.A, f.Weight.FanIn, f.Weight.FanIn + 1, layers[l].A}, {"G", f.G, f.Weight.Shape[0], f.Weight.Shape[0], layers[l].G}} {
				var got numbers
				along := func(i int) float64 { return math.Mod(0.618*float64(i), 1) - 0.5 }
				for i := range factor.n {
					got.Trace += factor.m[i*factor.size+i]
					for j, v := range factor.m[i*factor.size:][:factor.n] {
						got.Norm += v * v
						got.Form += along(i) * v * along(j)
					}
				}
				got.Norm = math.Sqrt(got.Norm)
				for _, pair := range [][2]float64{{got.Trace, factor.want.Trace}, {got.Norm, factor.want.Norm}, {got.Form, factor.want.Form}} {
					if !(math.Abs(pair[0]-pair[1]) <= 1e-4*math.Abs(pair[1])+1e-12) {
						t.Errorf("%s, layer %s: %s has %+v, laplace-torch %+v", c.Name, f.Layer, factor.name, got, factor.want)
					}
				}
			}
			compared++
		}
	}
	if compared < 33 {
		t.Errorf("%d layers were compared", compared)
	}
}
