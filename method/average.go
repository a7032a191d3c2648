package method

import (
	"context"
	"fmt"
	"io"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// average is one trajectory of Averaging: a part of a run whose steps are epochs. After the warm-up it updates mean and squares by
// every snapshot θ_t (Welford 1962),
//
//	δ = θ_t − mean        mean ← mean + δ/t        squares ← squares + δ·(θ_t − mean)
//
// so that squares/t is the second moment minus the squared mean of Maddox et al. (2019), section 3.2, without their
// cancellation. The last rank snapshots keep their deviations θ_t − mean from the running mean at that time.
type average struct {
	Averaging
	*search
	member int
	start  []float64 // where it begins: a restart's result
	rank   int       // snapshots whose deviations are kept

	draw          func(a *average, k int) []float64 // draw k of the Gaussian of the snapshots, a whole network; nil: nothing is drawn
	draws, random int                               // their number, and that of the parameters that they differ in

	averaged
	work   *buffers // while the trajectory is at work, else nil
	before averaged // parameters and momentum as an epoch changes them
}

// averaged is the complete state of a trajectory.
type averaged struct {
	Epochs     int // made so far, the warm-up's included
	Theta      []float64
	Moments    nn.Moments
	Mean       []float64 // of the snapshots
	Squares    []float64 // sum of their squared deviations
	Deviations []float64 // of the last snapshots, at most rank×D; snapshot t is at t mod rank
	Spread     float64   // of the draws, after the last epoch, as measure says
}

var (
	_ runs.Part = (*average)(nil)
	_ worker    = (*average)(nil)
)

// Done reports whether all snapshots are taken.
func (a *average) Done() bool { return a.Epochs == a.epochs() }

// K is the number of epochs made.
func (a *average) K() int { return a.Epochs }

// spent counts a gradient of every example an epoch, and a value at the end.
func (a *average) spent() eval.Work {
	n := a.train.Examples()
	return eval.Work{Gradients: a.Epochs * n, Values: n}
}

// Step makes one epoch. It leaves no line in the trace.
func (a *average) Step(ctx context.Context) (runs.Line, error) {
	if a.work == nil {
		w := a.newBuffers()
		a.work = &w
	}
	if a.Theta == nil {
		a.Theta = append([]float64(nil), a.start...)
	}
	now := &a.before
	now.Theta = append(now.Theta[:0], a.Theta...)
	now.Moments = nn.Moments{Steps: a.Moments.Steps, First: append(now.Moments.First[:0], a.Moments.First...)}
	if err := a.epoch(ctx, now.Theta, &now.Moments); err != nil {
		return runs.Line{}, fmt.Errorf("member %d, epoch %d: %w", a.member, a.Epochs+1, err)
	}
	if a.Epochs+1 == a.epochs() && a.draw != nil {
		end := a.after(now.Theta)
		if err := end.measure(ctx); err != nil {
			return runs.Line{}, fmt.Errorf("member %d: %w", a.member, err)
		}
		a.Spread = end.Spread
	}
	a.Theta, now.Theta = now.Theta, a.Theta
	a.Moments, now.Moments = now.Moments, a.Moments
	a.Epochs++
	if t := a.taken(); t > 0 {
		a.snapshot(t)
	}
	if a.Done() {
		a.work, a.before = nil, averaged{}
	}
	return runs.Line{}, nil
}

// epoch makes an epoch from the present state. A last epoch that leads to parameters without a finite log-likelihood is an error;
// otherwise the next epoch says so.
func (a *average) epoch(ctx context.Context, theta []float64, m *nn.Moments) error {
	key := a.key(rng.Batch, a.member, a.search.Epochs+a.Epochs+1) // the orders after those of the restarts
	_, err := a.pass(ctx, a.work, key, nn.SGD{Momentum: a.Momentum}, m, theta, a.Averaging.Rate)
	if err != nil || a.Epochs+1 < a.epochs() {
		return err
	}
	if err := a.train.LogLik(ctx, nil, theta, a.work.ll[:], nil); err != nil {
		return err
	}
	return finite("log-likelihood at the end", a.work.ll[0], a.Averaging.Rate)
}

// taken is the number of snapshots.
func (a *average) taken() int { return max(0, a.Epochs-a.Warmup) }

// snapshot takes the present parameters as snapshot t, counted from 1.
func (a *average) snapshot(t int) {
	d := len(a.Theta)
	if a.Mean == nil {
		a.Mean, a.Squares = make([]float64, d), make([]float64, d)
	}
	per := 1 / float64(t)
	for i, x := range a.Theta {
		from := x - a.Mean[i]
		a.Mean[i] += float64(from * per)
		a.Squares[i] += float64(from * (x - a.Mean[i]))
	}
	if a.rank == 0 {
		return
	}
	if len(a.Deviations) < a.rank*d {
		a.Deviations = append(a.Deviations, make([]float64, d)...)
	}
	at := (t - 1) % a.rank * d
	for i, x := range a.Theta {
		a.Deviations[at+i] = x - a.Mean[i]
	}
}

// divide returns what SWAG draws θ from, and the mean of ψ; nil where nothing is learned.
func (a *average) divide(job *Job) (random *averaged, shared []float64) {
	random = new(averaged)
	random.Squares, _ = job.divide(a.Squares)
	random.Deviations, _ = job.divide(a.Deviations)
	random.Mean, shared = job.divide(a.Mean)
	return random, shared
}

const averageKind = "method.Average/2"

// WriteTo packs the state. Errors are those of w.
func (s *averaged) WriteTo(w io.Writer) (int64, error) {
	e := ckpt.NewEncoder(averageKind)
	e.Ints("epochs", s.Epochs, s.Moments.Steps)
	e.Float64s("theta", s.Theta)
	e.Float64s("momentum", s.Moments.First)
	e.Float64s("mean", s.Mean)
	e.Float64s("squares", s.Squares)
	e.Float64s("deviations", s.Deviations)
	e.Float64s("spread", []float64{s.Spread})
	return e.WriteTo(w)
}

// UnmarshalBinary is the inverse of WriteTo. It refuses a state of another network, or of other settings.
func (a *average) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, averageKind)
	if err != nil {
		return err
	}
	var s averaged
	d.Ints("epochs", &s.Epochs, &s.Moments.Steps)
	s.Theta, s.Moments.First = d.Float64s("theta"), d.Float64s("momentum")
	s.Mean, s.Squares, s.Deviations = d.Float64s("mean"), d.Float64s("squares"), d.Float64s("deviations")
	spread := d.Float64s("spread")
	if len(spread) != 1 {
		d.Fail("%d spreads, want 1", len(spread))
	}
	if err := d.Err(); err != nil {
		return err
	}
	s.Spread = spread[0]
	was := a.averaged
	a.averaged = s
	if err := a.fits(); err != nil {
		a.averaged = was
		return err
	}
	return nil
}

// fits refuses a state that this trajectory cannot have.
func (a *average) fits() error {
	dim, some := a.train.Dim(), min(1, a.taken())
	for _, v := range []struct {
		name string
		have []float64
		want int
	}{
		{"parameters", a.Theta, 1}, {"momenta", a.Moments.First, len(a.Moments.First) / max(1, dim)}, {"means", a.Mean, some},
		{"squares", a.Squares, some}, {"deviations", a.Deviations, min(a.rank, a.taken())},
	} {
		if len(v.have) != v.want*dim {
			return fmt.Errorf("a trajectory of %d epochs with %d %s, want %d", a.Epochs, len(v.have), v.name, v.want*dim)
		}
	}
	if a.Epochs < 0 || a.Epochs > a.epochs() {
		return fmt.Errorf("a trajectory of %d epochs, at most %d are made", a.Epochs, a.epochs())
	}
	return nil
}
