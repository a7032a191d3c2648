package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// regression is a set of n examples of 3 features whose target is linear with noise.
func regression(n int) *data.Set {
	s := rng.Key{Seed: 11, Purpose: rng.Synthetic}.Stream()
	set := &data.Set{Name: "linear", Shape: []int{3}, F32: make([]float32, 3*n), Values: make([]float32, n), Outputs: 1}
	for i := range n {
		y := 0.5 * s.Normal()
		for k := range 3 {
			x := s.Normal()
			set.F32[3*i+k] = float32(x)
			y += float64(k-1) * x
		}
		set.Values[i] = float32(y)
	}
	return set
}

func linear(t *testing.T, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// blobs is a set of n examples of 5 features in 3 classes, and mlp a network for it.
func blobs(seed uint64, n int) *data.Set {
	s := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	set := &data.Set{Name: "blobs", Shape: []int{5}, F32: make([]float32, 5*n), Labels: make([]int32, n), Classes: 3}
	for i := range n {
		c := s.IntN(3)
		set.Labels[i] = int32(c)
		for k := range 5 {
			set.F32[5*i+k] = float32(s.Normal())
		}
		set.F32[5*i+c] += 2
	}
	return set
}

func mlp(t *testing.T) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 8}, nn.Tanh, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func prior(t *testing.T, net *nn.Net, variance float64) *bnn.Normal {
	t.Helper()
	p, err := bnn.Isotropic(net.Tensors(), variance)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fit(t *testing.T, m MAP, net *nn.Net, variance float64, train, validate *data.Set, threads int) *Result {
	t.Helper()
	r, err := m.Fit(context.Background(), net, prior(t, net, variance), train, validate, pool.New(threads))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantNear(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// The MAP of y ~ N(θᵀx, σ²) under N(0, v I) is the ridge solution (XᵀX/σ² + I/v)⁻¹ Xᵀy/σ². Gradient descent on all
// examples at once reaches it up to the float32 gradients; every restart does, wherever it starts.
func TestMAPIsRidge(t *testing.T) {
	const n, sd, v = 40, 0.5, 0.05
	set := regression(n)
	net := linear(t, nn.Gaussian{SD: sd})
	x, y := mat.NewDense(n, 3, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for k := range 3 {
			x.Set(i, k, float64(set.F32[3*i+k]))
		}
		y.SetVec(i, float64(set.Values[i]))
	}
	var a mat.Dense
	a.Mul(x.T(), x)
	a.Scale(1/(sd*sd), &a)
	for k := range 3 {
		a.Set(k, k, a.At(k, k)+1/v)
	}
	var b, ridge mat.VecDense
	b.MulVec(x.T(), y)
	b.ScaleVec(1/(sd*sd), &b)
	if err := ridge.SolveVec(&a, &b); err != nil {
		t.Fatal(err)
	}
	r := fit(t, MAP{Restarts: 3, Batch: n, Rate: 0.1, Epochs: 200}, net, v, set, nil, 2)
	for k := range 3 {
		wantNear(t, fmt.Sprintf("restart %d", k), r.restart(k), ridge.RawVector().Data, 2e-6)
	}
	if !math.IsNaN(r.NLL[0]) || !math.IsNaN(r.Accuracy[0]) || r.BestEpoch[0] != 200 {
		t.Errorf("without a validation set: NLL %v, accuracy %v, best epoch %d", r.NLL, r.Accuracy, r.BestEpoch)
	}
}

// With a learned σ the objective has the N(0, 1) prior of log σ: at its minimum the gradient over all examples
// vanishes, with log σ in it.
func TestMAPLearnedSD(t *testing.T) {
	set := regression(40)
	net := linear(t, nn.Gaussian{SD: nn.Learned})
	r := fit(t, MAP{Restarts: 1, Batch: 40, Rate: 0.1, Epochs: 400}, net, 1, set, nil, 1)
	theta, sum := r.Best(), 0.0
	for i, y := range set.Values {
		e := float64(y)
		for k := range 3 {
			e -= theta[k] * float64(set.F32[3*i+k])
		}
		sum += e * e
	}
	// d/d log σ of −Σ[e²/(2σ²) + log σ] − (log σ)²/2
	wantNear(t, "gradient of log σ", []float64{sum*math.Exp(-2*theta[3]) - 40 - theta[3]}, []float64{0}, 1e-3)
}

// Without a validation set the posterior density chooses, prior and all: after one small step from draws of a wide
// prior the likeliest restart is another one.
func TestMAPChoosesByPosterior(t *testing.T) {
	set, net := regression(4), linear(t, nn.Gaussian{SD: 3})
	r := fit(t, MAP{Restarts: 8, Rate: 1e-6, Epochs: 1, Seed: 1}, net, 0.3, set, nil, 1)
	likelihood, posterior := make([]float64, 8), make([]float64, 8)
	for k := range 8 {
		theta := r.restart(k)
		for i, y := range set.Values {
			e := float64(y)
			for l := range 3 {
				e -= theta[l] * float64(set.F32[3*i+l])
			}
			likelihood[k] -= e * e / 18
		}
		posterior[k] = likelihood[k]
		for _, x := range theta {
			posterior[k] -= x * x / 0.6
		}
	}
	best := func(x []float64) int { return slices.Index(x, slices.Max(x)) }
	if best(likelihood) == best(posterior) {
		t.Error("likelihood and posterior choose the same: the test shows nothing")
	}
	if r.Chosen != best(posterior) {
		t.Errorf("restart %d was chosen, the posterior's best is %d", r.Chosen, best(posterior))
	}
}

// Two epochs of 10 examples in batches of 4, 4 and 2, step by step in float64: each batch, the remainder too, counts
// by its own mean, and the prior by 1/N.
func TestMAPStepByStep(t *testing.T) {
	const n, batch, rate, sd, v, seed = 10, 4, 0.1, 0.5, 0.3, 5
	set := regression(n)
	net := linear(t, nn.Gaussian{SD: sd})
	r := fit(t, MAP{Restarts: 2, Batch: batch, Rate: rate, Epochs: 2, Seed: seed}, net, v, set, nil, 1)
	for restart := range 2 {
		theta := make([]float64, 3)
		prior(t, net, v).Sample(rng.Key{Seed: seed, Purpose: rng.Start, Particle: restart}.Stream(), theta)
		for epoch := 1; epoch <= 2; epoch++ {
			order := data.Order(n, rng.Key{Seed: seed, Purpose: rng.Batch, Iteration: epoch, Particle: restart})
			for _, rows := range [][]int32{order[:4], order[4:8], order[8:]} {
				grad := make([]float64, 3)
				for k := range grad {
					grad[k] = theta[k] / (v * n)
				}
				for _, i := range rows {
					e := -float64(set.Values[i])
					for k := range 3 {
						e += theta[k] * float64(set.F32[3*int(i)+k])
					}
					for k := range 3 {
						grad[k] += e * float64(set.F32[3*int(i)+k]) / (sd * sd) / float64(len(rows))
					}
				}
				for k := range 3 {
					theta[k] -= rate * grad[k]
				}
			}
		}
		wantNear(t, fmt.Sprintf("restart %d", restart), r.restart(restart), theta, 2e-6)
	}
}

// The best state is the one reported: its loss on the validation set is the lowest of its restart and comes out again
// when it is scored anew; the restart stops when patience is over; the lowest of all is chosen.
func TestMAPEarlyStopping(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 500)
	type best struct {
		nll, accuracy float64
		epoch, last   int
	}
	seen := make([]best, 4)
	m := MAP{Restarts: 4, Rate: 0.3, Batch: 16, Epochs: 200, Patience: 7, Watch: func(_ *Restart, e Epoch) error {
		b := &seen[e.Restart]
		if b.last++; b.last != e.Epoch {
			t.Errorf("restart %d reports epoch %d as its call %d", e.Restart, e.Epoch, b.last)
		}
		if done := b.epoch > 0 && e.Epoch >= min(b.epoch+7, 200) && e.NLL >= b.nll; e.Done != done {
			t.Errorf("restart %d, epoch %d: done is %v", e.Restart, e.Epoch, e.Done)
		}
		if b.epoch == 0 || e.NLL < b.nll {
			b.nll, b.accuracy, b.epoch = e.NLL, e.Accuracy, e.Epoch
		}
		return nil
	}}
	r := fit(t, m, net, 0.5, train, validate, 2)
	model, err := nn.NewModel(net, validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	ll := make([]float64, 4)
	if err := model.LogLik(context.Background(), nil, r.Theta, ll, nil); err != nil {
		t.Fatal(err)
	}
	stopped := false
	for k, b := range seen {
		if r.NLL[k] != b.nll || r.Accuracy[k] != b.accuracy || r.BestEpoch[k] != b.epoch {
			t.Errorf("restart %d: %v, %v at %d, the best reported was %+v", k, r.NLL[k], r.Accuracy[k], r.BestEpoch[k], b)
		}
		if b.last != min(b.epoch+7, 200) {
			t.Errorf("restart %d: best at epoch %d, stopped after %d", k, b.epoch, b.last)
		}
		stopped = stopped || b.last < 200
		wantNear(t, "NLL scored anew", []float64{-ll[k] / 500}, []float64{r.NLL[k]}, 0)
		if r.NLL[k] < r.NLL[r.Chosen] {
			t.Errorf("restart %d was chosen, %d is better: %v", r.Chosen, k, r.NLL)
		}
	}
	if !stopped {
		t.Error("no restart ran out of patience: the test shows nothing")
	}

	e, err := r.Ensemble()
	if err != nil {
		t.Fatal(err)
	}
	point, err := r.Point()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ensemble *bnn.Ensemble
		size     int
	}{"deep ensemble": {e, 4}, "point": {point, 1}} {
		score, err := c.ensemble.Evaluate(context.Background(), validate, nil, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		if c.ensemble.Size() != c.size {
			t.Errorf("%s of %d", name, c.ensemble.Size())
		}
		if name == "point" { // its parameters are rounded to float32
			wantNear(t, name, []float64{float64(score.NLL), float64(score.Accuracy)}, []float64{r.NLL[r.Chosen], r.Accuracy[r.Chosen]}, 1e-5)
		}
	}
}

func TestMAPSameBits(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 700), blobs(2, 50)
	m := MAP{Restarts: 5, Batch: 300, Epochs: 4, Seed: 9}
	want := figures(fit(t, m, net, 0.5, train, validate, 1))
	for _, threads := range []int{2, 7} {
		if got := figures(fit(t, m, net, 0.5, train, validate, threads)); got != want {
			t.Errorf("%d threads: another result than with 1", threads)
		}
	}
	m.Seed++
	if got := figures(fit(t, m, net, 0.5, train, validate, 1)); got == want {
		t.Error("another seed gave the same result")
	}
}

// A search that is interrupted again and again, its restarts saved and restored each time, ends with the same bits as one
// that was not, on any number of threads: by a Watch that fails after some epochs, or by a context that ends within one.
func TestMAPStopsAndContinues(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 100), blobs(2, 50)
	p := prior(t, net, 0.5)
	m := MAP{Restarts: 3, Epochs: 12, Patience: 5, Rate: 0.3}
	want := figures(fit(t, m, net, 0.5, train, validate, 1))
	full := errors.New("disk full")
	for _, threads := range []int{1, 2} {
		for _, cancelled := range []bool{false, true} {
			m, stops := m, 0
			for ; ; stops++ {
				ctx, cancel := context.WithCancel(context.Background())
				seen, made := 0, make([]int, 3)
				for k, s := range m.Saved {
					if s != nil {
						made[k] = s.Epochs
					}
				}
				m.Watch = func(s *Restart, e Epoch) error {
					if s.Epochs != e.Epoch || s.Done != e.Done {
						t.Errorf("watched epoch %d, %v of a state of %d, %v", e.Epoch, e.Done, s.Epochs, s.Done)
					}
					if made[e.Restart]++; e.Epoch != made[e.Restart] {
						t.Errorf("restart %d makes epoch %d, want %d", e.Restart, e.Epoch, made[e.Restart])
					}
					if seen++; seen < 3 {
						return nil
					}
					if cancelled {
						cancel()
						return nil
					}
					return full
				}
				r, err := m.Fit(ctx, net, p, train, validate, pool.New(threads))
				cancel()
				if err == nil {
					if got := figures(r); got != want {
						t.Errorf("%d threads, cancelled %v, after %d stops:\n%s\nwant\n%s", threads, cancelled, stops, got, want)
					}
					break
				}
				if !errors.Is(err, full) && !errors.Is(err, context.Canceled) || stops > 50 {
					t.Fatal(err)
				}
				m.Saved = make([]*Restart, 3)
				for k, s := range r.Restarts {
					if s == nil {
						continue
					}
					m.Saved[k] = saved(t, s)
				}
			}
			if stops < 5 {
				t.Errorf("stopped only %d times", stops)
			}
		}
	}
	if err := new(Restart).UnmarshalBinary([]byte("STARLING")); err == nil {
		t.Error("took eight bytes for a state")
	}
}

// figures are a result and what its restarts ended with, to be compared.
func figures(r *Result) string {
	var b strings.Builder
	for _, s := range r.Restarts {
		fmt.Fprintln(&b, *s)
	}
	without := *r
	without.Restarts = nil
	fmt.Fprint(&b, without)
	return b.String()
}

// The first restart begins where it is told to, the others where they would have.
func TestMAPFirst(t *testing.T) {
	net, train := mlp(t), blobs(1, 60)
	first := make([]float64, net.Dim())
	for i := range first {
		first[i] = 0.01 * float64(i)
	}
	m := MAP{Restarts: 2, Epochs: 1, Rate: 1e-9}
	drawn := fit(t, m, net, 0.5, train, nil, 1)
	m.First = first
	r := fit(t, m, net, 0.5, train, nil, 1)
	for i, x := range first {
		if !(math.Abs(r.restart(0)[i]-x) < 1e-6) {
			t.Fatalf("parameter %d is %v, began at %v", i, r.restart(0)[i], x)
		}
	}
	if slices.Equal(drawn.restart(0), r.restart(0)) || !slices.Equal(drawn.restart(1), r.restart(1)) {
		t.Error("the second restart begins elsewhere")
	}
}

// A first restart that only gets worse ends where it began, which counts like an epoch: for patience, for the choice
// among the restarts, and over stops. The others are as they would have been, and so are all where it gets better.
func TestMAPFirstIsScored(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 300)
	p, workers := prior(t, net, 0.5), pool.New(2)
	good := fit(t, MAP{Restarts: 1, Rate: 0.1, Epochs: 100}, net, 0.5, train, validate, 1)
	m := MAP{Restarts: 2, Rate: 30, Batch: 4, Epochs: 9, Patience: 5} // of steps far too long
	drawn := fit(t, m, net, 0.5, train, validate, 1)
	m.First = good.Best()
	epochs := 0
	m.Watch = func(_ *Restart, e Epoch) error {
		if e.Restart == 0 {
			epochs++
			if !(e.NLL > good.NLL[0]) || e.Done != (epochs == 5) {
				t.Errorf("epoch %d: NLL %v, done %v; the start has %v", e.Epoch, e.NLL, e.Done, good.NLL[0])
			}
		}
		return nil
	}
	r := fit(t, m, net, 0.5, train, validate, 1)
	if !slices.Equal(r.Best(), m.First) || r.Chosen != 0 || r.BestEpoch[0] != 0 || r.NLL[0] != good.NLL[0] || r.Accuracy[0] != good.Accuracy[0] {
		t.Errorf("restart %d was chosen, the first is of epoch %d, NLL %v and accuracy %v; it began at %v and %v",
			r.Chosen, r.BestEpoch[0], r.NLL[0], r.Accuracy[0], good.NLL[0], good.Accuracy[0])
	}
	if !slices.Equal(r.restart(1), drawn.restart(1)) || r.BestEpoch[1] != drawn.BestEpoch[1] {
		t.Error("the second restart is another one")
	}

	want := figures(r)
	for range 50 {
		m.Watch = func(*Restart, Epoch) error { return context.Canceled }
		r, err := m.Fit(context.Background(), net, p, train, validate, workers)
		if err == nil {
			if got := figures(r); got != want {
				t.Errorf("stopped after every epoch:\n%s\nwant\n%s", got, want)
			}
			break
		}
		m.Saved = r.Restarts
		for k, s := range m.Saved {
			if s == nil {
				continue
			}
			m.Saved[k] = saved(t, s)
		}
	}

	m = MAP{Restarts: 1, Rate: 0.1, Epochs: 3, First: make([]float64, net.Dim())}
	for i := range m.First {
		m.First[i] = math.Inf(1) // a network that cannot be scored is no better than any
	}
	if _, err := m.Fit(context.Background(), net, p, train, validate, workers); err == nil || !strings.Contains(err.Error(), "restart 0, epoch 1") {
		t.Errorf("infinite weights: error %v", err)
	}
}

// saved is s, written and read.
func saved(t *testing.T, s *Restart) *Restart {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	read := new(Restart)
	if err := read.UnmarshalBinary(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return read
}

// oneBad is a prior whose draw number bad, counted from 0, is so far off that the likelihood vanishes.
type oneBad struct {
	*bnn.Normal
	bad, drawn int
}

func (p *oneBad) Sample(s *rng.Stream, theta []float64) {
	p.Normal.Sample(s, theta)
	if p.drawn == p.bad {
		theta[0] = 1e30
	}
	p.drawn++
}

// When one restart diverges, the others stop where they are, and its error is the only one.
func TestMAPStopsTogether(t *testing.T) {
	net, set := linear(t, nn.Gaussian{SD: 1}), regression(20)
	epochs := 0
	m := MAP{Restarts: 5, Rate: 1e-3, Epochs: 10, Watch: func(*Restart, Epoch) error { epochs++; return nil }}
	r, err := m.Fit(context.Background(), net, &oneBad{Normal: prior(t, net, 1), bad: 2}, set, nil, pool.New(1))
	if err == nil || !strings.HasPrefix(err.Error(), "MAP restart 2, epoch 1: ") || strings.Count(err.Error(), "restart") != 1 {
		t.Errorf("error %v", err)
	}
	if epochs != 2*10 { // those of the two that one thread had done before
		t.Errorf("%d epochs, want 20", epochs)
	}
	for k, s := range r.Restarts {
		if done := s != nil && s.Done; done != (k < 2) {
			t.Errorf("restart %d is left as %v", k, s)
		}
	}
}

func TestMAPErrors(t *testing.T) {
	net, train := mlp(t), blobs(1, 60)
	ctx, cancel := context.WithCancel(context.Background())
	good := prior(t, net, 1)
	for name, c := range map[string]struct {
		m        MAP
		prior    *bnn.Normal
		validate *data.Set
		reason   string
	}{
		"diverges":  {MAP{Rate: 1e30, Restarts: 2, Epochs: 50}, good, blobs(2, 9), "MAP restart 0, epoch"},
		"no batch":  {MAP{Batch: -1}, good, nil, "batch must be positive"},
		"no rate":   {MAP{Rate: math.NaN()}, good, nil, "rate must be positive"},
		"dimension": {MAP{}, prior(t, linear(t, nn.Gaussian{SD: 1}), 1), nil, "prior of 3 parameters"},
		"too many":  {MAP{Restarts: 1 << 21}, good, nil, "particle 2097151 is outside"},
		"other set": {MAP{}, good, regression(5), "linear"},
		"first":     {MAP{First: make([]float64, 3)}, good, nil, "first start of 3 parameters"},
		"few saved": {MAP{Restarts: 2, Saved: make([]*Restart, 1)}, good, nil, "1 saved restarts of 2"},
		"saved":     {MAP{Restarts: 1, Saved: []*Restart{{Theta: make([]float64, 4)}}}, good, nil, "saved restart 0 has 4 parameters"},
	} {
		_, err := c.m.Fit(ctx, net, c.prior, train, c.validate, pool.New(1))
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.reason)
		}
	}
	m := MAP{Restarts: 1, Watch: func(_ *Restart, e Epoch) error {
		if e.Epoch == 2 {
			cancel()
		}
		return nil
	}}
	if _, err := m.Fit(ctx, net, good, train, nil, pool.New(1)); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "restart 0, epoch 3") {
		t.Errorf("cancelled: error %v", err)
	}
}
