package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// checkTangents compares two directions with differences of the outputs of the float64 reference of the whole network, at some examples.
func checkTangents(t *testing.T, whole, net *Net, theta []float64, set *data.Set, rows []int32, r *rand.Rand) {
	t.Helper()
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	random, shared := net.Split(theta)
	d, k := net.dim, net.Outputs()
	directions, n := make([]float64, 2*d), len(rows)
	for i := range directions {
		directions[i] = float64(float32(r.NormFloat64()))
	}
	out := make([]float32, 2*n*k)
	for i := range out {
		out[i] = 7
	}
	if err := m.At(shared).Tangents(context.Background(), rows, random, directions, out); err != nil {
		t.Fatal(err)
	}
	const h = 1e-6
	for j := range 2 {
		along := directions[j*d:][:d]
		at := func(step float64) []float64 {
			own := append([]float64(nil), random...)
			for i, v := range along {
				own[i] += step * v
			}
			return net.Join(own, shared)
		}
		up, down, seen := at(h), at(-h), map[float64]bool{}
		for i, row := range rows {
			if i >= 8 && i%lanes.Lanes != 5 && i < n-2 { // some of every group: the reference takes its time
				continue
			}
			x := whole.example(set, int(row))
			a, b, scale := whole.outputs(up, x), whole.outputs(down, x), 0.0
			for o := range a {
				scale += math.Abs(a[o]-b[o]) / (2 * h) / float64(k)
			}
			for o := range a {
				want := (a[o] - b[o]) / (2 * h)
				seen[want] = true
				if got := float64(out[(j*n+i)*k+o]); !(math.Abs(got-want) <= 2e-4*(math.Abs(want)+scale)+1e-5) {
					t.Fatalf("direction %d, example %d, output %d: %.8g, want %.8g", j, row, o, got, want)
				}
			}
		}
		if len(seen) <= k && n > 1 {
			t.Errorf("direction %d: all examples have one derivative: is a ReLU never open?", j)
		}
	}
}

// TestTangents: every layer, the golden networks, and networks of which a part is random.
func TestTangents(t *testing.T) {
	image := []int{2, 9, 10}
	pair := func(a, b int) [2]int { return [2]int{a, b} }
	conv := func(f, k, s, p int) Conv {
		return Conv{Filters: f, Kernel: pair(k, k), Stride: pair(s, s), Pad: pair(p, p)}
	}
	norm := Norm{Batch: Frozen}
	var nets []*Net
	for _, c := range []struct {
		name   string
		input  []int
		layers []Layer
		lik    Likelihood
		random Random
		n      int
	}{
		{"no bias", []int{17}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{}, nil, 131},
		{"mlp", []int{6}, []Layer{Dense{Units: 18}, ReLU, Dense{Units: 7}, Tanh, Dense{Units: 2}}, Gaussian{SD: .7}, nil, 65},
		{"learned sd", []int{4}, []Layer{Dense{Units: 5}, Swish, Dense{Units: 2}}, Gaussian{SD: Learned}, nil, 9},
		{"student", []int{4}, []Layer{Dense{Units: 5}, GELU, Dense{Units: 2}}, Student{DF: Learned, SD: 1}, nil, 9},
		{"convs", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), MaxPool{Size: pair(2, 2)}, ReLU, Dense{Units: 3}}, Categorical{}, nil, 19},
		{"means", image, []Layer{conv(7, 3, 1, 1), ReLU, AvgPool{Size: pair(2, 2)}, conv(9, 2, 1, 1), AvgPool{pair(3, 2), pair(2, 1), pair(1, 0)}, GlobalAvgPool{}}, Categorical{}, nil, 19},
		{"stride", image, []Layer{conv(3, 3, 2, 1), Swish, MaxPool{pair(3, 3), pair(2, 2), pair(1, 1)}, conv(6, 3, 2, 1), ReLU, Flatten{}, Tanh, Dropout(.5), Dense{Units: 3}}, Categorical{}, nil, 19},
		{"border gelu conv", []int{2, 6, 2}, []Layer{conv(2, 3, 1, 1), conv(3, 1, 1, 0), GELU, conv(2, 3, 1, 1), Dense{Units: 3}}, Categorical{}, nil, 21},
		{"convs alone", image, []Layer{conv(3, 3, 1, 1), conv(4, 3, 1, 1), conv(3, 3, 1, 1), conv(2, 3, 1, 1), Dense{Units: 3}}, Categorical{}, nil, 37},
		{"residual", image, []Layer{conv(3, 3, 1, 1), ReLU, Residual{[]Layer{conv(6, 3, 2, 1), ReLU, conv(6, 3, 1, 1)}, []Layer{Pad{}}}, ReLU, Residual{Body: []Layer{conv(6, 3, 1, 1), Tanh}}, Dense{Units: 3}}, Categorical{}, nil, 19},
		{"residual of dense layers", []int{6}, []Layer{Dense{Units: 5}, Residual{[]Layer{Dense{Units: 4}, Tanh}, []Layer{Dense{Units: 4}}}, Dense{Units: 3}}, Categorical{}, nil, 70},
		{"frn", image, []Layer{FRN{}, conv(3, 3, 1, 1), FRN{TLU: true, Eps: Learned}, Swish, conv(4, 3, 2, 1), FRN{TLU: true, Eps: 1e-3}, conv(2, 3, 1, 1), FRN{}, ReLU, Dense{Units: 3}}, Categorical{}, nil, 37},
		{"update", image, []Layer{conv(3, 3, 1, 1), ReLU, Dense{Units: 5}, Tanh, LoRA{Units: 3, Rank: 2, Alpha: 3}}, Categorical{}, nil, 19},
		{"update of the inputs", []int{6}, []Layer{LoRA{Units: 4, Rank: 2, Alpha: 1, NoBias: true}, Tanh, Dense{Units: 3}}, Categorical{}, nil, 70},
		{"update alone", image, []Layer{conv(3, 3, 1, 1), Tanh, LoRA{Units: 3, Rank: 2, Alpha: 3}}, Categorical{}, Random{LastLayer}, 19},
		{"embed", []int{5}, []Layer{Embed{Tokens: 7, Width: 3}, Dense{Units: 6}, Tanh, Dense{Units: 3}}, Categorical{}, nil, 70},
		{"norm", image, []Layer{norm, conv(3, 3, 1, 1), norm, ReLU, conv(3, 3, 1, 1), norm, Residual{[]Layer{conv(6, 3, 2, 1), norm}, []Layer{conv(6, 1, 2, 0), norm}}, Swish, Dense{Units: 3}}, Categorical{}, nil, 19},
		{"last", image, []Layer{conv(3, 3, 1, 1), FRN{}, ReLU, Dense{Units: 5}, Tanh, Dense{Units: 3}}, Categorical{}, Random{LastLayer}, 70},
		{"first", image, []Layer{conv(3, 3, 1, 1), FRN{}, ReLU, norm, Dense{Units: 5}, Tanh, Dense{Units: 3}}, Categorical{}, Random{FirstLayer}, 20},
		{"body of shared inputs", image, []Layer{conv(3, 3, 1, 1), ReLU, Residual{[]Layer{conv(3, 3, 1, 1)}, nil}, Dense{Units: 3}}, Categorical{}, Random{"2.body"}, 20},
		{"shortcut of shared inputs", image, []Layer{conv(3, 3, 1, 1), Residual{[]Layer{conv(6, 3, 1, 1)}, []Layer{conv(6, 1, 1, 0), Tanh}}, Dense{Units: 3}}, Categorical{}, Random{"1.shortcut", "3"}, 20},
		{"odd", odd(t).input, odd(t).layers, Categorical{}, nil, 18},
	} {
		whole := mustNet(t, c.input, c.layers, c.lik)
		nets = append(nets, whole)
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			net := whole
			if c.random != nil {
				part, err := c.random.Network(c.input, c.layers, c.lik)
				if err != nil {
					t.Fatal(err)
				}
				if net, err = part.With(widened(whole.constants)); err != nil {
					t.Fatal(err)
				}
			}
			set, rows := testSet(whole, c.n, false, r), make([]int32, c.n)
			for i := range rows {
				rows[i] = int32(r.IntN(c.n))
			}
			checkTangents(t, whole, net, testTheta(whole, 1, r), set, rows, r)
		})
	}
	wantEveryRow(t, nets)
	for _, c := range goldenCases(t) {
		if c.Name == "relu_exact_zero_preactivation" { // which has no derivative
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			net, theta, set := c.network(t)
			checkTangents(t, net, net, theta, set, []int32{1, 0}, rand.New(rand.NewPCG(1, 2)))
		})
	}
}

// TestTangentsOfAHead: the outputs of a linear network are those at θ and the derivative along the way, whatever its length.
func TestTangentsOfAHead(t *testing.T) {
	net := mustNet(t, []int{40}, []Layer{ReLU, Dense{Units: 10}}, Categorical{})
	r := rand.New(rand.NewPCG(1, 5))
	set, theta := testSet(net, 100, false, r), testTheta(net, 2, r)
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	d := net.dim
	way := make([]float64, d)
	for i := range way {
		way[i] = theta[d+i] - theta[i]
	}
	outputs, along := make([]float32, 2*1000), make([]float32, 1000)
	if err := m.Outputs(context.Background(), nil, theta, outputs); err != nil {
		t.Fatal(err)
	}
	if err := m.Tangents(context.Background(), nil, theta[:d], way, along); err != nil {
		t.Fatal(err)
	}
	for i, v := range along {
		if got, want := outputs[i]+v, outputs[1000+i]; !(math.Abs(float64(got-want)) <= 2e-5) {
			t.Fatalf("output %d: %v, want %v", i, got, want)
		}
	}
}

// still is an activation that has an op without a tangent.
type still struct{ relu }

type stillOp struct{ op }

func (still) compile(c *compiler, chain []node, v *value) (*value, int) {
	v = c.withoutBorder(v)
	out := c.output(&chain[0])
	c.emit(chain[0].stage, stillOp{&activationOp{f: ReLU, in: v, out: out}})
	return out, 1
}

// TestTangentsRefuse: the error names the layer.
func TestTangentsRefuse(t *testing.T) {
	net := mustNet(t, []int{3}, []Layer{Dense{Units: 2}, still{}, Dense{Units: 2}}, Categorical{})
	r := rand.New(rand.NewPCG(1, 6))
	m, err := NewModel(net, testSet(net, 4, false, r), pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	theta := testTheta(net, 1, r)
	if err := m.Tangents(context.Background(), nil, theta, theta, make([]float32, 8)); err == nil || !strings.Contains(err.Error(), "still") {
		t.Errorf("a layer without a tangent: %v", err)
	}
	if err := m.Tangents(context.Background(), []int32{4}, theta, theta, make([]float32, 2)); err == nil || !strings.Contains(err.Error(), "example 4") {
		t.Errorf("a row that is not there: %v", err)
	}
}
