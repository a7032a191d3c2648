package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// TestEveryExampleCountsOnce cuts sets of examples where tiles, chunks and segments end and begin. The log-likelihood
// is that of the float64 reference: an example's is below −.9, so the bound sees one that is missing or counted twice.
// The gradient is the sum of those of batches that fit a chunk, where an example's share is of the order of 1. Outputs
// stand at their example's place.
func TestEveryExampleCountsOnce(t *testing.T) {
	net := mustNet(t, []int{3}, []Layer{Dense{Units: 4}, Tanh, Dense{Units: 2}}, Gaussian{SD: 1})
	for _, n := range []int{1, 64, 65, 255, 256, 257, 600, 8192, 9001} {
		r := rand.New(rand.NewPCG(5, uint64(n)))
		set, theta := testSet(net, n, false, r), testTheta(net, 1, r)
		m, err := NewModel(net, set, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		logLik := func(rows []int32) (float64, []float64) {
			ll, grad := make([]float64, 1), make([]float64, net.dim)
			if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
				t.Fatal(err)
			}
			return ll[0], grad
		}
		var want float64
		sum := make([]float64, net.dim)
		for first := 0; first < n; first += 100 {
			var rows []int32
			for i := first; i < min(first+100, n); i++ {
				rows = append(rows, int32(i))
				want += net.logLik(net.outputs(theta, net.example(set, i)), theta, set, i)
			}
			_, grad := logLik(rows)
			for i, g := range grad {
				sum[i] += g
			}
		}
		out := make([]float32, 2*n)
		if err := m.Outputs(context.Background(), nil, theta, out); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for k, z := range net.outputs(theta, net.example(set, i)) {
				if !(math.Abs(float64(out[2*i+k])-z) <= 1e-5) {
					t.Fatalf("%d examples: output %d of example %d is %v, reference %v", n, k, i, out[2*i+k], z)
				}
			}
		}
		ll, grad := logLik(nil)
		if !(math.Abs(ll-want) <= 0.3) {
			t.Errorf("%d examples: log-likelihood %v, reference %v", n, ll, want)
		}
		for i, g := range grad {
			if !(math.Abs(g-sum[i]) <= 0.03) {
				t.Errorf("%d examples: ∂/∂θ[%d] = %v, sum over batches %v", n, i, g, sum[i])
			}
		}
	}
}

// TestSegmentsAddInOrder lets four segments become ready in every order; the sums are such that each order of adding
// but the right one, and few others, gives another number.
func TestSegmentsAddInOrder(t *testing.T) {
	net := mustNet(t, []int{1}, []Layer{Dense{Units: 1}}, Gaussian{SD: 1})
	m, err := NewModel(net, testSet(net, 4*chunkTiles*tileExamples, false, rand.New(rand.NewPCG(6, 6))), pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	sums := []float64{1e16, 1, -1e16, 1}
	var want float64
	for _, s := range sums {
		want += s
	}
	var visit func(order []int, rest []int)
	visit = func(order, rest []int) {
		for i, s := range rest {
			others := append(append([]int(nil), rest[:i]...), rest[i+1:]...)
			visit(append(order, s), others)
		}
		if len(rest) > 0 {
			return
		}
		ll, grad := make([]float64, 1), make([]float64, net.dim)
		r := newReduction(m, m.Examples(), make([]float64, net.dim), ll, grad)
		if r.segments != len(sums) {
			t.Fatalf("%d segments, the test needs %d", r.segments, len(sums))
		}
		for _, s := range order {
			p := r.take(s, 0, 1)
			p.ll[0], p.grad[0] = sums[s], sums[s]
			r.add(0, s, p)
		}
		if ll[0] != want || grad[0] != want {
			t.Errorf("segments ready in order %v: sums %v and %v, want %v", order, ll[0], grad[0], want)
		}
	}
	visit(nil, []int{0, 1, 2, 3})
}

// TestModelsShareMemory: models of one network take each other's memory, also at the same time, and with more particles
// than it had room for; no call sees what another left there.
func TestModelsShareMemory(t *testing.T) {
	layers := []Layer{Conv{Filters: 2, Kernel: [2]int{3, 3}}, ReLU, Flatten{}, Dense{Units: 3}}
	const each = 4
	run := func(net *Net, k int) (out []float32, ll, grad []float64) {
		r := rand.New(rand.NewPCG(7, uint64(k)))
		set, theta := testSet(net, 40+50*k, false, r), testTheta(net, 1+40*k, r)
		m, err := NewModel(net, set, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		out, ll, grad = make([]float32, 3*(40+50*k)*(1+40*k)), make([]float64, 1+40*k), make([]float64, len(theta))
		if err := m.Outputs(context.Background(), nil, theta, out); err != nil {
			t.Error(err)
		}
		if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
			t.Error(err)
		}
		return out, ll, grad
	}
	shared := mustNet(t, []int{1, 6, 5}, layers, Categorical{})
	for k := range each { // more particles each time
		run(shared, k)
	}
	var done sync.WaitGroup
	for k := range 2 * each {
		done.Go(func() {
			out, ll, grad := run(shared, k%each)
			alone, aloneLL, aloneGrad := run(mustNet(t, []int{1, 6, 5}, layers, Categorical{}), k%each)
			if !slices.Equal(out, alone) || !slices.Equal(ll, aloneLL) || !slices.Equal(grad, aloneGrad) {
				t.Errorf("model %d computes other numbers beside models of the same network", k)
			}
		})
	}
	done.Wait()
}
