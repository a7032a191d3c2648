package nn

import (
	"context"
	"fmt"
	"sync"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/regular"
)

const (
	learnedBlock = 32              // particles of a task of the gradient of ψ
	negligible   = 1.0 / (1 << 30) // share of the weights below which a particle adds less than rounding errors
)

// LearnedGradient sets grad, of length Learned, to
//
//	Σ_j weights[j] ∇_ψ Σ_{i in rows} log p(y_i | x_i, θ_j, ψ)
//
// (guided-open-horizon-smc, sections 2 and 3.2). rows and theta are as in LogLik; weights are not negative. Particles
// with less than 2⁻³⁰ of the weights are left out. A particle has no gradient of its own: each product of the backward pass adds
// to one sum, weighted by the particle, and layers before the first random one run backward once a tile. Errors are those of
// LogLik.
func (m *Model) LearnedGradient(ctx context.Context, rows []int32, theta, weights, grad []float64) (err error) {
	defer regular.Caught(&err)
	d := m.net.dim
	if len(theta) != len(weights)*d || len(grad) != m.net.learned {
		panic(fmt.Sprintf("nn: LearnedGradient: %d parameters, %d weights, a gradient of %d for D = %d and %d learned",
			len(theta), len(weights), len(grad), d, m.net.learned))
	}
	if m.set.Labels == nil && m.set.Values == nil {
		return fmt.Errorf("data set %q has no targets", m.set.Name)
	}
	n, err := m.count(rows)
	if err != nil {
		return err
	}
	clear(grad)
	l := newLearning(m, rows, n, theta, weights, grad)
	if l.particles == nil {
		return ctx.Err()
	}
	tasks := l.blocks * ((n + tileExamples - 1) / tileExamples)
	m.pool.Run(tasks, func(i int) {
		if ctx.Err() == nil {
			l.add(i, l.task(i/l.blocks, i%l.blocks))
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if p := m.prog.likelihood; p.role == RoleLearned {
		l.finish(grad[p.at:])
	}
	return nil
}

// learning is one call of LearnedGradient. A task is a tile for a block of particles: both are cut by the data alone, and the sums
// of tasks are added in their order, so that threads have no influence.
type learning struct {
	m              *Model
	rows           []int32
	n              int
	theta, weights []float64
	grad           []float64
	particles      []int // whose weight is not negligible
	block, blocks  int

	mu    sync.Mutex
	next  int // the task whose sums come next
	ready map[int]*partial
	ll    float64 // Σ_j W_j log-likelihood of particle j
}

func newLearning(m *Model, rows []int32, n int, theta, weights, grad []float64) *learning {
	l := &learning{m: m, rows: rows, n: n, theta: theta, weights: weights, grad: grad, ready: map[int]*partial{}}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for j, w := range weights {
		if w > float64(sum*negligible) {
			l.particles = append(l.particles, j)
		}
	}
	if l.block = learnedBlock; m.prog.heavy() {
		l.block = max(1, len(l.particles)) // so that the layers which particles share run once a tile
	}
	l.blocks = (len(l.particles) + l.block - 1) / l.block
	return l
}

// task is the sums over a tile for a block of particles.
func (l *learning) task(tile, block int) *partial {
	m, p, d := l.m, l.m.prog, l.m.net.dim
	some := l.particles[block*l.block : min((block+1)*l.block, len(l.particles))]
	sums := p.spare.partial()
	sums.theta, sums.grads = sized(sums.theta, len(some)*d), sized(sums.grads, p.psi.size)
	sums.ll, sums.own = zeroed(sums.ll, len(some)), zeroed(sums.own, m.net.learned)
	sums.grad = sums.own
	clear(sums.grads)
	shares := make([]float32, len(some))
	for i, j := range some {
		lanes.Float32s(sums.theta[i*d:][:d], l.theta[j*d:][:d])
		shares[i] = float32(l.weights[j])
	}
	t := p.spare.tape(p)
	defer p.spare.returnTape(t)
	t.use(sums.theta, m.psi, m.net.constants)
	t.psi, t.shares = sums.grads, shares
	at := tile * tileExamples
	m.load(t, nil, l.rows, at, min(tileExamples, l.n-at))
	m.net.lik.loadTargets(t, m.set)
	for t.first = 0; t.first < len(some); t.first += t.batch {
		t.batch = min(p.batch, len(some)-t.first)
		p.pass(t, true, func(g0, g1 int) { m.loss(t, g0, g1, true) })
		t.sumLogLik(sums.ll)
	}
	p.backwardShared(t)
	p.psi.flush(sums.grads, sums.grad)
	for i, j := range some { // the first of ll is their weighted sum
		if ll := float64(l.weights[j] * sums.ll[i]); i == 0 {
			sums.ll[0] = ll
		} else {
			sums.ll[0] += ll
		}
	}
	return sums
}

// add puts the sums of a task into the result, after all tasks before it.
func (l *learning) add(task int, sums *partial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready[task] = sums
	for {
		s, ok := l.ready[l.next]
		if !ok {
			return
		}
		delete(l.ready, l.next)
		l.next++
		for i, g := range s.grad {
			l.grad[i] += g
		}
		l.ll += s.ll[0]
		l.m.prog.spare.returnPartial(s)
	}
}

// finish sets the gradient of the likelihood's own parameter, if it is learned: a function of the log-likelihoods that is linear
// in them, apart from a constant.
func (l *learning) finish(grad []float64) {
	sum := 0.0
	for _, j := range l.particles {
		sum += l.weights[j]
	}
	one := [1]float64{float64(l.m.psi[l.m.prog.likelihood.at])}
	l.m.net.lik.finish(l.ll/sum, one[:], grad[:1], l.n, l.m.net.Outputs())
	grad[0] *= sum
}
