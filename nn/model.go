package nn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
)

// Model scores parameter vectors of a network against the examples of a data set. It is safe for concurrent use.
type Model struct {
	net      *Net
	set      *data.Set
	single   []float32       // the set's inputs, if they are float32
	half     []lanes.Float16 // or of 16 bits
	channels []lanes.Channel // of the set
	standard *lanes.Standard // of the set's features; nil: they are as they are
	augment  *data.Augment   // what becomes of images in a training step; nil: nothing
	pool     *Pool
	prog     *program
	psi      []float32 // ψ, zeros unless At has set it
}

// Pool bounds the threads that models, samplers and predictions given the same pool use together.
type Pool = pool.Pool

// NewPool returns a pool of the given number of threads; 0 means one for each CPU.
func NewPool(threads int) *Pool { return pool.New(threads) }

// NewModel joins a network and a data set. The set must have the network's input shape (up to flattening) and
// the targets that its likelihood needs; a set without targets serves Outputs only. Work runs on the pool; nil means a
// pool of the model's own with a thread for each CPU.
func NewModel(net *Net, set *data.Set, p *Pool) (*Model, error) {
	if p == nil {
		p = NewPool(0)
	}
	if err := lanes.KernelError(); err != nil {
		return nil, err
	}
	if err := set.Check(); err != nil {
		return nil, err
	}
	if net.features() != set.Features() || len(set.Shape) == 3 && len(net.input) == 3 && !slices.Equal(set.Shape, net.input) {
		return nil, fmt.Errorf("data set %q has examples of shape %v, the network takes %v", set.Name, set.Shape, net.input)
	}
	if set.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("data set %q has %d examples, a model takes at most %d: train on a part of it", set.Name, set.Len(), math.MaxInt32)
	}
	if set.Labels != nil || set.Values != nil {
		if err := net.lik.checkTargets(set, net.Outputs()); err != nil {
			return nil, err
		}
	}
	if err := net.Takes(set); err != nil {
		return nil, err
	}
	if net.numConstants > net.frozen && net.constants == nil {
		return nil, errors.New(needsStatistics)
	}
	m := &Model{net: net, set: set, single: set.F32, half: set.F16, channels: channelsOf(set), pool: p, prog: net.program(), psi: make([]float32, net.learned)}
	if set.Stored != nil {
		m.single, m.half = set.Stored.Single, set.Stored.Half
	}
	if s := set.Inputs; s != nil {
		m.standard = &lanes.Standard{Mean: s.Mean, SD: s.SD, To: s.To}
	}
	return m, nil
}

// channelsOf returns how the inputs of a set are taken.
func channelsOf(set *data.Set) []lanes.Channel {
	if set.Channels == nil {
		return lanes.AsIs
	}
	channels := make([]lanes.Channel, len(set.Channels.Mean))
	for c, sd := range set.Channels.SD {
		channels[c].Mean = float32(set.Channels.Mean[c])
		if sd > 0 {
			channels[c].Factor = float32(1 / sd)
		}
	}
	return channels
}

// At returns the model at other values of ψ, the parameters that particles share.
func (m *Model) At(psi []float64) *Model {
	if len(psi) != m.net.learned {
		panic(fmt.Sprintf("nn: At: %d shared parameters for a network that learns %d", len(psi), m.net.learned))
	}
	at := *m
	at.psi = make([]float32, len(psi))
	lanes.Float32s(at.psi, psi)
	return &at
}

// With returns the model of the same network with other constants (Net.With).
func (m *Model) With(net *Net) *Model {
	if net.compiled != m.net.compiled {
		panic("nn: With: another network")
	}
	with := *m
	with.net = net
	return &with
}

// Learned is the length of ψ.
func (m *Model) Learned() int { return m.net.learned }

// Net is the model's network.
func (m *Model) Net() *Net { return m.net }

// Name names θ_i, as in "2.weight[0, 3]".
func (m *Model) Name(i int) string { return m.net.RandomName(i) }

// Dim returns D, the number of parameters in θ.
func (m *Model) Dim() int { return m.net.dim }

// Examples is N, the number of examples.
func (m *Model) Examples() int { return m.set.Len() }

// LogLik sets ll[j] = Σ_{i in rows} log p(y_i | x_i, θ_j), in nats, for the J particles θ_j = theta[j·D:(j+1)·D], and, if
// grad is not nil, grad[j·D:(j+1)·D] to its gradient. rows are indices of examples in the order of summation, nil for
// all. The result depends neither on the number of threads nor on the other particles of the call. An error names a bad
// row, is that of a file which was changed (data.Set.Stored), or is the error of ctx.
func (m *Model) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	return m.logLik(ctx, nil, rows, theta, ll, grad)
}

// LogLikSeen is LogLik in a training step: dropout layers mask their inputs, each example's by a mask of its own, and images are changed if
// the model is that of a problem with data.Augment. All particles of a call see the same. It is LogLik if there is nothing to mask or change.
func (m *Model) LogLikSeen(ctx context.Context, view View, rows []int32, theta, ll, grad []float64) error {
	training := *m
	training.prog = m.net.training()
	return training.logLik(ctx, &view, rows, theta, ll, grad)
}

// logLik is LogLik of the model's program, as a training step sees the examples or, if view is nil, as they are.
func (m *Model) logLik(ctx context.Context, view *View, rows []int32, theta, ll, grad []float64) (err error) {
	defer regular.Caught(&err)
	d := m.net.dim
	j := len(theta) / d
	if len(theta) != j*d || len(ll) != j || grad != nil && len(grad) != j*d {
		panic(fmt.Sprintf("nn: LogLik: %d parameters, %d values, %d gradients for D = %d", len(theta), len(ll), len(grad), d))
	}
	if m.set.Labels == nil && m.set.Values == nil {
		return fmt.Errorf("data set %q has no targets", m.set.Name)
	}
	n, err := m.count(rows)
	if err != nil {
		return err
	}
	run := newReduction(m, n, theta, ll, grad)
	run.each(ctx, func(t *tape, first, count int) {
		m.load(t, view, rows, first, count)
		m.net.lik.loadTargets(t, m.set)
	}, nil)
	return ctx.Err()
}

// Outputs sets out[(j·n+i)·K+k] to output k (a logit, or a mean) of particle j for the i-th of n examples: rows, or all
// if nil.
func (m *Model) Outputs(ctx context.Context, rows []int32, theta []float64, out []float32) (err error) {
	defer regular.Caught(&err)
	n, err := m.count(rows)
	if err != nil {
		return err
	}
	d, k := m.net.dim, m.net.Outputs()
	j := len(theta) / d
	if len(theta) != j*d || len(out) != j*n*k {
		panic(fmt.Sprintf("nn: Outputs: %d parameters, %d outputs for D = %d, n = %d, K = %d", len(theta), len(out), d, n, k))
	}
	run := newReduction(m, n, theta, nil, nil)
	run.each(ctx, func(t *tape, first, count int) { m.load(t, nil, rows, first, count) }, func(t *tape, particle, first, from, to int) {
		for b := range t.batch {
			for i := from; i < to; i++ {
				z := t.out(m.prog.out, i/lanes.Lanes, b)
				to := out[((particle+b)*n+first+i)*k:][:k]
				for o := range to {
					to[o] = z[o*lanes.Lanes+i%lanes.Lanes]
				}
			}
		}
	})
	return ctx.Err()
}

// count checks the rows and returns their number.
func (m *Model) count(rows []int32) (int, error) {
	n := m.set.Len()
	if m.net.numConstants > 0 && m.net.constants == nil {
		return 0, errors.New("the network has frozen layers, and nobody has said their values (nn.Net.With)")
	}
	if rows == nil {
		return n, nil
	}
	for i, r := range rows {
		if r < 0 || int(r) >= n {
			return 0, fmt.Errorf("row %d of the batch is example %d: data set %q has %d", i, r, m.set.Name, n)
		}
	}
	return len(rows), nil
}

// load copies n examples into the tile's lanes and runs the ops that all particles share. The lanes after the last example
// repeat it, so that they cannot overflow where the example does not; their gradients are masked. view is as in logLik.
func (m *Model) load(t *tape, view *View, rows []int32, first, n int) {
	t.groups = (n + lanes.Lanes - 1) / lanes.Lanes
	t.valid = n - (t.groups-1)*lanes.Lanes
	for lane := range t.groups * lanes.Lanes {
		t.examples[lane] = exampleAt(rows, first+min(lane, n-1))
	}
	t.draw(view, m.net.drops)
	if stored := m.set.Stored; stored != nil {
		m.set.Prefetch(t.examples[:n])
		stored.Reading(func() { m.loadInputs(t, view) })
	} else {
		m.loadInputs(t, view)
	}
	m.prog.prepare(t)
}

// loadInputs puts the inputs of the tile's examples side by side, as the network sees them.
func (m *Model) loadInputs(t *tape, view *View) {
	for g := range t.groups {
		x, examples := t.out(m.prog.in, g, 0), (*[lanes.Lanes]int)(t.examples[g*lanes.Lanes:])
		var start [lanes.Lanes]int
		switch {
		case m.set.U8 != nil:
			from := inputs(m.set.U8, nil, m.set.Shape, examples, m.augment, view, &t.pixels, &start)
			m.prog.load.U8(from, &start, m.channels, x)
		case m.half != nil:
			from := inputs(m.half, m.set.At, m.set.Shape, examples, m.augment, view, &t.halves, &start)
			m.prog.load.F16(from, &start, m.channels, x)
		default:
			from := inputs(m.single, m.set.At, m.set.Shape, examples, m.augment, view, &t.floats, &start)
			m.prog.load.F32(from, &start, m.channels, x)
		}
		if m.standard != nil {
			m.prog.load.Standardise(m.standard, x)
		}
	}
}

// loss sets the log-likelihood of every lane of groups g0 ≤ g < g1 and, if grad, the gradient of the outputs.
func (m *Model) loss(t *tape, g0, g1 int, grad bool) {
	p, k := t.prog, m.net.Outputs()
	for g := g0; g < g1; g++ {
		z := t.from(p.out, g, 0)[:t.batch*k*lanes.Lanes]
		ll := t.ll[g*p.batch*lanes.Lanes:][:t.batch*lanes.Lanes]
		var dz []float32
		if grad {
			dz = t.dyFrom(p.out, g, 0)[:len(z)]
		}
		m.net.lik.logLik(t, g, z, ll, dz)
		if grad && p.out.relu {
			lanes.ReLUBackward(z, dz, dz)
		}
		if grad && g == t.groups-1 && t.valid < lanes.Lanes {
			lanes.MaskLanes(dz, t.valid)
		}
	}
}
