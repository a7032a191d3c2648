package starling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/starling-smc/starling/baseline"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// Fit carries a Spec out: it reads the data, searches point estimates where the Spec has any, samples the posterior,
// and judges all of it on the test examples. It writes no files.
//
// Errors are a *ConfigError for what the Spec says, a *DataError for what the data are, the context's if it ended, and
// otherwise name the part of the run that failed.
func Fit(ctx context.Context, spec Spec, o Options) (*Result, error) {
	started := time.Now()
	spec, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	r, err := prepare(spec, o, started)
	if err != nil {
		return nil, err
	}
	if err := r.points(ctx); err != nil {
		return nil, err
	}
	if err := r.sample(ctx); err != nil {
		return nil, err
	}
	if r.Metrics, err = r.Spec.evaluate(ctx, &r.Ensembles, r.Data, r.pool); err != nil {
		return nil, fmt.Errorf("evaluation: %w", err)
	}
	r.Finished = time.Now()
	return &r.Result, nil
}

// run is a Fit in progress.
type run struct {
	Result
	pool     *pool.Pool
	progress func(Event)
	model    *nn.Model // on the training examples
	prior    *bnn.Normal
	init     []float64        // the network of model.init; nil if there is none
	search   *baseline.Result // of the point estimates; nil if there are none
}

// prepare brings data, network and prior together.
func prepare(spec Spec, o Options, started time.Time) (*run, error) {
	r := &run{pool: pool.New(o.Threads), progress: o.Progress}
	if r.progress == nil {
		r.progress = func(Event) {}
	}
	r.Spec, r.Started = spec, started
	var err error
	if r.Data, _, err = spec.load(o.DataDir); err != nil {
		return nil, err
	}
	if r.Net, err = r.Spec.network(r.Data.Train); err != nil {
		return nil, err
	}
	if r.model, err = nn.NewModel(r.Net, r.Data.Train, r.pool); err != nil {
		return nil, configError("", []fault{{path: "model", message: err.Error()}})
	}
	if err = r.readInit(); err != nil {
		return nil, err
	}
	if !r.Spec.Method.AsIs {
		if r.prior, err = r.Spec.normal(r.Net); err != nil {
			return nil, err
		}
	}
	r.progress(&Loaded{&r.Spec, r.Data, r.Net})
	return r, nil
}

// network builds the network for a data set; an input shape that was left out becomes the set's.
func (s *Spec) network(set *data.Set) (*nn.Net, error) {
	if s.Model.Input == nil {
		s.Model.Input = slices.Clone(set.Shape)
		c := checker{}
		if c.model(&s.Model); c.faults != nil {
			return nil, configError("", c.faults)
		}
	}
	return nn.New(s.Model.Input, s.Model.Layers, s.Model.Likelihood)
}

// normal is the prior that is not anchored.
func (s *Spec) normal(net *nn.Net) (*bnn.Normal, error) {
	if v := s.Prior.Normal.Variance; v != 0 {
		return bnn.Isotropic(net.Tensors(), v)
	}
	return bnn.FanIn(net.Tensors(), s.Prior.Normal.FanIn)
}

// points searches the MAP restarts.
func (r *run) points(ctx context.Context) error {
	m := r.Spec.MAP
	if m == nil {
		return nil
	}
	now := Descending{Restarts: m.Restarts, NLL: math.Inf(1)}
	made, ended := make([]int, m.Restarts), make([]bool, m.Restarts)
	search := baseline.MAP{
		Restarts: m.Restarts, Rate: m.Rate, Batch: m.Batch, Epochs: m.Epochs, Patience: m.Patience, Seed: r.Spec.Seed,
		First: r.init,
		Watch: func(_ *baseline.Restart, e baseline.Epoch) error {
			if made[e.Restart], ended[e.Restart] = e.Epoch, e.Done; e.Done {
				now.Done++
			}
			now.Share = descent(made, ended, m.Epochs)
			if e.NLL < now.NLL {
				now.Best, now.Epoch, now.NLL, now.Accuracy = e.Restart, e.Epoch, e.NLL, e.Accuracy
			}
			event := now
			r.progress(&event)
			return nil
		},
	}
	var err error
	if r.search, err = search.Fit(ctx, r.Net, r.prior, r.Data.Train, r.Data.Validate, r.pool); err != nil {
		return err
	}
	r.Chosen, r.NLL = r.search.Chosen, r.search.NLL
	r.Restarts, err = r.search.Ensemble()
	return err
}

// descent is the share of the work that is done, from the epochs that each restart has made: one that has not ended is
// expected to take as long as the mean of those that have or, before the first of them, as long as it may.
func descent(made []int, ended []bool, most int) float64 {
	all, done, finished := 0.0, 0.0, 0.0
	for i, n := range made {
		all += float64(n)
		if ended[i] {
			done++
			finished += float64(n)
		}
	}
	each := float64(most)
	if done > 0 {
		each = finished / done
	}
	total := finished
	for i, n := range made {
		if !ended[i] {
			total += max(each, float64(n+1))
		}
	}
	return all / total
}

// pointOnly says that nothing is sampled: the anchored posterior has shrunk to its anchor, or a network is taken as it is.
func (s *Spec) pointOnly() bool {
	return s.Method.AsIs || s.Prior.Anchor != nil && s.Prior.Anchor.S == 0
}

// sample brings about the posterior ensemble.
func (r *run) sample(ctx context.Context) error {
	r.noteInit()
	switch {
	case r.Spec.Method.AsIs:
		r.Notes = append(r.Notes, "as-is: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled")
		return r.point(r.init)
	case r.Spec.pointOnly() && r.search == nil:
		r.Notes = append(r.Notes, "s = 0: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled")
		return r.point(r.init)
	case r.Spec.pointOnly():
		r.Notes = append(r.Notes, "s = 0: the posterior is the MAP alone, an ensemble of one; nothing was sampled")
		return r.point(r.search.Best())
	}
	samplers, err := r.samplers()
	if err != nil {
		return err
	}
	watch := newWatch(ctx, r, samplers[0].Particles, len(samplers))
	states, err := smc.RunIslands(ctx, r.pool, samplers, nil, watch.look)
	if err != nil {
		return err
	}
	r.Notes = append(r.Notes, r.chains(states)...)
	return r.gather(states)
}

// samplers are the islands or chains, ready to run.
func (r *run) samplers() ([]*smc.Sampler, error) {
	prior := r.prior
	if a := r.Spec.Prior.Anchor; a != nil {
		var err error
		if prior, err = r.prior.Anchored(a.S, r.anchor()); err != nil {
			return nil, err
		}
	}
	var samplers []*smc.Sampler
	if m := r.Spec.Method.MCMC; m != nil {
		samplers = m.samplers()
	} else {
		samplers = r.Spec.Method.SMC.samplers()
	}
	for i, s := range samplers {
		s.Model, s.Prior, s.Seed, s.Island, s.Pool = r.model, prior, r.Spec.Seed, i, r.pool
		s.Start = r.start(i, s.Particles)
	}
	return samplers, nil
}

// Island runs one island or chain of a Spec by itself, as a task for any machine: saved is the State (package smc) to
// go on from, nil to begin, and the State at the end comes back, the same bytes as within Fit. The data are read, and
// the point estimates that it needs searched, anew. Errors are those of Fit.
func Island(ctx context.Context, spec Spec, island int, saved []byte, o Options) ([]byte, error) {
	spec, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	r, err := prepare(spec, o, time.Now())
	if err != nil {
		return nil, err
	}
	if err := r.points(ctx); err != nil {
		return nil, err
	}
	samplers, err := r.samplers()
	if err != nil {
		return nil, err
	}
	if island < 0 || island >= len(samplers) {
		return nil, fmt.Errorf("island %d of %d: they count from 0", island, len(samplers))
	}
	return samplers[island].RunIsland(ctx, saved, nil)
}

// gather makes the posterior of what the islands ended with.
func (r *run) gather(states []*smc.State) error {
	slices.SortFunc(r.Trace, func(a, b TraceLine) int {
		if a.Island != b.Island {
			return a.Island - b.Island
		}
		return a.K - b.K
	})
	var by bnn.Combination
	if m := r.Spec.Method.SMC; m != nil && m.Combine == "evidence" {
		by = bnn.Evidence
	}
	parts := make([]bnn.Island, len(states))
	for i, st := range states {
		theta, logw := st.Ensemble()
		parts[i] = bnn.Island{Theta: theta, LogWeights: logw}
		if !r.Spec.beginsAtInit() {
			parts[i].LogEvidence = st.LogZ
		}
	}
	var err error
	r.Posterior, err = bnn.Combine(r.Net, parts, by)
	return err
}
