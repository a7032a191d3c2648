package nn

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// resnet20 is ResNet-20 for images of 32×32 (He et al. 2016), with an activation behind convolutions and sums: of projections, or as a
// chain without sums.
func resnet20(act Layer, sums bool) []Layer {
	conv := func(f, k, s int) Layer {
		return Conv{Filters: f, Kernel: [2]int{k, k}, Stride: [2]int{s, s}, Pad: [2]int{k / 2, k / 2}}
	}
	layers := []Layer{conv(16, 3, 1), act}
	for i := range 9 {
		f, s := 16<<(i/3), 1
		if i == 3 || i == 6 {
			s = 2
		}
		switch body := []Layer{conv(f, 3, s), act, conv(f, 3, 1)}; {
		case !sums:
			layers = append(layers, body...)
		case s == 2:
			layers = append(layers, Residual{body, []Layer{conv(f, 1, 2)}})
		default:
			layers = append(layers, Residual{body, nil})
		}
		layers = append(layers, act)
	}
	return append(layers, GlobalAvgPool{}, Dense{Units: 10})
}

// TestTapesOfResNet20: the activations and gradients of a thread, which are a matter of the layers alone.
func TestTapesOfResNet20(t *testing.T) {
	for _, c := range []struct {
		name             string
		act              Layer
		sums             bool
		activations, all float64 // MB at most
	}{
		{"a chain", ReLU, false, 16.5, 22.1},
		{"with sums", ReLU, true, 17.8, 25.5},
		{"with sums and swish", Swish, true, 31.4, 40.5},
	} {
		p := mustNet(t, []int{3, 32, 32}, resnet20(c.act, c.sums), Categorical{}).program()
		if act, all := 4e-6*float64(p.actSize), 4e-6*float64(p.actSize+p.dySize); act > c.activations || all > c.all {
			t.Errorf("%s: %.1f MB of activations, %.1f with gradients, want at most %v and %v", c.name, act, all, c.activations, c.all)
		}
	}
}

// TestWaysOfNetworks: dense layers with a share of the work want the tile.
func TestWaysOfNetworks(t *testing.T) {
	for _, c := range []struct {
		name   string
		input  []int
		layers []Layer
		group  bool
	}{
		{"LeNet-5", []int{1, 28, 28}, lenet5, false},
		{"mnist7", []int{1, 28, 28}, mnist7, false},
		{"dense layers alone", []int{9}, []Layer{Dense{Units: 20}, ReLU, Dense{Units: 10}}, false},
		{"ResNet-20", []int{3, 32, 32}, resnet20(ReLU, true), true},
	} {
		if p := mustNet(t, c.input, c.layers, Categorical{}).program(); p.byGroup != c.group || p.byGroup && p.batch > 1 {
			t.Errorf("%s goes by group: %v", c.name, p.byGroup)
		}
	}
}

// bothWays are two networks of the same layers: one goes by tile, the other by group.
func bothWays(t *testing.T, input []int, layers []Layer, lik Likelihood, role func(string) Role) (nets [2]*Net) {
	t.Helper()
	for i := range nets {
		net, err := NewPartly(input, layers, lik, role)
		if err != nil {
			t.Fatal(err)
		}
		net.compiled.once.Do(func() { net.compiled.prog = compileNodes(net, withoutDropout(net.nodes), i == 1) })
		net.compiled.onceDropout.Do(func() { net.compiled.progDropout = compileNodes(net, net.nodes, i == 1) })
		nets[i] = net
	}
	return nets
}

// TestByGroup: a network that goes by group has the bits of the same network that goes by tile: values, gradients of θ and of ψ, outputs, and
// training steps with dropout.
func TestByGroup(t *testing.T) {
	type net = struct {
		input  []int
		layers []Layer
		lik    Likelihood
	}
	conv := func(f int) Layer { return Conv{Filters: f, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}} }
	mean := AvgPool{Size: [2]int{2, 2}}
	cases := map[string]net{
		"LeNet-5":      {[]int{1, 28, 28}, lenet5, Categorical{}},
		"mnist7":       {[]int{1, 28, 28}, mnist7, Categorical{}},
		"means":        {[]int{2, 12, 9}, []Layer{conv(3), ReLU, mean, conv(4), ReLU, mean, Dense{Units: 3}}, Student{DF: Learned, SD: Learned}},
		"dropout":      {[]int{2, 8, 8}, []Layer{conv(3), ReLU, MaxPool{Size: [2]int{3, 3}}, Dropout(0.4), Dense{Units: 9}, ReLU, Dropout(0.2), Dense{Units: 3}}, Categorical{}},
		"without end":  {[]int{2, 8, 8}, []Layer{conv(3), Swish, conv(2), GlobalAvgPool{}}, Gaussian{SD: Learned}},
		"one unit":     {[]int{2, 8, 8}, []Layer{conv(3), GELU, Dense{Units: 1, NoBias: true}}, Bernoulli{}},
		"two residual": {[]int{2, 8, 8}, []Layer{conv(3), ReLU, Residual{[]Layer{conv(4), ReLU, mean}, []Layer{conv(4), ReLU, mean}}, ReLU, Residual{[]Layer{conv(4), ReLU, conv(6)}, []Layer{Pad{}}}, Residual{Body: []Layer{conv(6)}}, ReLU, Dense{Units: 3}}, Categorical{}},
	}
	for name, c := range readerCases() {
		cases[name] = c
	}
	roles := map[string]func(string) Role{
		"": allRandom,
		", first learned": func(module string) Role {
			return map[bool]Role{true: RoleLearned}[module == "0" || module == "0.body.0"]
		},
		", last learned": func(module string) Role { return map[bool]Role{true: RoleLearned}[len(module) > 0 && module[0] >= '2'] },
	}
	tried := 0
	for name, c := range cases {
		for roleName, role := range roles {
			t.Run(name+roleName, func(t *testing.T) {
				if _, err := NewPartly(c.input, c.layers, c.lik, role); err != nil {
					return // nothing is random in such a network
				}
				nets := bothWays(t, c.input, c.layers, c.lik, role)
				if nets[0].program().batch > 1 {
					return // it has no convolutions, and its passes have many particles
				}
				tried++
				for _, kernel := range lanes.Kernels() {
					if kernel == "go" && len(lanes.Kernels()) > 1 && (testing.Short() || name == "LeNet-5" || roleName != "") {
						continue // it takes long
					}
					restore, err := lanes.SetKernel(kernel)
					if err != nil {
						t.Fatal(err)
					}
					var all [2][]float64
					for i, net := range nets {
						all[i] = everyResult(t, net)
					}
					restore()
					if at := slices.IndexFunc(all[0], func(v float64) bool { return v != v }); at >= 0 {
						t.Fatalf("result %d is NaN", at)
					}
					if !slices.Equal(all[0], all[1]) {
						t.Fatalf("%s: by group %v\nby tile %v", kernel, all[1], all[0])
					}
				}
			})
		}
	}
	if tried < 40 {
		t.Errorf("%d networks were compared, want at least 40", tried)
	}
}

// everyResult is what a model of the network says of 150 examples, the last group of which is not full, for three particles.
func everyResult(t *testing.T, net *Net) []float64 {
	t.Helper()
	const n, particles = 150, 3
	r := rand.New(rand.NewPCG(17, 4))
	m, err := NewModel(net, testSet(net, n, false, r), pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	phi := make([]float64, net.Shared())
	for i := range phi {
		phi[i] = 0.4 * r.NormFloat64()
	}
	m = m.At(phi)
	theta := testTheta(net, particles, r)
	ll, grad := make([]float64, particles), make([]float64, len(theta))
	var all []float64
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ll...)
		all = append(all, grad...)
	}
	check(m.LogLik(context.Background(), nil, theta, ll, nil))
	check(m.LogLik(context.Background(), nil, theta, ll, grad))
	check(m.LogLikSeen(context.Background(), View{Seed: 3, Epoch: 2}, nil, theta, ll, grad))
	psi := make([]float64, net.Learned())
	check(m.LearnedGradient(context.Background(), nil, theta, []float64{.5, .2, .3}, psi))
	out := make([]float32, particles*n*net.Outputs())
	check(m.Outputs(context.Background(), nil, theta, out))
	all = append(all, psi...)
	for _, v := range out {
		all = append(all, float64(v))
	}
	return all
}
