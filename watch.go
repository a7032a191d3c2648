package starling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// watch keeps the trace and tells of progress, iteration by iteration. Islands come at the same time: they are scored on
// their own and take turns only to leave what they have.
type watch struct {
	ctx       context.Context // of scoring: it goes on to the end of an iteration when the run is stopped
	run       *run
	particles int
	turn      sync.Mutex // for the run's trace and progress, and for
	islands   []standing
	paused    int           // of them, that are at the test examples
	since     time.Time     // they are
	aside     time.Duration // that went into this
}

// standing is how far an island is.
type standing struct {
	info  smc.Info
	first float64 // λ of the first iteration
}

// newWatch takes up the trace where others left it.
func newWatch(ctx context.Context, r *run, samplers []*smc.Sampler) *watch {
	w := &watch{ctx: context.WithoutCancel(ctx), run: r, particles: samplers[0].Particles, islands: make([]standing, len(samplers))}
	for _, l := range r.Trace {
		p := &w.islands[l.Island]
		if l.K == 1 {
			p.first = l.Temperature
		}
		p.info = smc.Info{
			Island: l.Island, K: l.K, Progress: l.Progress, Lambda: l.Temperature, Examples: l.Examples, ESS: l.ESS,
			Acceptance: l.Acceptance, Step: l.Step, Ancestors: l.Ancestors, Epochs: l.Epochs,
		}
	}
	return w
}

func (w *watch) look(st *smc.State, info smc.Info) error {
	line := TraceLine{
		Island: info.Island, K: info.K, Progress: info.Progress, Epochs: info.Epochs,
		Examples: info.Examples, Settled: info.Settled, Temperature: info.Lambda,
		ESS: info.ESS, LogWeightVar: uq.Number(info.LogWeightVar), Dead: info.Dead,
		Resampled: info.Resampled, Ancestors: info.Ancestors, Parents: info.Parents,
		Mutations: info.Mutations, Acceptance: info.Acceptance, Step: info.Step, EnergySD: info.EnergySpread, Broken: info.Broken,
		Gradients: info.Gradients, Values: info.Values, Seconds: w.seconds(),
	}
	if w.run.Spec.estimatesEvidence() {
		line.LogEvidence = uq.Number(info.LogZ)
	}
	line.LogLikelihood = uq.Number(logLikelihood(st))
	if err := w.validate(st, &line); err != nil {
		return err
	}
	if err := w.test(st, info, &line); err != nil {
		return err
	}
	if err := w.leave(line, info); err != nil {
		return err
	}
	return w.run.keep.step(info.Island, st, info.Progress >= 1, false)
}

// logLikelihood is the mean over the living: what a dead particle remembers may be undefined.
func logLikelihood(st *smc.State) (mean float64) {
	var living []float64
	for j, l := range st.LL {
		if !math.IsInf(st.LogW[j], -1) {
			living = append(living, l)
		}
	}
	for _, l := range living {
		mean += l / float64(len(living))
	}
	return mean
}

// leave keeps what there is to see of an iteration.
func (w *watch) leave(line TraceLine, info smc.Info) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	if err := w.run.keep.line(line); err != nil {
		return err
	}
	w.run.Trace = append(w.run.Trace, line)
	w.settle()
	p := &w.islands[info.Island]
	if p.info = info; info.K == 1 {
		p.first = info.Lambda
	}
	w.run.progress(w.event())
	return nil
}

// validate scores the particles as they are on the validation examples.
func (w *watch) validate(st *smc.State, line *TraceLine) error {
	if w.run.Data.Validate == nil {
		return nil
	}
	var err error
	line.ValNLL, line.ValAccuracy, err = w.score(st, w.run.Data.Validate)
	return err
}

// test scores them on the test examples now and then, where a path of batches has no validation examples to be followed
// by. This is for looking only: nothing is decided by it, and its time is no time of the sampler's.
func (w *watch) test(st *smc.State, info smc.Info, line *TraceLine) error {
	m, d := w.run.Spec.Method.SMC, w.run.Data
	if m == nil || m.Path.Tempering != nil || d.Validate != nil || d.Test == nil || info.K%TestedEvery != 0 && info.Progress < 1 {
		return nil
	}
	w.pause(1)
	defer w.pause(-1)
	var err error
	line.TestNLL, line.TestAccuracy, err = w.score(st, d.Test)
	return err
}

// score is what the particles are worth together, by their weights; a regression has no accuracy.
func (w *watch) score(st *smc.State, set *data.Set) (nll, accuracy *uq.Number, err error) {
	e, err := bnn.Combine(w.run.Net, []bnn.Island{{Theta: st.Theta, LogWeights: st.LogW}}, bnn.Equal{})
	if err != nil {
		return nil, nil, err
	}
	value, accuracy, err := validation(w.ctx, e, set, w.run.Data, w.run.pool)
	return &value, accuracy, err
}

// pause notes that so many more islands are at the test examples; −1: that one is back.
func (w *watch) pause(more int) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.settle()
	w.paused += more
}

// seconds are those of sampling so far, those of other processes included.
func (w *watch) seconds() float64 {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.settle()
	return (w.run.before + w.since.Sub(w.run.begun) - w.aside).Seconds()
}

// settle divides the time up to now: islands that run share the threads evenly, so what those take that look at the test
// examples is their share of it.
func (w *watch) settle() {
	now := w.run.now()
	if w.paused > 0 {
		ended := 0
		for _, p := range w.islands {
			if p.info.Progress >= 1 {
				ended++
			}
		}
		running := min(len(w.islands)-ended, w.run.pool.Threads())
		w.aside += now.Sub(w.since) * time.Duration(w.paused) / time.Duration(running)
	}
	w.since = now
}

func (w *watch) event() *Sampling {
	e := &Sampling{Islands: len(w.islands), Particles: w.particles, Share: w.share(), Temperature: 1}
	for _, p := range w.islands {
		e.Epochs += p.info.Epochs / float64(e.Islands)
		if p.info.Progress >= 1 {
			e.Done++
		}
	}
	// What runs now is of interest; between two islands, what ran last.
	running := slices.ContainsFunc(w.islands, standing.running)
	shown := 0.0
	for _, p := range w.islands {
		i := p.info
		if i.K == 0 || running && !p.running() {
			continue
		}
		shown++
		e.Temperature = min(e.Temperature, w.run.power(i))
		e.Iteration += float64(i.K)
		e.Examples += float64(i.Examples)
		e.ESS += i.ESS
		e.Acceptance += i.Acceptance
		e.Step += i.Step
		e.Ancestors += float64(i.Ancestors)
	}
	e.Iteration /= shown
	e.Examples /= shown
	e.ESS /= shown
	e.Acceptance /= shown
	e.Step /= shown
	e.Ancestors /= shown
	return e
}

// power is λ without the scale that lets the examples of smooth annealing that have come in stand for all.
func (r *run) power(info smc.Info) float64 {
	if m := r.Spec.Method.SMC; m == nil || m.Path.SDA == nil || !m.Path.SDA.Scale {
		return info.Lambda
	}
	return info.Lambda * float64(info.Examples) / float64(r.Data.Train.Len())
}

func (p standing) running() bool { return p.info.K > 0 && p.info.Progress < 1 }

// share is the part of the work that is done. Chains know it. Of tempering only the iterations so far are known, and
// that temperatures grow about geometrically: an island at λ_k has log(1/λ_k) to go at the mean pace since λ_1. One that
// has not begun takes as long as the others on average.
func (w *watch) share() float64 {
	m := w.run.Spec.Method.SMC
	if m == nil || m.Path.Tempering == nil {
		sum := 0.0
		for _, p := range w.islands {
			sum += w.run.workDone(p.info)
		}
		return sum / float64(len(w.islands))
	}
	var done, total, begun float64
	for _, p := range w.islands {
		k, lambda := float64(p.info.K), p.info.Lambda
		if k == 0 {
			continue
		}
		begun++
		done += k
		total += k
		if k > 1 {
			total += (k - 1) * math.Log(1/lambda) / math.Log(lambda/p.first)
		} else if lambda < 1 {
			total += 9 // a guess that the next iteration corrects
		}
	}
	return done / (total * float64(len(w.islands)) / begun)
}

// workDone is the share of an island's work that is done. Where a schedule says how many examples an iteration sees, it
// costs as many.
func (r *run) workDone(info smc.Info) float64 {
	m := r.Spec.Method.SMC
	if m == nil {
		return info.Progress
	}
	path := m.path()
	if warm, ok := path.(smc.Warm); ok {
		path = warm.Then
	}
	schedule, ok := path.(smc.Schedule)
	if !ok {
		return info.Progress
	}
	var done, all float64
	made := int(math.Round(info.Progress * float64(schedule.Iterations)))
	for k := range schedule.Iterations {
		if k == made {
			done = all
		}
		all += float64(schedule.Size(k, r.Data.Train.Len()))
	}
	if made >= schedule.Iterations {
		return 1
	}
	return done / all
}

// chains notes where the chains end and how many of their moves they accepted after their step was frozen, and which of
// them hardly moved.
func (r *run) chains(states []*smc.State) (notes []string) {
	if r.Spec.Method.MCMC == nil {
		return nil
	}
	n := len(states)
	moves, acceptance, end := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, line := range r.Trace {
		if 2*line.Epochs > float64(r.Spec.Method.MCMC.Epochs) {
			moves[line.Island]++
			acceptance[line.Island] += line.Acceptance
		}
	}
	for c, st := range states {
		acceptance[c] /= moves[c]
		end[c] = st.LL[0]
	}
	notes = append(notes, fmt.Sprintf("chains end at log-likelihoods of %.1f to %.1f; they accepted %.2f to %.2f of their moves in the second half",
		slices.Min(end), slices.Max(end), slices.Min(acceptance), slices.Max(acceptance)))
	const hardly = 0.1
	for c, a := range acceptance {
		if a < hardly {
			notes = append(notes, fmt.Sprintf(
				"chain %d is stuck: it accepted %.2f of its moves in the second half and ends at log-likelihood %.1f", c, a, end[c]))
		}
	}
	return notes
}
