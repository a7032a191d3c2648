// Package baseline holds the ways to an ensemble other than a sampler, one file a method, one verb: Fit.
package baseline

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// MAP searches the maximum of the posterior by early-stopped stochastic gradient descent, from several starts
// (Liang et al., Scalable Bayesian Monte Carlo, Algorithm 1, line 1; the settings that the paper leaves open are
// defaults of this project). Each restart begins at a draw of the prior and takes plain gradient steps on
//
//	mean over the batch of −log p(y|x,θ)  −  log p(θ) / N
//
// over mini-batches in an order of its own for every epoch; the last batch of an epoch is the remainder, with its own
// mean. After each epoch the mean negative log-likelihood (NLL) of the validation set is taken, the best state is
// kept, and Patience epochs without a new best end the restart; a First is scored before its first epoch, so that the
// descent from it cannot end with a worse one. Without a validation set every restart runs all its epochs and its last
// state counts.
//
// The restarts together, equally weighted, are a deep ensemble (Lakshminarayanan et al. 2017); see Result.Ensemble.
type MAP struct {
	Restarts int     // 0: 8
	Rate     float64 // step of gradient descent; 0: 0.03
	Batch    int     // examples a step; 0: 64
	Epochs   int     // at most; 0: 300
	Patience int     // epochs; 0: 20
	Seed     uint64

	First []float64  // where restart 0 begins; nil: at a draw, like the others
	Saved []*Restart // to go on from, and used up: one for each restart, nil where it has not begun; nil: all begin

	// Watch, if not nil, looks at a restart after each of its epochs, one call at a time, in the order they end. It must
	// not change the state, nor hold on to it; an error stops the search.
	Watch func(s *Restart, e Epoch) error
}

// Epoch is what one epoch of one restart came to.
type Epoch struct {
	Restart, Epoch int     // counted from 0 and from 1
	NLL            float64 // mean over the validation set, in nats; NaN without one
	Accuracy       float64 // on the validation set, 0 to 1; NaN without one and for regression
	Done           bool    // it was the restart's last
}

// Result is what the restarts ended with.
type Result struct {
	Net       *nn.Net
	Theta     []float64 // best state of each restart, Restarts×D
	NLL       []float64 // its mean NLL on the validation set; NaN without one
	Accuracy  []float64 // its accuracy there; NaN without one and for regression
	BestEpoch []int     // the epoch that gave it, counted from 1; 0: it began there, at First
	Chosen    int       // the restart of lowest NLL; without a validation set, of highest posterior density

	Restarts []*Restart // as they ended
}

// Best is the parameter vector of the chosen restart: the MAP.
func (r *Result) Best() []float64 { return r.restart(r.Chosen) }

func (r *Result) restart(k int) []float64 {
	d := r.Net.Dim()
	return r.Theta[k*d : (k+1)*d]
}

// Ensemble is the deep ensemble: every restart with the same weight.
func (r *Result) Ensemble() (*bnn.Ensemble, error) {
	return bnn.Combine(r.Net, []bnn.Island{{Theta: r.Theta}}, bnn.Equal{})
}

// Point is the chosen restart alone, as an ensemble of one.
func (r *Result) Point() (*bnn.Ensemble, error) {
	return bnn.Combine(r.Net, []bnn.Island{{Theta: r.Best()}}, bnn.Equal{})
}

// Fit runs the restarts, side by side on the pool's threads; the result is the same bits for any number of them.
// prior is the model's own, not one anchored at a MAP. validate may be nil. The first error ends all restarts and names
// its own and the epoch; the likelihood becoming NaN or zero is one. The Result then has nothing but Restarts, as they
// were after their last complete epoch, nil where one has not begun: as Saved they go on with the same bits.
func (m MAP) Fit(ctx context.Context, net *nn.Net, prior mcmc.Prior, train, validate *data.Set, p *nn.Pool) (*Result, error) {
	d, err := m.descent(net, prior, train, validate, p)
	if err != nil {
		return nil, err
	}
	together, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var first error
	restarts := make([]*Restart, d.Restarts)
	copy(restarts, d.Saved)
	p.Run(d.Restarts, func(k int) {
		if restarts[k] == nil {
			restarts[k] = d.start(k)
		}
		if err := d.run(together, k, restarts[k]); err != nil {
			once.Do(func() { first = err })
			stop()
		}
		if restarts[k].Epochs == 0 {
			restarts[k] = nil
		}
	})
	if first != nil {
		return &Result{Restarts: restarts}, first
	}
	return d.result(ctx, restarts)
}

// descent is a MAP search made ready: settings with their defaults, data bound to the network.
type descent struct {
	MAP
	prior    mcmc.Prior
	train    *nn.Model
	validate *nn.Model  // nil without a validation set
	labels   []int32    // of the validation set; nil for regression
	turn     sync.Mutex // to Watch
}

func (m MAP) descent(net *nn.Net, prior mcmc.Prior, train, validate *data.Set, p *nn.Pool) (*descent, error) {
	d := &descent{MAP: m, prior: prior}
	for _, s := range []struct {
		value    *int
		standard int
		name     string
	}{{&d.Restarts, 8, "restarts"}, {&d.Batch, 64, "batch"}, {&d.Epochs, 300, "epochs"}, {&d.Patience, 20, "patience"}} {
		if *s.value == 0 {
			*s.value = s.standard
		}
		if *s.value < 0 {
			return nil, fmt.Errorf("MAP: %s must be positive, is %d", s.name, *s.value)
		}
	}
	if d.Rate == 0 {
		d.Rate = 0.03
	}
	if !(d.Rate > 0) || math.IsInf(d.Rate, 1) {
		return nil, fmt.Errorf("MAP: rate must be positive, is %v", d.Rate)
	}
	if prior.Dim() != net.Dim() {
		return nil, fmt.Errorf("MAP: prior of %d parameters for a network of %d", prior.Dim(), net.Dim())
	}
	if d.First != nil && len(d.First) != net.Dim() {
		return nil, fmt.Errorf("MAP: a first start of %d parameters for a network of %d", len(d.First), net.Dim())
	}
	if d.Saved != nil && len(d.Saved) != d.Restarts {
		return nil, fmt.Errorf("MAP: %d saved restarts of %d", len(d.Saved), d.Restarts)
	}
	for k, s := range d.Saved {
		if s != nil && (len(s.Theta) != net.Dim() || (s.Watch.BestAt > 0 || s.Watch.Theta != nil) && len(s.Watch.Theta) != net.Dim()) {
			return nil, fmt.Errorf("MAP: saved restart %d has %d parameters, %d at its best; the network has %d", k, len(s.Theta), len(s.Watch.Theta), net.Dim())
		}
	}
	if err := d.key(rng.Batch, d.Restarts-1, d.Epochs).Check(); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	var err error
	if d.train, err = nn.NewModel(net, train, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if validate == nil {
		return d, nil
	}
	if d.validate, err = nn.NewModel(net, validate, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if _, regression := net.Likelihood().(nn.Gaussian); !regression {
		d.labels = validate.Labels
	}
	return d, nil
}

// key is the address of the numbers of an epoch of a restart.
func (d *descent) key(purpose rng.Purpose, restart, epoch int) rng.Key {
	return rng.Key{Seed: d.Seed, Purpose: purpose, Iteration: epoch, Particle: restart}
}

// scratch is the working space of one restart.
type scratch struct {
	ll      [1]float64
	grad    []float64
	prior   []float64
	order   []int32
	outputs []float32 // on the validation set
}

func (d *descent) scratch() *scratch {
	dim := d.train.Dim()
	w := &scratch{grad: make([]float64, dim), prior: make([]float64, dim), order: make([]int32, d.train.Examples())}
	if d.labels != nil {
		w.outputs = make([]float32, len(d.labels)*d.train.Net().Outputs())
	}
	return w
}

// run takes restart k from s to its end. After an error s is as it was after the last complete epoch.
func (d *descent) run(ctx context.Context, k int, s *Restart) error {
	var before Restart
	w := d.scratch()
	if s.Epochs == 0 {
		if err := d.first(ctx, k, s, w); err != nil {
			return fmt.Errorf("MAP restart %d, at its start: %w", k, err)
		}
	}
	for !s.Done {
		before.copy(s)
		e, err := d.epoch(ctx, k, s, w)
		if err != nil {
			*s = before
			return fmt.Errorf("MAP restart %d, epoch %d: %w", k, s.Epochs+1, err)
		}
		if err := d.look(s, e); err != nil {
			return err
		}
	}
	return nil
}

// look shows a restart to Watch.
func (d *descent) look(s *Restart, e Epoch) error {
	if d.Watch == nil {
		return nil
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	return d.Watch(s, e)
}

// start puts a restart where the first is said to begin, or at a draw of the prior.
func (d *descent) start(k int) *Restart {
	s := &Restart{Theta: make([]float64, d.train.Dim()), Watch: nn.EarlyStop{Patience: d.Patience}, Accuracy: math.NaN()}
	if k == 0 && d.First != nil {
		copy(s.Theta, d.First)
	} else {
		d.prior.Sample(d.key(rng.Start, k, 0).Stream(), s.Theta)
	}
	return s
}

// first looks at a First on the validation set.
func (d *descent) first(ctx context.Context, k int, s *Restart, w *scratch) error {
	if k > 0 || d.First == nil || d.validate == nil {
		return nil
	}
	nll, accuracy, err := d.score(ctx, s.Theta, w)
	s.Watch.Start(nll, s.Theta)
	s.Accuracy = accuracy
	return err
}

// epoch goes once through the training set, then looks at the validation set.
func (d *descent) epoch(ctx context.Context, k int, s *Restart, w *scratch) (Epoch, error) {
	s.Epochs++
	d.key(rng.Batch, k, s.Epochs).Stream().Perm(w.order)
	sgd := nn.SGD{Rate: nn.Constant(d.Rate)}
	perN := 1 / float64(len(w.order))
	for batch := range data.Batches(w.order, d.Batch) {
		if err := d.train.LogLik(ctx, batch, s.Theta, w.ll[:], w.grad); err != nil {
			return Epoch{}, err
		}
		if err := d.finite("log-likelihood of a batch", w.ll[0]); err != nil {
			return Epoch{}, err
		}
		d.prior.LogDensity(s.Theta, w.prior)
		perB := 1 / float64(len(batch))
		for i, g := range w.prior {
			w.grad[i] = -(float64(perB*w.grad[i]) + float64(perN*g))
		}
		sgd.Step(&s.Moments, s.Theta, w.grad)
	}
	s.Done = s.Epochs == d.Epochs
	e := Epoch{Restart: k, Epoch: s.Epochs, NLL: math.NaN(), Accuracy: math.NaN()}
	if d.validate != nil {
		var err error
		if e.NLL, e.Accuracy, err = d.score(ctx, s.Theta, w); err != nil {
			return Epoch{}, err
		}
		if err := d.finite("log-likelihood of the validation set", w.ll[0]); err != nil {
			return Epoch{}, err
		}
		s.Done = s.Watch.Observe(e.NLL, s.Theta) || s.Done
		if s.Watch.BestAt == s.Epochs {
			s.Accuracy = e.Accuracy
		}
	}
	e.Done = s.Done
	return e, nil
}

// score is the mean NLL and, for classes, the accuracy at theta on the validation set.
func (d *descent) score(ctx context.Context, theta []float64, w *scratch) (nll, accuracy float64, err error) {
	if err := d.validate.LogLik(ctx, nil, theta, w.ll[:], nil); err != nil {
		return 0, 0, err
	}
	nll = -w.ll[0] / float64(d.validate.Examples())
	if d.labels == nil {
		return nll, math.NaN(), nil
	}
	if err := d.validate.Outputs(ctx, nil, theta, w.outputs); err != nil {
		return 0, 0, err
	}
	k := len(w.outputs) / len(d.labels)
	right := 0
	for i, y := range d.labels {
		if class(w.outputs[i*k:(i+1)*k]) == y {
			right++
		}
	}
	return nll, float64(right) / float64(len(d.labels)), nil
}

// class is the class that the outputs make likeliest, the first of equals: one logit is that of class 1 against 0.
func class(outputs []float32) int32 {
	if len(outputs) == 1 {
		if outputs[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for c, z := range outputs {
		if z > outputs[best] {
			best = c
		}
	}
	return int32(best)
}

func (d *descent) finite(what string, ll float64) error {
	if math.IsNaN(ll) || math.IsInf(ll, 0) {
		return fmt.Errorf("the %s is %v; a rate below %v may mend it", what, ll, d.Rate)
	}
	return nil
}

// result gathers the best states and chooses among them.
func (d *descent) result(ctx context.Context, restarts []*Restart) (*Result, error) {
	r := &Result{Net: d.train.Net(), Restarts: restarts}
	loss := make([]float64, len(restarts)) // by which one is chosen
	for k, s := range restarts {
		if d.validate != nil {
			r.Theta = append(r.Theta, s.Watch.Theta...)
			r.NLL = append(r.NLL, s.Watch.Best)
			r.BestEpoch = append(r.BestEpoch, s.Watch.BestAt)
			loss[k] = s.Watch.Best
		} else {
			r.Theta = append(r.Theta, s.Theta...)
			r.NLL = append(r.NLL, math.NaN())
			r.BestEpoch = append(r.BestEpoch, s.Epochs)
		}
		r.Accuracy = append(r.Accuracy, s.Accuracy)
	}
	if d.validate == nil {
		if err := d.train.LogLik(ctx, nil, r.Theta, loss, nil); err != nil {
			return nil, fmt.Errorf("MAP: %w", err)
		}
		for k := range loss {
			if err := d.finite("log-likelihood", loss[k]); err != nil {
				return nil, fmt.Errorf("MAP restart %d, epoch %d: %w", k, restarts[k].Epochs, err)
			}
			loss[k] = -(loss[k] + d.prior.LogDensity(r.restart(k), nil))
		}
	}
	for k := range loss {
		if loss[k] < loss[r.Chosen] {
			r.Chosen = k
		}
	}
	return r, nil
}
