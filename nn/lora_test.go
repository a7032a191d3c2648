package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
)

// valued is the part of a vector that holds a tensor of a network.
func valued(t *testing.T, net *Net, of []float64, name string) []float64 {
	t.Helper()
	i := slices.IndexFunc(net.tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("the network has no tensor %s: %+v", name, net.tensors)
	}
	return of[net.tensors[i].Offset:][:net.tensors[i].Size]
}

// logitsAndGradient are those of particles at θ.
func logitsAndGradient(t *testing.T, net *Net, set *data.Set, theta []float64) (logits []float32, grad []float64) {
	t.Helper()
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	particles := len(theta) / net.dim
	logits, grad = make([]float32, particles*set.Len()*net.Outputs()), make([]float64, len(theta))
	if err := m.Outputs(context.Background(), nil, theta, logits); err != nil {
		t.Fatal(err)
	}
	if err := m.LogLik(context.Background(), nil, theta, make([]float64, particles), grad); err != nil {
		t.Fatal(err)
	}
	return logits, grad
}

// TestMergedUpdate: a low-rank update is the dense layer of W + (α/r) B A. Logits of all particles are the same, and the gradients by the
// chain rule: those of A are (α/r) Bᵀ dW, those of B (α/r) dW Aᵀ. With B = 0 the logits are those of the trained layer, bit for bit.
func TestMergedUpdate(t *testing.T) {
	const in, units, rank, alpha, particles = 21, 6, 3, 5., 5
	for name, before := range map[string][]Layer{"of inputs": nil, "behind a random layer": {Dense{Units: in, Name: "first"}, Tanh}} {
		net := mustNet(t, []int{in}, append(slices.Clone(before), LoRA{Units: units, Rank: rank, Alpha: alpha, Name: "head"}), Categorical{})
		plain := mustNet(t, []int{in}, append(slices.Clone(before), Dense{Units: units, Name: "head"}), Categorical{})
		r := rand.New(rand.NewPCG(7, 1))
		set, theta := testSet(net, 83, false, r), testTheta(net, particles, r)
		trained := widened(net.statistics)
		merged, unchanged := make([]float64, particles*plain.dim), make([]float64, particles*plain.dim)
		for j := range particles {
			own, whole, start := theta[j*net.dim:][:net.dim], merged[j*plain.dim:][:plain.dim], unchanged[j*plain.dim:][:plain.dim]
			a, b := valued(t, net, own, "head.lora_A"), valued(t, net, own, "head.lora_B")
			for _, to := range [][]float64{whole, start} {
				if before != nil {
					copy(valued(t, plain, to, "first.weight"), valued(t, net, own, "first.weight"))
					copy(valued(t, plain, to, "first.bias"), valued(t, net, own, "first.bias"))
				}
				copy(valued(t, plain, to, "head.weight"), valued(t, net, trained, "head.weight"))
				copy(valued(t, plain, to, "head.bias"), valued(t, net, trained, "head.bias"))
			}
			w := valued(t, plain, whole, "head.weight")
			for at := range w {
				for k := range rank {
					w[at] += alpha / rank * b[at/in*rank+k] * a[k*in+at%in]
				}
			}
		}
		logits, grad := logitsAndGradient(t, net, set, theta)
		wantLogits, wantGrad := logitsAndGradient(t, plain, set, merged)
		for i, want := range wantLogits {
			if !(math.Abs(float64(logits[i]-want)) <= 2e-5) {
				t.Fatalf("%s: logit %d is %v, of the merged layer %v", name, i, logits[i], want)
			}
		}
		near := func(what string, have, want float64) {
			t.Helper()
			if !(math.Abs(have-want) <= 3e-4+1e-4*math.Abs(want)) {
				t.Errorf("%s: the gradient of %s is %v, by the merged layer %v", name, what, have, want)
			}
		}
		for j := range particles {
			own, by := grad[j*net.dim:][:net.dim], valued(t, plain, wantGrad[j*plain.dim:][:plain.dim], "head.weight")
			a, b := valued(t, net, theta[j*net.dim:][:net.dim], "head.lora_A"), valued(t, net, theta[j*net.dim:][:net.dim], "head.lora_B")
			for at, have := range valued(t, net, own, "head.lora_A") {
				want := 0.0
				for u := range units {
					want += alpha / rank * b[u*rank+at/in] * by[u*in+at%in]
				}
				near("A", have, want)
			}
			for at, have := range valued(t, net, own, "head.lora_B") {
				want := 0.0
				for k := range in {
					want += alpha / rank * by[at/rank*in+k] * a[at%rank*in+k]
				}
				near("B", have, want)
			}
			if before != nil {
				for at, have := range valued(t, net, own, "first.weight") {
					near("the layer before", have, valued(t, plain, wantGrad[j*plain.dim:][:plain.dim], "first.weight")[at])
				}
			}
			clear(valued(t, net, theta[j*net.dim:][:net.dim], "head.lora_B"))
		}
		logits, _ = logitsAndGradient(t, net, set, theta)
		if want, _ := logitsAndGradient(t, plain, set, unchanged); !slices.Equal(logits, want) {
			t.Errorf("%s: with B = 0 the logits are not those of the trained layer", name)
		}
	}
}

// TestUpdatesAlone: D counts A and B alone. W and b are constants of the network, and B is what begins at 0 where descents begin; outputs that
// are scales change nothing of it.
func TestUpdatesAlone(t *testing.T) {
	net := mustNet(t, []int{30}, []Layer{LoRA{Units: 4, Rank: 4, Alpha: 2, Name: "head"}}, Gaussian{SD: Predicted})
	if net.Dim() != 4*30+4*4 || net.Parameters() != net.Dim() || net.Partly() || net.Whole() != net {
		t.Errorf("D = %d, %d parameters, partly random: %v", net.Dim(), net.Parameters(), net.Partly())
	}
	got := ""
	for _, x := range net.Tensors() {
		got += strings.TrimPrefix(x.Name, "head.") + " " + x.Role.String() + "; "
	}
	if got != "weight fixed; bias fixed; lora_A random; lora_B random; " {
		t.Errorf("tensors %s", got)
	}
	if a, b := net.Random()[0], net.Random()[1]; a.Zero != 0 || b.Zero != 16 || a.FanIn != 30 || b.FanIn != 4 || a.Kind != Updates || b.Kind != Updates {
		t.Errorf("A %+v, B %+v", a, b)
	}
	// Forward W and A of 30 inputs and B of 4, then the gradients of A and B, and that of B's input.
	if want := 2. * (2*4*30 + 4*4 + 4*30 + 4*4 + 4*4); net.Flops() != want {
		t.Errorf("%v floating-point operations, want %v", net.Flops(), want)
	}
	behind := mustNet(t, []int{2}, []Layer{Dense{Units: 30}, LoRA{Units: 4, Rank: 4, Alpha: 2}}, Categorical{})
	if want := 2. * (2*60 + 2*4*30 + 3*4*30 + 3*4*4); behind.Flops() != want {
		t.Errorf("behind a random layer %v floating-point operations, want %v", behind.Flops(), want)
	}
	if net.Title() != "lora 4 (rank 4)" {
		t.Errorf("title %q", net.Title())
	}
	bare, err := New([]int{30}, net.layers, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewModel(bare, testSet(bare, 3, false, rand.New(rand.NewPCG(1, 1))), nil); err == nil || !strings.Contains(err.Error(), "nothing of the network that was trained") {
		t.Errorf("a model without W: %v", err)
	}
}

// TestTrainedProductRunsOnce: W x runs once a tile of a call for all particles, on inputs and behind learned layers, and its gradient once, too.
func TestTrainedProductRunsOnce(t *testing.T) {
	const particles = 300
	for name, layers := range map[string][]Layer{
		"inputs": {LoRA{Units: 4, Rank: 2, Alpha: 2}}, "learned layers": {Dense{Units: 6}, ReLU, LoRA{Units: 4, Rank: 2, Alpha: 2}},
	} {
		net, err := NewPartly([]int{20}, layers, Categorical{}, func(module string) Role {
			if len(layers) > 1 && module == "0" {
				return RoleLearned
			}
			return RoleRandom
		})
		if err != nil {
			t.Fatal(err)
		}
		net = measured(net)
		counted, p := &countingOp{}, net.program()
		fixed := 0
		for _, o := range p.ops[stageSharedDense] {
			if d, ok := o.(*denseOp); ok && d.w.role == RoleFixed {
				fixed++
			}
		}
		if fixed != 1 {
			t.Errorf("%s: %d products with W in the stage that particles share, want 1", name, fixed)
		}
		p.ops[stageSharedDense] = append(p.ops[stageSharedDense], counted)
		r := rand.New(rand.NewPCG(1, 1))
		m, err := NewModel(net, testSet(net, 130, false, r), pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		theta := testTheta(net, particles, r)
		if err := m.LogLik(context.Background(), nil, theta, make([]float64, particles), make([]float64, len(theta))); err != nil {
			t.Fatal(err)
		}
		if counted.forwards != 9 { // groups of 130 examples
			t.Errorf("%s: W x of %d groups, want 9", name, counted.forwards)
		}
	}
}

// TestRolesOfUpdates is TestRoles for low-rank updates and embeddings: random, learned and frozen, first, last and between.
func TestRolesOfUpdates(t *testing.T) {
	head := LoRA{Units: 4, Rank: 2, Alpha: 3}
	for name, c := range map[string]struct {
		input  []int
		layers []Layer
	}{
		"dense":      {[]int{9}, []Layer{Dense{Units: 7}, ReLU, LoRA{Units: 6, Rank: 3, Alpha: 2}, Swish, Dense{Units: 3}}},
		"two":        {[]int{9}, []Layer{LoRA{Units: 7, Rank: 2, Alpha: 2}, ReLU, LoRA{Units: 6, Rank: 3, Alpha: 2, NoBias: true}, ReLU, head}},
		"one unit":   {[]int{9}, []Layer{Dense{Units: 1}, LoRA{Units: 1, Rank: 1, Alpha: 2}, Tanh, Dense{Units: 2}}},
		"images":     {[]int{2, 6, 5}, []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, MaxPool{Size: [2]int{2, 2}}, head, ReLU, Dense{Units: 2}}},
		"residual":   {[]int{4}, []Layer{Dense{Units: 5}, ReLU, Residual{[]Layer{LoRA{Units: 5, Rank: 2, Alpha: 3}}, []Layer{Dense{Units: 5}}}, head}},
		"embed":      {[]int{3}, []Layer{Embed{Tokens: 5, Width: 4}, Dense{Units: 6}, ReLU, head}},
		"embed relu": {[]int{3}, []Layer{Embed{Tokens: 5, Width: 4}, ReLU, LoRA{Units: 6, Rank: 3, Alpha: 2}, ReLU, Dense{Units: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			partly := 0
			for seed := range uint64(40) {
				r := rand.New(rand.NewPCG(seed, 96))
				net, err := drawRoles(c.input, c.layers, Categorical{}, r)
				if err != nil || !net.Partly() {
					continue // nothing is random, or all
				}
				partly++
				if err := tryRoles(net, 35, []int{1, 3, 66}[r.IntN(3)], r); err != nil {
					t.Errorf("seed %d, tensors %+v: %v", seed, net.tensors, err)
				}
			}
			if partly < 5 {
				t.Errorf("%d networks were partly random", partly)
			}
		})
	}
}

// TestUpdateFaults: updates that cannot be are refused, with place and mend.
func TestUpdateFaults(t *testing.T) {
	for want, layers := range map[string][]Layer{
		"layer 0 (lora): rank: 4 is above 3, the rank of any matrix of 3×5: more rows of A add nothing that B A could not be. Take at most 3, or write full: true": {LoRA{Units: 3, Rank: 4, Alpha: 1}},
		"layer 1 (lora): rank: 3 is above 2":                           {Dense{Units: 2}, LoRA{Units: 3, Rank: 3, Alpha: 1}},
		"layer 0 (lora): rank: want a rank of at least 1, have 0":      {LoRA{Units: 3, Alpha: 1}},
		"layer 0 (lora): alpha: want a number above 0, have 0":         {LoRA{Units: 3, Rank: 1}},
		"layer 0 (lora): alpha: want a number above 0, have NaN":       {LoRA{Units: 3, Rank: 1, Alpha: math.NaN()}},
		"layer 0 (lora): alpha: want a number above 0, have +Inf":      {LoRA{Units: 3, Rank: 1, Alpha: math.Inf(1)}},
		"layer 0 (lora): alpha: want a number above 0, have -1":        {LoRA{Units: 3, Rank: 1, Alpha: -1}},
		"layer 0 (lora): units must be positive, have 0":               {LoRA{Rank: 1, Alpha: 1}},
		`layer 1 (lora): the name "head" is taken by an earlier layer`: {Dense{Units: 3, Name: "head"}, LoRA{Units: 3, Rank: 1, Alpha: 1, Name: "head"}},
	} {
		if _, err := New([]int{5}, layers, Categorical{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if net := mustNet(t, []int{5}, []Layer{LoRA{Units: 3, Rank: 4, Alpha: 1, Full: true}}, Categorical{}); net.Dim() != 4*5+3*4 {
		t.Errorf("full: D = %d", net.Dim())
	}
	if at := Updated([]Layer{ReLU, Residual{Body: []Layer{LoRA{}}}, Dense{}, LoRA{}}); !slices.Equal(at, []int{1, 3}) {
		t.Errorf("updates are layers %v", at)
	}
}
