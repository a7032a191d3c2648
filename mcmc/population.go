package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/pool"
)

// Population holds J particles, with the values evaluated at their positions. Matrices are row-major J×D.
type Population struct {
	J, D   int
	Theta  []float64 // J×D
	LL     []float64 // J, log-likelihood l(θ_j) in nats
	GradLL []float64 // J×D, its gradient; nil where the moves need none
	LP     []float64 // J, log-prior

	// For paths that anneal examples in: the log-likelihood of annealed examples, and its gradient. LL is then of the other
	// examples.
	AnnealedLL   []float64 // J
	AnnealedGrad []float64 // J×D

	Momentum []float64 // J×D, kept from move to move; nil where moves draw momenta anew

	Fold []int32 // J, the fold of each particle's parent when its stage began, from 0: it moves by what the other folds taught
}

// NewPopulation allocates a population of J particles in D dimensions that carries what a move needs.
func NewPopulation(j, d int, needs Needs) Population {
	p := Population{J: j, D: d, Theta: make([]float64, j*d), LL: make([]float64, j), LP: make([]float64, j), Fold: make([]int32, j)}
	if needs.Gradient {
		p.GradLL = make([]float64, j*d)
	}
	if needs.Momentum {
		p.Momentum = make([]float64, j*d)
	}
	return p
}

// Needs lists the values that p carries.
func (p *Population) Needs() Needs {
	return Needs{Gradient: p.GradLL != nil, Momentum: p.Momentum != nil}
}

// CarryAnnealed allocates the contribution of examples that are annealed in.
func (p *Population) CarryAnnealed() {
	p.AnnealedLL = make([]float64, p.J)
	if p.GradLL != nil {
		p.AnnealedGrad = make([]float64, p.J*p.D)
	}
}

// Blank allocates a population of the shape of p.
func (p *Population) Blank() Population { return p.blank(p.J) }

// blank allocates a population of j particles that carries what p carries.
func (p *Population) blank(j int) Population {
	q := NewPopulation(j, p.D, p.Needs())
	if p.AnnealedLL != nil {
		q.CarryAnnealed()
	}
	return q
}

// Like reports whether p has the shape of q.
func (p *Population) Like(q *Population) bool {
	return p.J == q.J && p.D == q.D && p.Needs() == q.Needs() && (p.AnnealedLL == nil) == (q.AnnealedLL == nil)
}

// LogLik returns the logarithm of particle j's likelihood where Rows have the power λ and examples that are annealed in the
// power μ: λ·l(θ_j) + μ·a(θ_j).
func (p *Population) LogLik(lambda, mu float64, j int) float64 {
	l := Power(lambda, p.LL[j])
	if p.AnnealedLL != nil {
		l += Power(mu, p.AnnealedLL[j])
	}
	return l
}

// row returns particle j's row of a J×D matrix; nil of nil.
func (p *Population) row(m []float64, j int) []float64 {
	if m == nil {
		return nil
	}
	return m[j*p.D : (j+1)*p.D : (j+1)*p.D]
}

// Set makes particle j of p a copy of particle i of q, with all values that p carries at a position. Its fold stays.
func (p *Population) Set(j int, q *Population, i int) {
	copy(p.row(p.Theta, j), q.row(q.Theta, i))
	copy(p.row(p.GradLL, j), q.row(q.GradLL, i))
	copy(p.row(p.AnnealedGrad, j), q.row(q.AnnealedGrad, i))
	copy(p.row(p.Momentum, j), q.row(q.Momentum, i))
	p.LL[j], p.LP[j] = q.LL[i], q.LP[i]
	if p.AnnealedLL != nil {
		p.AnnealedLL[j] = q.AnnealedLL[i]
	}
}

// Gather makes p the particles of q with the given indices, in their folds.
func (p *Population) Gather(workers *pool.Pool, q *Population, indices []int32) {
	p.each(workers, func(j int) {
		p.Set(j, q, int(indices[j]))
		p.Fold[j] = q.Fold[indices[j]]
	})
}

// Copy makes p equal to q, which has the same shape.
func (p *Population) Copy(q *Population) {
	copy(p.Theta, q.Theta)
	copy(p.GradLL, q.GradLL)
	copy(p.AnnealedGrad, q.AnnealedGrad)
	copy(p.Momentum, q.Momentum)
	copy(p.LL, q.LL)
	copy(p.LP, q.LP)
	copy(p.AnnealedLL, q.AnnealedLL)
	copy(p.Fold, q.Fold)
}

// each calls f for every particle, in parallel if there is enough work: a task is about 4,096 numbers, ten microseconds,
// counting 64 extra numbers for each particle.
func (p *Population) each(workers *pool.Pool, f func(j int)) {
	block := max(1, 4096/(p.D+64))
	if workers == nil || p.J <= block {
		for j := range p.J {
			f(j)
		}
		return
	}
	workers.Run((p.J+block-1)/block, func(i int) {
		for j := i * block; j < min((i+1)*block, p.J); j++ {
			f(j)
		}
	})
}

// Needs lists the values that a move needs a population to carry in addition to the parameters.
type Needs struct {
	Gradient bool // of the log-likelihood at the particle's position
	Momentum bool // kept from move to move; moves that draw it anew need none
}

// Power returns λ·ll, the logarithm of a likelihood to the power λ. For λ = 0 it is 0, even where the likelihood is 0, but
// NaN where it is infinite: that is no likelihood, and a proposal there is rejected.
func Power(lambda, ll float64) float64 {
	if lambda == 0 && !math.IsInf(ll, 1) {
		return 0
	}
	return float64(lambda * ll)
}
