package method

import (
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
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// looking is a search that is told of every epoch: the part of l stands after it.
type looking struct {
	Search
	seed    uint64
	first   []float64
	augment *data.Augment
	watch   func(r *restart) error // after every epoch of this process; nil: nobody is told
}

// found is what a search ended with, and its parts.
type found struct {
	*Points
	restarts []*restart
}

// in carries a search out within a run. Settings that are left out are those of a config.
func (l looking) in(ctx context.Context, run *runs.Run, net *nn.Net, p mcmc.Prior, train, validate *data.Set, threads int) (found, error) {
	l.Complete(0, validate != nil, nil)
	workers := pool.New(threads)
	b, err := newSearch(l.Search, l.seed, net, p, l.first, &data.Problem{Train: train, Validate: validate, Augment: l.augment}, workers)
	if err != nil {
		return found{}, err
	}
	r := found{restarts: b.restarts()}
	phase := b.phase(r.restarts, 0, nil)
	follow := phase.Watch
	phase.Watch = func(line runs.TraceLine) error {
		if err := follow(line); err != nil || l.watch == nil {
			return err
		}
		return l.watch(r.restarts[line.Part])
	}
	if err := run.Phase(ctx, workers, phase); err != nil {
		return r, err
	}
	r.Points, err = b.points(ctx, r.restarts)
	return r, err
}

func (l looking) fit(t *testing.T, net *nn.Net, variance float64, train, validate *data.Set, threads int) found {
	t.Helper()
	r, err := l.in(t.Context(), without(t), net, prior(t, net, variance), train, validate, threads)
	if err != nil {
		t.Fatal(err)
	}
	return r
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
	r := looking{Search: Search{Restarts: 3, Batch: n, Rate: 0.1, Epochs: 200}}.fit(t, net, v, set, nil, 2)
	for k := range 3 {
		wantNear(t, fmt.Sprintf("restart %d", k), r.at(k, 1), ridge.RawVector().Data, 2e-6)
	}
	if !math.IsNaN(r.NLL[0]) || !math.IsNaN(r.Accuracy[0]) || r.Epoch[0] != 200 {
		t.Errorf("without a validation set: NLL %v, accuracy %v, best epoch %d", r.NLL, r.Accuracy, r.Epoch)
	}
}

// With a learned σ the objective has the N(0, 1) prior of log σ: at its minimum the gradient over all examples
// vanishes, with log σ in it.
func TestMAPLearnedSD(t *testing.T) {
	set := regression(40)
	net := linear(t, nn.Gaussian{SD: nn.Learned})
	r := looking{Search: Search{Restarts: 1, Batch: 40, Rate: 0.1, Epochs: 400}}.fit(t, net, 1, set, nil, 1)
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
	r := looking{Search: Search{Restarts: 8, Rate: 1e-6, Epochs: 1}, seed: 1}.fit(t, net, 0.3, set, nil, 1)
	likelihood, posterior := make([]float64, 8), make([]float64, 8)
	for k := range 8 {
		theta := r.at(k, 1)
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
// by its own mean, and the prior by 1/N; for AdamW, whose decay takes its place, not at all. Of two epochs by cosine the second has
// half the rate.
func TestMAPStepByStep(t *testing.T) {
	const decay, b1, b2, eps = 0.2, 0.9, 0.999, 1e-8
	for _, c := range []struct {
		by       nn.Optimiser
		schedule nn.Schedule
		rates    []float64 // of the epochs
		prior    float64   // its factor
	}{
		{nn.SGD{}, nn.Constant{}, []float64{0.1, 0.1}, 1},
		{nn.SGD{Momentum: 0.5}, nn.StepDecay{Every: 1, Factor: 0.25}, []float64{0.1, 0.025}, 1},
		{nn.AdamW{Decay: decay}, nn.Cosine{}, []float64{0.1, 0.05}, 0},
	} {
		stepByStep(t, c.by, c.schedule, c.rates, c.prior, func() func(x *float64, grad, rate float64) {
			first, second, steps := 0.0, 0.0, 0.0
			return func(x *float64, grad, rate float64) {
				steps++
				if by, ok := c.by.(nn.SGD); ok {
					first = by.Momentum*first + grad
					*x -= rate * first
					return
				}
				first, second = b1*first+(1-b1)*grad, b2*second+(1-b2)*grad*grad
				*x -= rate*decay**x + rate*first/(1-math.Pow(b1, steps))/(math.Sqrt(second/(1-math.Pow(b2, steps)))+eps)
			}
		})
	}
}

// stepByStep compares with steps that are written out here; stepping returns the steps of one parameter.
func stepByStep(t *testing.T, by nn.Optimiser, schedule nn.Schedule, rates []float64, prioring float64, stepping func() func(x *float64, grad, rate float64)) {
	t.Helper()
	const n, batch, sd, v, seed = 10, 4, 0.5, 0.3, 5
	set := regression(n)
	net := linear(t, nn.Gaussian{SD: sd})
	r := looking{Search: Search{Restarts: 2, Batch: batch, Rate: rates[0], Epochs: 2, Optimiser: by, Schedule: schedule}, seed: seed}.fit(t, net, v, set, nil, 1)
	for restart := range 2 {
		theta, steps := make([]float64, 3), []func(*float64, float64, float64){stepping(), stepping(), stepping()}
		prior(t, net, v).Sample(rng.Key{Seed: seed, Purpose: rng.Start, Particle: restart}.Stream(), theta)
		for epoch := 1; epoch <= 2; epoch++ {
			order := data.Order(n, rng.Key{Seed: seed, Purpose: rng.Batch, Iteration: epoch, Particle: restart})
			for _, rows := range [][]int32{order[:4], order[4:8], order[8:]} {
				grad := make([]float64, 3)
				for k := range grad {
					grad[k] = prioring * theta[k] / (v * n)
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
					steps[k](&theta[k], grad[k], rates[epoch-1])
				}
			}
		}
		wantNear(t, fmt.Sprintf("%v, restart %d", by, restart), r.at(restart, 1), theta, 2e-6)
	}
}

// The best state is the one reported: its loss on the validation set is the lowest of its restart and is the same when it is
// scored anew; the restart stops when patience is over; the lowest of all is chosen.
func TestMAPEarlyStopping(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 500)
	type best struct {
		nll, accuracy float64
		epoch, last   int
	}
	seen := make([]best, 4)
	s := looking{Search: Search{Restarts: 4, Rate: 0.3, Batch: 16, Epochs: 200, Patience: 7}, watch: func(r *restart) error {
		b := &seen[r.number]
		if b.last++; b.last != r.Epochs || r.K() != r.Epochs {
			t.Errorf("restart %d reports epoch %d as its call %d", r.number, r.Epochs, b.last)
		}
		nll, accuracy := scored(t, net, validate, r.Theta)
		if done := b.epoch > 0 && r.Epochs >= min(b.epoch+7, 200) && nll >= b.nll; r.Done() != done {
			t.Errorf("restart %d, epoch %d: done is %v", r.number, r.Epochs, r.Done())
		}
		if b.epoch == 0 || nll < b.nll {
			b.nll, b.accuracy, b.epoch = nll, accuracy, r.Epochs
		}
		return nil
	}}
	r := s.fit(t, net, 0.5, train, validate, 2)
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
		if r.NLL[k] != b.nll || r.Accuracy[k] != b.accuracy || r.Epoch[k] != b.epoch {
			t.Errorf("restart %d: %v, %v at %d, the best reported was %+v", k, r.NLL[k], r.Accuracy[k], r.Epoch[k], b)
		}
		if b.last != min(b.epoch+7, 200) {
			t.Errorf("restart %d: best at epoch %d, stopped after %d", k, b.epoch, b.last)
		}
		stopped = stopped || b.last < 200
		wantNear(t, "NLL scored anew", []float64{-ll[k] / 500}, []float64{r.NLL[k]}, 0)
		if !(r.NLL[r.Chosen] <= r.NLL[k]) {
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
	point, err := (&Job{Net: net}).several(r.Best())
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

// scored is the mean NLL and the accuracy of one network on a set.
func scored(t *testing.T, net *nn.Net, set *data.Set, theta []float64) (nll, accuracy float64) {
	t.Helper()
	model, err := nn.NewModel(net, set, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	ll, z, k := make([]float64, 1), make([]float32, set.Len()*net.Outputs()), net.Outputs()
	if err := errors.Join(model.LogLik(t.Context(), nil, theta, ll, nil), model.Outputs(t.Context(), nil, theta, z)); err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, y := range set.Labels {
		if row := z[i*k : (i+1)*k]; slices.Index(row, slices.Max(row)) == int(y) {
			right++
		}
	}
	return -ll[0] / float64(set.Len()), float64(right) / float64(set.Len())
}

func TestMAPErrors(t *testing.T) {
	net, train := mlp(t), blobs(1, 60)
	good := prior(t, net, 1)
	for name, c := range map[string]struct {
		s        looking
		prior    *bnn.Normal
		validate *data.Set
		reason   string
	}{
		"diverges":  {looking{Search: Search{Rate: 1e30, Restarts: 2, Epochs: 50}}, good, blobs(2, 9), "MAP restart 0, epoch"},
		"no batch":  {looking{Search: Search{Batch: -1}}, good, nil, "MAP: batch: want at least 1, have -1"},
		"no rate":   {looking{Search: Search{Rate: math.NaN()}}, good, nil, "MAP: rate: want a number above 0, have NaN"},
		"impatient": {looking{Search: Search{Patience: -1}}, good, nil, "MAP: patience: want at least 0, have -1"},
		"no epochs": {looking{Search: Search{Epochs: -1}}, good, nil, "MAP: epochs: want at least 0, have -1"},
		"dimension": {looking{}, prior(t, linear(t, nn.Gaussian{SD: 1}), 1), nil, "prior of 3 parameters"},
		"too many":  {looking{Search: Search{Restarts: 1 << 21}}, good, nil, "MAP: restarts: want below 1048576, have 2097152"},
		"too long":  {looking{Search: Search{Epochs: 1 << 33}}, good, nil, "iteration 8589934592 is outside"},
		"other set": {looking{}, good, regression(5), "linear"},
		"first":     {looking{first: make([]float64, 3)}, good, nil, "first start of 3 parameters"},
	} {
		_, err := c.s.in(t.Context(), without(t), net, c.prior, train, c.validate, 1)
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.reason)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := looking{Search: Search{Restarts: 1}, watch: func(r *restart) error {
		if r.Epochs == 2 {
			cancel()
		}
		return nil
	}}
	if r, err := s.in(ctx, without(t), net, good, train, nil, 1); !errors.Is(err, context.Canceled) || r.restarts[0].K() != 2 {
		t.Errorf("cancelled: error %v after %d epochs", err, r.restarts[0].K())
	}
}

// Of a regression on standardised targets the restarts' NLL is that of the targets in their own units; what is chosen stays.
func TestSearchUnits(t *testing.T) {
	net := linear(t, nn.Gaussian{SD: 1})
	job := func(sd float64) (*Job, *Outcome) {
		j := newJob(t, 1).provide(MAP{})
		j.Net, j.Prior, j.Data = net, prior(t, net, 1), &data.Problem{Train: regression(40), Validate: regression(20), Schema: &data.Schema{}}
		if sd != 1 {
			j.Data.Schema.Targets = &data.Standard{Mean: []float64{5}, SD: []float64{sd}, To: 1}
		}
		out := newOutcome()
		if err := j.search(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		return j, out
	}
	plain, out := job(1)
	wide, scaled := job(100)
	for k, nll := range plain.Points.NLL {
		wantNear(t, "NLL", []float64{out.NLL[k], wide.Points.NLL[k], scaled.NLL[k]}, []float64{nll, nll, nll + math.Log(100)}, 1e-12)
	}
	for k, c := range out.Courses {
		for i := range c.Train {
			want := []float64{float64(c.Train[i]) + math.Log(100), float64(c.Val[i]) + math.Log(100)}
			wantNear(t, "course", []float64{float64(scaled.Courses[k].Train[i]), float64(scaled.Courses[k].Val[i])}, want, 1e-12)
		}
	}
	if len(out.Courses) != 8 || out.Chosen != scaled.Chosen || out.Chosen != plain.Points.Chosen || out.Restarts.Size() != 8 {
		t.Errorf("restart %d of %d is chosen, and %d in other units", out.Chosen, out.Restarts.Size(), scaled.Chosen)
	}
}

// What a config leaves out: as many restarts as the method needs, and patience where validation examples choose the epoch.
func TestSearchDefaults(t *testing.T) {
	for _, c := range []struct {
		s         Search
		restarts  int
		validates bool
		want      Search
	}{
		{Search{}, 0, true, Search{8, 0.03, 64, 300, bnn.FromPrior{}, "best", 20, nn.SGD{}, nn.Constant{}}},
		{Search{}, 30, false, Search{30, 0.03, 64, 5, bnn.FromPrior{}, "last", 0, nn.SGD{}, nn.Constant{}}},
		{Search{Keep: "last"}, 0, true, Search{8, 0.03, 64, 300, bnn.FromPrior{}, "last", 0, nn.SGD{}, nn.Constant{}}},
		{Search{Optimiser: nn.SGD{Momentum: 0.5}}, 0, true, Search{8, 0.015, 64, 300, bnn.FromPrior{}, "best", 20, nn.SGD{Momentum: 0.5}, nn.Constant{}}},
		{Search{Optimiser: nn.AdamW{}, Schedule: nn.Cosine{}}, 0, true, Search{8, 0.001, 64, 300, bnn.FromPrior{}, "best", 20, nn.AdamW{}, nn.Cosine{}}},
		{Search{Restarts: 2, Rate: 0.5, Batch: 7, Epochs: 9, Patience: 3}, 30, true, Search{2, 0.5, 7, 9, bnn.FromPrior{}, "best", 3, nn.SGD{}, nn.Constant{}}},
	} {
		got := c.s
		if got.Complete(c.restarts, c.validates, nil); got != c.want {
			t.Errorf("%+v for %d restarts: %+v, want %+v", c.s, c.restarts, got, c.want)
		}
	}
}
