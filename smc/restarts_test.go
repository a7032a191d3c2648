package smc

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// offset is the model of check 4: y_i = θ + ψ + noise, all variances 1.
func offset() location {
	return location{d: 1, y: []float64{1.2, 0.4, 2.1, 1.7, 0.9, 1.5, 2.6, 0.2, 1.1, 1.9}, learned: 1}
}

func mean(y []float64) (m float64) {
	for _, v := range y {
		m += v / float64(len(y))
	}
	return m
}

// restarting is a Restarting of the model of check 4.
func restarting(batch, block int) *Restarting {
	return &Restarting{
		Model: offset(), Prior: normal{d: 1, sd: 1}, Move: mcmc.Metropolis{SD: 0.7}, Particles: 1000, Batch: batch, Block: block,
		Learn: By[nn.SGD]{Rate: 2}, Seed: 8,
	}
}

// batchOf returns the examples of step k, by the definition: n after n of random orders, one after another.
func batchOf(r *Restarting, k int) (rows []int32) {
	total := r.Model.Examples()
	if r.Batch == 0 || r.Batch >= total {
		for i := range total {
			rows = append(rows, int32(i))
		}
		return rows
	}
	for at := k * r.Batch; at < (k+1)*r.Batch; at++ {
		order := make([]int32, total)
		rng.Key{Seed: r.Seed, Purpose: rng.Order, Island: r.Island, Iteration: at / total}.Stream().Perm(order)
		rows = append(rows, order[at%total])
	}
	return rows
}

// targetsOf returns the y of a step's examples.
func targetsOf(r *Restarting, k int) (y []float64) {
	for _, i := range batchOf(r, k) {
		y = append(y, r.Model.(location).y[i])
	}
	return y
}

// advanceTo makes steps.
func advanceTo(t *testing.T, r *Restarting, st *Restarts, k int) (end *State) {
	t.Helper()
	for st.K < k {
		var err error
		if end, err = r.Step(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	return end
}

// Check 4 for the points of reference: the gradient by ψ of the marginal likelihood of the step's n examples is (ȳ − ψ) n/(n+1), n
// being N for SMC-pBNN, and that of the batch for SGSMC. The weighted estimate converges to it: its bias is of order 1/ESS, for which .01 is
// allowed, and 60 replicates of a correct sampler miss the rest once in 10⁶, all cases together.
func TestRestartsCheck4Gradient(t *testing.T) {
	testkit.Statistics(t)
	const psi = -0.5
	for name, c := range map[string]struct{ batch, block, k int }{
		"SMC-pBNN, one at a time": {0, 1, 0}, "SMC-pBNN, blocks": {0, 4, 0}, "SMC-pBNN at once": {10, 0, 3},
		"SGSMC, one at a time": {4, 1, 1}, "SGSMC, from one order into the next": {4, 3, 2},
	} {
		r := restarting(c.batch, c.block)
		var grad, errors []float64
		r.Learn = spy{&grad}
		for i := range 60 {
			r.Island = i
			advanceTo(t, r, &Restarts{K: c.k, Psi: []float64{psi}}, c.k+1)
			y := targetsOf(r, c.k)
			n := float64(len(y))
			errors = append(errors, -grad[0]*n-(mean(y)-psi)*n/(n+1))
		}
		if found := meanIs(t, name+": the gradient by ψ", errors, 0, 0.01, 5); !(found < 0.35) {
			t.Errorf("%s: an error of %v would be found: the test is too weak", name, found)
		}
	}
}

// ψ converges to ȳ of all examples, where the marginal likelihood is largest. The steps of SGSMC go to the batch's own ȳ and are a mean over
// all batches, because the gradient is linear in ȳ. The mean over the last steps of 20 replicates misses ȳ by more once in 10⁶ runs of both.
func TestRestartsConverge(t *testing.T) {
	testkit.Statistics(t)
	for name, batch := range map[string]int{"SMC-pBNN": 0, "SGSMC": 5} {
		var last []float64
		for i := range 20 {
			r := restarting(batch, 5)
			r.Island, r.Particles, r.Learn = i, 300, By[nn.SGD]{Rate: 3}
			st := &Restarts{Psi: []float64{-0.5}}
			advanceTo(t, r, st, 25) // the distance to ȳ falls by 3/11 of itself in a step, or by a half
			sum := 0.0
			for range 20 {
				advanceTo(t, r, st, st.K+1)
				sum += st.Psi[0] / 20
			}
			last = append(last, sum)
		}
		if found := meanIs(t, name+": ψ", last, mean(offset().y), 0.01, 2); !(found < 0.25) {
			t.Errorf("%s: an error of %v would be found: the test is too weak", name, found)
		}
	}
}

// The product of a run's weights is the evidence of its examples at ψ before the step, and its particles are their posterior's. For a batch the
// likelihood is not scaled. A correct sampler fails once in 10⁶ runs.
func TestRestartsEvidence(t *testing.T) {
	testkit.Statistics(t)
	const psi = 0.7
	for _, batch := range []int{0, 4} {
		var states []*State
		var p problem
		for i := range 40 {
			r := restarting(batch, 2)
			r.Island, r.Learn = i, spy{new([]float64)}
			if batch > 0 { // the same batch for all: islands have orders of their own
				r.Seed, r.Island = uint64(i), 0
				r.Model = location{d: 1, y: slices.Repeat([]float64{1.4}, 10), learned: 1}
			}
			states = append(states, advanceTo(t, r, &Restarts{Psi: []float64{psi}}, 1))

			n, sum, square := 0.0, 0.0, 0.0
			for _, y := range targetsOf(r, 0) {
				n, sum, square = n+1, sum+y-psi, square+(y-psi)*(y-psi)
			}
			p = problem{mean: []float64{sum / (n + 1)}, vars: []float64{1 / (n + 1)}, logZ: -0.5*n*log2Pi - 0.5*square + 0.5*sum*sum/(n+1) - 0.5*math.Log(n+1)}
		}
		checkPosterior(t, p, 2, states)
	}
}

// ψ moves by the gradient at the particles that Step returns, with their weights, over the step's own batch, at ψ before the step.
func TestRestartsStepOfThePsi(t *testing.T) {
	for _, batch := range []int{0, 4} {
		r := restarting(batch, 0) // all at once and never resampled: the weights differ, and moves carry the particles
		r.Resample = Resampler{When: Never{}}
		st := &Restarts{Psi: []float64{-0.5}}
		for k := range 4 {
			before := st.Psi[0]
			end := advanceTo(t, r, st, k+1)
			want, y := before, targetsOf(r, k)
			for j, l := range end.LogW {
				want += 2 * math.Exp(l) * (mean(y) - end.Theta[j] - before)
			}
			if !golden.Near(st.Psi[0], want, 1e-12, 1e-12) || end.Psi[0] != st.Psi[0] {
				t.Errorf("batch %d, step %d: ψ goes from %v to %v, want %v; the state has %v", batch, k, before, st.Psi[0], want, end.Psi)
			}
			if !(math.Exp(2*weightsNorm(end.LogW)) < 0.9*1000) {
				t.Error("the weights hardly differ: this shows too little")
			}
		}
	}
}

// weightsNorm is log of the root of the effective sample size.
func weightsNorm(logw []float64) float64 {
	sum := 0.0
	for _, l := range logw {
		sum += math.Exp(2 * l)
	}
	return -0.5 * math.Log(sum)
}

// Every step begins at draws of the prior of its own, wherever the last one ended. The moments of 4,000 draws, and their correlation with
// those of the step before, are those of independent N(0, 1): each z-score exceeds 5.5 once in 10⁷ runs, for 9 of them.
func TestRestartsBeginAtThePrior(t *testing.T) {
	r := restarting(0, 0)
	r.Particles, r.Move, r.Resample = 4000, mcmc.Metropolis{SD: 1e-12}, Resampler{When: Never{}} // so that the draws are still there
	st := &Restarts{Psi: []float64{-0.5}}
	last := make([]float64, 4000)
	for k := range 3 {
		theta := advanceTo(t, r, st, k+1).Theta
		var sum, square, product float64
		for j, x := range theta {
			sum, square, product = sum+x, square+x*x-1, product+x*last[j]
		}
		root := math.Sqrt(4000)
		for what, z := range map[string]float64{"mean": sum / root, "variance": square / root / math.Sqrt2, "correlation": product / root} {
			if !(math.Abs(z) <= 5.5) {
				t.Errorf("step %d: the %s of the particles is %.1f standard deviations away from that of fresh draws", k, what, z)
			}
		}
		last = theta
	}
}

// A run goes on from its state alone, with the same bytes for any number of threads. A state that Step returned stays as it was.
func TestRestartsSameBytes(t *testing.T) {
	pack := func(end *State) []byte {
		b, _ := end.MarshalBinary()
		return b
	}
	var want [][]byte
	for _, threads := range []int{0, 1, 2, 7} {
		r := restarting(3, 2)
		r.Learn = By[nn.Adam]{Rate: 0.1}
		if threads > 0 {
			r.Pool = pool.New(threads)
		}
		st := &Restarts{Psi: []float64{-0.5}}
		var ends []*State
		for k := range 5 {
			ends = append(ends, advanceTo(t, r, st, k+1))
			if st.Moments.Steps != k+1 || ends[k].Moments.Steps != k+1 {
				t.Errorf("the moments after step %d count %d", k, st.Moments.Steps)
			}
			if threads == 2 { // another process takes it from here
				first, second := slices.Clone(st.Moments.First), slices.Clone(st.Moments.Second)
				st = &Restarts{K: st.K, Psi: slices.Clone(st.Psi), Moments: nn.Moments{Steps: st.Moments.Steps, First: first, Second: second}}
			}
			if threads == 0 {
				want = append(want, pack(ends[k]))
			}
		}
		for k, end := range ends {
			if !bytes.Equal(pack(end), want[k]) {
				t.Errorf("%d threads, step %d: bytes differ", threads, k)
			}
		}
	}
}

// A run evaluates each block once at the particles, all examples so far in each move, and all in the gradient by ψ: what the model counts.
func TestRestartsCost(t *testing.T) {
	calls := 0
	r := restarting(8, 3)
	m := offset()
	m.calls = &calls
	r.Model, r.Resample = m, Resampler{When: Never{}}
	st := &Restarts{Psi: []float64{0}}
	end := advanceTo(t, r, st, 2)
	if end.K != 3 || st.Values != 2*1000*(3+3+2+3+6+8) || st.Gradients != 2*1000*8 || calls != st.Values+st.Gradients {
		t.Errorf("%d iterations a run, %d values and %d gradients in two steps, %d counted by the model", end.K, st.Values, st.Gradients, calls)
	}
}

// What cannot be is refused, and the state stays.
func TestRestartsSettings(t *testing.T) {
	for want, change := range map[string]func(r *Restarting, st *Restarts){
		"Model and Learn must be set":                   func(r *Restarting, _ *Restarts) { r.Learn = nil },
		"restarting: Model and":                         func(r *Restarting, _ *Restarts) { r.Model = nil },
		"learn: rate: want a number above 0":            func(r *Restarting, _ *Restarts) { r.Learn = By[nn.SGD]{Rate: -1} },
		"batches of -1 examples":                        func(r *Restarting, _ *Restarts) { r.Batch = -1 },
		"blocks of -2 examples":                         func(r *Restarting, _ *Restarts) { r.Block = -2 },
		"no parameters that all particles share":        func(r *Restarting, st *Restarts) { r.Model, st.Psi = newLocation(1), nil },
		"1 learned parameters with 2 moments":           func(_ *Restarting, st *Restarts) { st.Moments.First = make([]float64, 2) },
		"step 3 of the learned parameters: sampler: mo": func(_ *Restarting, st *Restarts) { st.Psi = nil },
		"iteration -1 is outside":                       func(_ *Restarting, st *Restarts) { st.K = -1 },
		"offset[0] became":                              func(r *Restarting, _ *Restarts) { r.Learn = By[nn.SGD]{Rate: math.MaxFloat64} },
	} {
		r, st := restarting(0, 0), &Restarts{K: 3, Psi: []float64{-50}}
		change(r, st)
		was := *st
		_, err := r.Step(t.Context(), st)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
		if st.K != was.K || !slices.Equal(st.Psi, was.Psi) || st.Moments.Steps != 0 {
			t.Errorf("%s: the state changed to %+v", want, st)
		}
	}
}
