package starling

import (
	"context"
	"fmt"
	"io"
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
// and judges all of it on the test examples. With Options.Folder it keeps the run there: a run that was stopped, in
// whatever way, goes on where it was saved last when it is given the folder again (ResumeFolder), with the same result bit
// for bit, and one that is done is read back. Without a folder it writes no files.
//
// Errors are a *ConfigError for what the Spec says, a *DataError for what the data are, the context's if it ended, and
// otherwise name the part of the run that failed.
func Fit(ctx context.Context, spec Spec, o Options) (*Result, error) {
	spec, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	r, err := prepare(spec, o)
	if err != nil {
		return nil, err
	}
	if err := r.fits(o.Memory); err != nil {
		return nil, err
	}
	finished := false
	if o.Folder != nil {
		if finished, err = r.open(o); err != nil {
			return nil, err
		}
	}
	if finished {
		err = r.judge(ctx)
	} else {
		err = r.keep.close(r, r.work(ctx))
	}
	if err != nil {
		return nil, err
	}
	return &r.Result, nil
}

// work is all from the data to the result.
func (r *run) work(ctx context.Context) error {
	looked := r.evaluation // by other processes
	defer func() { r.worked = r.before + r.now().Sub(r.begun) - (r.evaluation - looked) }()
	if err := r.points(ctx); err != nil {
		return err
	}
	if err := r.sample(ctx); err != nil {
		return err
	}
	if err := r.judge(ctx); err != nil {
		return err
	}
	r.Finished = r.now()
	return nil
}

func (r *run) judge(ctx context.Context) (err error) {
	began := r.now()
	defer func() { r.evaluation += r.now().Sub(began) }()
	if r.Judgement, err = r.Spec.judge(ctx, &r.Ensembles, r.Data, r.pool); err != nil {
		return fmt.Errorf("evaluation: %w", err)
	}
	r.Metrics = r.Judgement.Metrics
	return nil
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

	keep   *keeper
	now    func() time.Time
	begun  time.Time     // this process's part of the work
	before time.Duration // that other processes spent on it
}

// prepare brings data, network and prior together.
func prepare(spec Spec, o Options) (*run, error) {
	r := &run{pool: pool.New(o.Threads), progress: o.Progress, now: o.clock()}
	if r.progress == nil {
		r.progress = func(Event) {}
	}
	r.begun = r.now()
	r.Spec, r.Started, r.threads = spec, r.begun, r.pool.Threads()
	var err error
	if r.Data, err = spec.load(o.DataDir, nil); err != nil {
		return nil, err
	}
	if r.Net, err = r.Spec.network(r.Data); err != nil {
		return nil, err
	}
	if r.model, err = nn.NewModel(r.Net, r.Data.Train, r.pool); err != nil {
		return nil, r.Spec.fault("model", "%v", err)
	}
	if m := spec.Method.SMC; m != nil && m.Move.Leapfrog != nil {
		if g, n := m.Move.Leapfrog.Gradient, r.Data.Train.Len(); g != nil && g.Batch >= n {
			return nil, r.Spec.fault("method.smc.move.leapfrog.gradient",
				"%d examples are not fewer than the %d to train on, whose own gradients cost less: leave it out, or take fewer", g.Batch, n)
		}
	}
	if r.Data.Schema.Dropped != nil {
		r.Notes = append(r.Notes, constants(r.Data.Schema))
	}
	if arrays := r.Spec.Data.Train; arrays != nil {
		if how := data.ChannelsLast(r.Data.Schema.Shape); how != "" {
			r.Notes = append(r.Notes, arrays.Inputs+": "+how)
		}
	}
	if zero := alwaysZero(r.Data.Schema); zero != "" {
		r.Notes = append(r.Notes, zero)
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
	search := baseline.MAP{
		Restarts: m.Restarts, Rate: m.Rate, Batch: m.Batch, Epochs: m.Epochs, Patience: m.Patience, Seed: r.Spec.Seed,
		First: r.init,
	}
	if k := r.keep; k != nil {
		search.Saved = k.restarts
		k.phase(&k.state.restarts, m.Restarts)
	}
	watch := newDescents(m, search.Saved, logScale(targetStandard(r.Data)), r.progress)
	search.Watch = func(s *baseline.Restart, e baseline.Epoch) error {
		watch.look(e.Restart, s)
		return r.keep.step(e.Restart, s, s.Done, s.Done)
	}
	result, err := search.Fit(ctx, r.Net, r.prior, r.Data.Train, r.Data.Validate, r.pool)
	if result != nil {
		err = r.keep.rest(err, func(i int) io.WriterTo {
			if s := result.Restarts[i]; s != nil {
				return s
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	result.Restarts = nil // what they came to is in Theta
	r.search = result
	r.Chosen = r.search.Chosen
	for _, nll := range r.search.NLL {
		r.NLL = append(r.NLL, nll+logScale(targetStandard(r.Data)))
	}
	r.Restarts, err = r.search.Ensemble()
	return err
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
	watch := newWatch(ctx, r, samplers)
	var saved []*smc.State
	if k := r.keep; k != nil {
		saved = k.islands
		k.phase(&k.state.islands, len(samplers))
	}
	states, err := smc.RunIslands(ctx, r.pool, samplers, saved, watch.look)
	r.evaluation += watch.aside
	if states != nil {
		err = r.keep.rest(err, func(i int) io.WriterTo {
			if st := states[i]; st != nil && st.K == watch.islands[i].info.K { // else its line of the trace is missing
				return st
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	r.Notes = append(r.Notes, r.chains(states)...)
	r.Notes = append(r.Notes, r.health()...)
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
	r, err := prepare(spec, o)
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
		by = bnn.Evidence{}
	}
	parts := make([]bnn.Island, len(states))
	for i, st := range states {
		theta, logw := st.Ensemble()
		parts[i] = bnn.Island{Theta: theta, LogWeights: logw}
		if r.Spec.estimatesEvidence() {
			parts[i].LogEvidence = st.LogZ
		}
	}
	var err error
	r.Posterior, err = bnn.Combine(r.Net, parts, by)
	return err
}
