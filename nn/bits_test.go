package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestSameBits runs one network on every kernel with 1, 2 and 7 threads, over full and tail tiles, mini-batches and
// several segments. The long test also has the Go kernel where that takes long, on all numbers of threads.
func TestSameBits(t *testing.T) {
	long := testkit.Long(t, 1)
	logistic := mustNet(t, []int{9}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{})
	means := mustNet(t, []int{2, 23, 17}, []Layer{
		Conv{Filters: 5, Kernel: [2]int{4, 3}, Pad: [2]int{1, 0}}, ReLU, AvgPool{Size: [2]int{2, 2}},
		Conv{Filters: 7, Kernel: [2]int{2, 3}, Pad: [2]int{0, 1}}, ReLU, AvgPool{Size: [2]int{2, 2}}, Dense{Units: 3},
	}, Categorical{})
	// Every layer, with pools that are not computed with the convolution before them.
	mixed := mustNet(t, []int{2, 12, 9}, []Layer{
		Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, Swish, MaxPool{Size: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}},
		Conv{Filters: 4, Kernel: [2]int{2, 2}}, ReLU, GlobalAvgPool{}, Flatten{}, Dropout(0.4), Dense{Units: 3},
	}, Gaussian{SD: Learned})
	// Values with several readers, in the conv and in the dense stage.
	readers := mustNet(t, []int{2, 8, 7}, []Layer{
		Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU,
		Residual{Body: []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, Swish}},
		Residual{[]Layer{Conv{Filters: 6, Kernel: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}}, ReLU}, []Layer{Pad{}}}, ReLU,
		Residual{Body: []Layer{Dense{Units: 5}, Tanh}, Shortcut: []Layer{Dense{Units: 5}}}, Dense{Units: 3},
	}, Categorical{})
	normed := mustNet(t, []int{2, 7, 9}, []Layer{
		Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}, NoBias: true}, FRN{TLU: true, Eps: Learned},
		Residual{[]Layer{Conv{Filters: 6, Kernel: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}}, FRN{}, Swish}, []Layer{Pad{}}}, FRN{}, ReLU, Dense{Units: 3},
	}, Categorical{})
	norms := mustNet(t, []int{2, 8, 7}, []Layer{
		Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, Norm{Batch: Frozen}, ReLU, Conv{Filters: 5, Kernel: [2]int{3, 3}, NoBias: true}, Norm{Batch: Frozen}, Dense{Units: 3},
	}, Categorical{})
	noise := mustNet(t, []int{5}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 4}}, Gaussian{SD: Predicted})
	tails := mustNet(t, []int{5}, []Layer{Dense{Units: 9}, Tanh, Dense{Units: 2}}, Student{DF: Learned, SD: Learned})
	tokens := mustNet(t, []int{7}, []Layer{Embed{Tokens: 5, Width: 9}, ReLU, Dense{Units: 9}, Tanh, LoRA{Units: 4, Rank: 3, Alpha: 5}}, Categorical{})
	head := mustNet(t, []int{37}, []Layer{LoRA{Units: 4, Rank: 3, Alpha: 5}}, Categorical{})
	cases := []struct {
		name         string
		net          *Net
		n, particles int
		slow         bool // too much for the Go kernel
	}{
		{"odd", odd(t), 1003, 3, true},
		{"odd, two chunks", odd(t), 300, 1, false},
		{"means", means, 300, 1, false},
		{"mixed", mixed, 300, 1, false},
		{"readers", readers, 300, 2, false},
		{"normed", normed, 300, 2, false},
		{"norms", norms, 300, 2, false},
		{"predicted noise", noise, 300, 20, false},
		{"heavy tails", tails, 300, 20, false},
		{"tokens", tokens, 300, 20, false},
		{"low-rank head", head, 300, 70, false},
		{"logistic", logistic, 9001, 150, testing.Short()},
	}
	var nets []*Net
	for _, c := range cases {
		nets = append(nets, c.net)
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
				if kernel == "go" && c.slow && !long && (testing.Short() || len(lanes.Kernels()) > 1) {
					continue
				}
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				counts := []int{1, 2, 7}
				if kernel == "go" && len(lanes.Kernels()) > 1 && !long {
					counts = []int{7}
				}
				for _, threads := range counts {
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
	wantEveryRow(t, nets)
}

// TestNaN checks that a NaN among the parameters gives a log-likelihood of NaN on every kernel.
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
