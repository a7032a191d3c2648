package nn

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// jacobian is ∂outputs/∂θ of the float64 reference, [K, D], by central differences.
func (n *Net) jacobian(theta, x []float64) [][]float64 {
	const h = 1e-6
	j, own := make([][]float64, n.Outputs()), slices.Clone(theta)
	for k := range j {
		j[k] = make([]float64, n.dim)
	}
	for i := range theta {
		own[i] = theta[i] + h
		up := n.outputs(own, x)
		own[i] = theta[i] - h
		down := n.outputs(own, x)
		own[i] = theta[i]
		for k := range j {
			j[k][i] = (up[k] - down[k]) / (2 * h)
		}
	}
	return j
}

// hessian is that of −log p of example i in the outputs z, by second differences of the float64 reference. For normal targets whose log σ is
// predicted it is the mean over the targets: over m ± σ, which is exact, since the Hessian is quadratic in a target.
func (n *Net) hessian(z, theta []float64, set *data.Set, i int) [][]float64 {
	if l, ok := n.lik.(Gaussian); ok && l.SD == Predicted {
		k := n.Targets()
		total := make([][]float64, 2*k)
		for r := range total {
			total[r] = make([]float64, 2*k)
		}
		for sign := -1.; sign <= 1; sign += 2 {
			own := &data.Set{Outputs: k, Values: make([]float32, k)}
			for c := range k {
				own.Values[c] = float32(z[c] + sign*math.Hypot(math.Exp(z[k+c]), l.Floor))
			}
			for r, row := range n.differences(z, theta, own, 0) {
				for c, v := range row {
					total[r][c] += v / 2
				}
			}
		}
		return total
	}
	return n.differences(z, theta, set, i)
}

func (n *Net) differences(z, theta []float64, set *data.Set, i int) [][]float64 {
	const h = 1e-3
	at := func(a, b int, s, u float64) float64 {
		own := slices.Clone(z)
		own[a] += s * h
		own[b] += u * h
		return -n.logLik(own, theta, set, i)
	}
	hess := make([][]float64, len(z))
	for a := range z {
		for b := range z {
			hess[a] = append(hess[a], (at(a, b, 1, 1)-at(a, b, 1, -1)-at(a, b, -1, 1)+at(a, b, -1, -1))/(4*h*h))
		}
	}
	return hess
}

// TestGaussNewton compares the matrix and its diagonal with Σ JᵀHJ of the float64 reference, of each kind of layer and likelihood.
func TestGaussNewton(t *testing.T) {
	image, small := []int{2, 6, 7}, []int{2, 4, 5}
	conv := func(f, k, s, p int) Conv {
		return Conv{Filters: f, Kernel: [2]int{k, k}, Stride: [2]int{s, s}, Pad: [2]int{p, p}}
	}
	for _, c := range []struct {
		name   string
		input  []int
		layers []Layer
		lik    Likelihood
		n      int
	}{
		{"head", []int{7}, []Layer{Dense{Units: 4}}, Categorical{}, 70},
		{"no bias", []int{16}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{}, 131},
		{"mlp", []int{5}, []Layer{Dense{Units: 9}, ReLU, Dense{Units: 4}, Tanh, Dense{Units: 3}}, Categorical{}, 65},
		{"gaussian", []int{5}, []Layer{Dense{Units: 6}, GELU, Dense{Units: 2}}, Gaussian{SD: .4}, 37},
		{"learned sd", []int{5}, []Layer{Dense{Units: 6}, Swish, Dense{Units: 2}}, Gaussian{SD: Learned}, 37},
		{"predicted sd", []int{5}, []Layer{Dense{Units: 4}, Swish, Dense{Units: 4}}, Gaussian{SD: Predicted, Floor: .5}, 20},
		{"conv", image, []Layer{conv(3, 3, 1, 1), ReLU, MaxPool{Size: [2]int{2, 2}}, conv(2, 2, 1, 0), Tanh, Dense{Units: 3}}, Categorical{}, 18},
		{"means", image, []Layer{conv(3, 3, 1, 1), ReLU, AvgPool{Size: [2]int{2, 2}}, Dense{Units: 1}}, Bernoulli{}, 5},
		{"frn, norm, residual", small, []Layer{conv(2, 2, 1, 1), FRN{TLU: true, Eps: Learned}, Residual{[]Layer{conv(3, 3, 2, 1), Norm{Batch: Frozen}}, []Layer{Pad{}}}, ReLU, FRN{}, Swish,
			Flatten{}, Dropout(.5), Dense{Units: 3}}, Categorical{}, 4},
		{"wide", []int{3}, []Layer{Dense{Units: 40}, Tanh, Dense{Units: 1}}, Bernoulli{}, 33},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := mustNet(t, c.input, c.layers, c.lik)
			r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			set, theta := testSet(net, c.n, false, r), testTheta(net, 1, r)
			d := net.dim
			want := make([]float64, d*d)
			for i := range c.n {
				x := net.example(set, i)
				z, jac := net.outputs(theta, x), net.jacobian(theta, x)
				for a, row := range net.hessian(z, theta, set, i) {
					for b, v := range row {
						for p := range d {
							for q, w := range jac[b] {
								want[p*d+q] += jac[a][p] * v * w
							}
						}
					}
				}
			}
			if c.name == "learned sd" {
				want[d*d-1] = 2 * float64(c.n*net.Targets())
			}
			m, err := NewModel(net, set, pool.New(2))
			if err != nil {
				t.Fatal(err)
			}
			h, diagonal := make([]float64, d*d), make([]float64, d)
			for i := range h {
				h[i] = 7 // the result does not depend on what was there
			}
			if err := m.GaussNewton(context.Background(), theta, h); err != nil {
				t.Fatal(err)
			}
			if err := m.GaussNewtonDiagonal(context.Background(), theta, diagonal); err != nil {
				t.Fatal(err)
			}
			// Second differences are off by 1e-6 of the curvature, float32 values by some 1e-4 behind normalisations.
			for p := range d {
				for q := range d {
					if scale := math.Sqrt(want[p*d+p]*want[q*d+q]) + 1e-4*norm(want)/float64(d); !(math.Abs(h[p*d+q]-want[p*d+q]) <= 5e-4*scale) {
						t.Fatalf("h[%s, %s] = %.8g, want %.8g", net.RandomName(p), net.RandomName(q), h[p*d+q], want[p*d+q])
					}
				}
				if !(math.Abs(diagonal[p]-h[p*d+p]) <= 1e-5*h[p*d+p]) {
					t.Fatalf("diagonal[%s] = %.8g, want %.8g", net.RandomName(p), diagonal[p], h[p*d+p])
				}
			}
		})
	}
}

// TestSameCurvature runs every call on every kernel with 1, 2 and 7 threads, over full and tail tiles and several rounds.
func TestSameCurvature(t *testing.T) {
	for _, c := range []struct {
		net *Net
		n   int
	}{
		{mustNet(t, []int{2, 9, 7}, []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, ReLU, MaxPool{Size: [2]int{2, 2}},
			Residual{Body: []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}, Pad: [2]int{1, 1}}, Swish}}, Dense{Units: 3}}, Categorical{}), 85},
		{mustNet(t, []int{130}, []Layer{Dense{Units: 2}, Tanh, Dense{Units: 1}}, Bernoulli{}), 1100},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		set, theta, d := testSet(c.net, c.n, false, r), testTheta(c.net, 1, r), c.net.dim
		var want []uint64
		for _, kernel := range lanes.Kernels() {
			restore, err := lanes.SetKernel(kernel)
			if err != nil {
				t.Fatal(err)
			}
			counts := []int{1, 2, 7}
			if kernel == "go" && len(lanes.Kernels()) > 1 {
				counts = counts[2:]
			}
			for _, threads := range counts {
				m, err := NewModel(c.net, set, pool.New(threads))
				if err != nil {
					t.Fatal(err)
				}
				factors, err := m.Factors(context.Background(), theta)
				if err != nil {
					t.Fatal(err)
				}
				all := [][]float64{make([]float64, d*d), make([]float64, d)}
				if err := m.GaussNewton(context.Background(), theta, all[0]); err != nil {
					t.Fatal(err)
				}
				if err := m.GaussNewtonDiagonal(context.Background(), theta, all[1]); err != nil {
					t.Fatal(err)
				}
				for _, f := range factors {
					all = append(all, f.A, f.G)
				}
				moves := make([]float32, c.n*c.net.Outputs())
				if err := m.Tangents(context.Background(), nil, theta, theta, moves); err != nil {
					t.Fatal(err)
				}
				all = append(all, widened(moves))
				var got []uint64
				for _, v := range slices.Concat(all...) {
					got = append(got, math.Float64bits(v))
				}
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d threads: other bits", kernel, threads)
				}
			}
			restore()
		}
	}
}

// TestKroneckerIsWhole: for a gaussian linear head N A⊗G is the Gauss-Newton matrix.
func TestKroneckerIsWhole(t *testing.T) {
	net := mustNet(t, []int{11}, []Layer{Dense{Units: 3}}, Gaussian{SD: .7})
	r := rand.New(rand.NewPCG(5, 6))
	set, theta, d := testSet(net, 333, false, r), testTheta(net, 1, r), net.dim
	m, err := NewModel(net, set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	h := make([]float64, d*d)
	if err := m.GaussNewton(context.Background(), theta, h); err != nil {
		t.Fatal(err)
	}
	factors, err := m.Factors(context.Background(), theta)
	if err != nil || len(factors) != 1 {
		t.Fatal(factors, err)
	}
	f := factors[0]
	split := func(i int) (out, in int) { // W is [3, 11], and b follows
		if i >= 33 {
			return i - 33, 11
		}
		return i / 11, i % 11
	}
	for p := range d {
		for q := range d {
			o, i := split(p)
			u, j := split(q)
			want := 333 * f.A[i*12+j] * f.G[o*3+u]
			if !(math.Abs(h[p*d+q]-want) <= 1e-5*math.Sqrt(h[p*d+p]*h[q*d+q])) {
				t.Fatalf("h[%d, %d] = %.8g, N A⊗G %.8g", p, q, h[p*d+q], want)
			}
		}
	}
}

// TestCurvatureRefuses: an error names the layer without factors, and the likelihood without curvature.
func TestCurvatureRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	net := mustNet(t, []int{1, 4, 4}, []Layer{Conv{Filters: 2, Kernel: [2]int{3, 3}}, FRN{}, Dense{Units: 2}}, Categorical{})
	m, err := NewModel(net, testSet(net, 5, false, r), pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Factors(context.Background(), testTheta(net, 1, r)); err == nil || !strings.Contains(err.Error(), "layer 1 (frn)") || !strings.Contains(err.Error(), "model.random") {
		t.Errorf("an frn layer: %v", err)
	}
	net = mustNet(t, []int{4}, []Layer{Dense{Units: 1}}, Student{DF: 4, SD: 1})
	if m, err = NewModel(net, testSet(net, 5, false, r), pool.New(1)); err != nil {
		t.Fatal(err)
	}
	_, factors := m.Factors(context.Background(), testTheta(net, 1, r))
	for _, err := range []error{
		factors,
		m.GaussNewton(context.Background(), testTheta(net, 1, r), make([]float64, net.dim*net.dim)),
		m.GaussNewtonDiagonal(context.Background(), testTheta(net, 1, r), make([]float64, net.dim)),
	} {
		if err == nil || !strings.Contains(err.Error(), "student") {
			t.Errorf("a Student-t: %v", err)
		}
	}
}

// TestGaussNewtonIsHessian: for a linear head the matrix is the Hessian of −log p, of which LogLik's gradients have the differences.
func TestGaussNewtonIsHessian(t *testing.T) {
	for _, lik := range []Likelihood{Categorical{}, Gaussian{SD: .7}} {
		net := mustNet(t, []int{4}, []Layer{Dense{Units: 3}}, lik)
		r := rand.New(rand.NewPCG(9, 6))
		set, theta, d := testSet(net, 200, false, r), testTheta(net, 1, r), net.dim
		m, err := NewModel(net, set, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		h := make([]float64, d*d)
		if err := m.GaussNewton(context.Background(), theta, h); err != nil {
			t.Fatal(err)
		}
		const step = 1. / 64
		for i := range d {
			pair := slices.Concat(theta, theta)
			pair[i] += step
			pair[d+i] -= step
			grad := make([]float64, 2*d)
			if err := m.LogLik(context.Background(), nil, pair, make([]float64, 2), grad); err != nil {
				t.Fatal(err)
			}
			for j := range d {
				// The next term of the difference is step²/6 of a derivative that is at most twice the curvature, and float32 sums are off by 1e-4.
				if want := (grad[d+j] - grad[j]) / (2 * step); !(math.Abs(h[i*d+j]-want) <= 1e-3*math.Sqrt(h[i*d+i]*h[j*d+j])) {
					t.Fatalf("%s: h[%d, %d] = %.8g, difference of gradients %.8g", lik, i, j, h[i*d+j], want)
				}
			}
		}
	}
}

// TestGaussNewtonOfLastLayer: where only the last layer is random, the matrix is its block of that of the whole network.
func TestGaussNewtonOfLastLayer(t *testing.T) {
	layers := []Layer{Conv{Filters: 3, Kernel: [2]int{3, 3}}, FRN{}, ReLU, Dense{Units: 5}, Tanh, Dense{Units: 3}}
	r := rand.New(rand.NewPCG(9, 7))
	whole := mustNet(t, []int{1, 6, 5}, layers, Categorical{})
	net, err := Random{LastLayer}.Network([]int{1, 6, 5}, layers, Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	set, theta := testSet(whole, 70, false, r), testTheta(whole, 1, r)
	random, shared := net.Split(theta)
	all, part := make([]float64, whole.dim*whole.dim), make([]float64, net.dim*net.dim)
	for _, c := range []struct {
		net           *Net
		shared, theta []float64
		h             []float64
	}{{whole, nil, theta, all}, {net, shared, random, part}} {
		m, err := NewModel(c.net, set, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		diagonal := make([]float64, c.net.dim)
		if err := errors.Join(m.At(c.shared).GaussNewton(context.Background(), c.theta, c.h), m.At(c.shared).GaussNewtonDiagonal(context.Background(), c.theta, diagonal)); err != nil {
			t.Fatal(err)
		}
		for i, v := range diagonal {
			if want := c.h[i*c.net.dim+i]; !(math.Abs(v-want) <= 1e-5*want) {
				t.Errorf("diagonal[%d] = %.8g, want %.8g", i, v, want)
			}
		}
	}
	d, first := net.dim, whole.dim-net.dim
	for i := range d {
		for j := range d {
			if got, want := part[i*d+j], all[(first+i)*whole.dim+first+j]; !(math.Abs(got-want) <= 1e-5*math.Sqrt(part[i*d+i]*part[j*d+j])) {
				t.Fatalf("h[%d, %d] = %.8g, of the whole network %.8g", i, j, got, want)
			}
		}
	}
}

// TestCurvatureEnds: a call whose context has ended says so.
func TestCurvatureEnds(t *testing.T) {
	net := mustNet(t, []int{4}, []Layer{Dense{Units: 3}}, Categorical{})
	r := rand.New(rand.NewPCG(9, 8))
	m, err := NewModel(net, testSet(net, 200, false, r), pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	theta := testTheta(net, 1, r)
	factors, err := m.Factors(ctx, theta)
	for _, err := range []error{
		err,
		m.GaussNewton(ctx, theta, make([]float64, net.dim*net.dim)),
		m.GaussNewtonDiagonal(ctx, theta, make([]float64, net.dim)),
		m.Tangents(ctx, nil, theta, theta, make([]float32, 600)),
	} {
		if !errors.Is(err, context.Canceled) || factors != nil {
			t.Errorf("%v, %d factors", err, len(factors))
		}
	}
}
