package mcmc

import "github.com/starling-smc/starling/internal/pool"

// Population is J particles with all that has been evaluated where they stand. Matrices are row-major J×D.
type Population struct {
	J, D   int
	Theta  []float64 // J×D
	LL     []float64 // J, log-likelihood l(θ_j) in nats
	GradLL []float64 // J×D, its gradient; nil where the moves need none
	LP     []float64 // J, log-prior

	// Where a path has examples settle: their log-likelihood, beside LL of those that have not, and its gradient.
	SettledLL   []float64 // J
	SettledGrad []float64 // J×D
}

// NewPopulation allocates a population of J particles in D dimensions, with room for gradients if they are wanted.
func NewPopulation(j, d int, gradients bool) Population {
	p := Population{J: j, D: d, Theta: make([]float64, j*d), LL: make([]float64, j), LP: make([]float64, j)}
	if gradients {
		p.GradLL = make([]float64, j*d)
	}
	return p
}

// LetSettle makes room for settled examples.
func (p *Population) LetSettle() {
	p.SettledLL = make([]float64, p.J)
	if p.GradLL != nil {
		p.SettledGrad = make([]float64, p.J*p.D)
	}
}

// Blank allocates a population of the shape of p.
func (p *Population) Blank() Population {
	q := NewPopulation(p.J, p.D, p.GradLL != nil)
	if p.SettledLL != nil {
		q.LetSettle()
	}
	return q
}

// Like reports whether p has the shape of q.
func (p *Population) Like(q *Population) bool {
	return p.J == q.J && p.D == q.D && (p.GradLL == nil) == (q.GradLL == nil) && (p.SettledLL == nil) == (q.SettledLL == nil)
}

// LogLik returns the logarithm of particle j's likelihood where Rows have the power λ and what has settled the power μ:
// λ·l(θ_j) + μ·s(θ_j).
func (p *Population) LogLik(lambda, mu float64, j int) float64 {
	l := Power(lambda, p.LL[j])
	if p.SettledLL != nil {
		l += Power(mu, p.SettledLL[j])
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

// Set makes particle j of p a copy of particle i of q, cache included.
func (p *Population) Set(j int, q *Population, i int) {
	copy(p.row(p.Theta, j), q.row(q.Theta, i))
	copy(p.row(p.GradLL, j), q.row(q.GradLL, i))
	copy(p.row(p.SettledGrad, j), q.row(q.SettledGrad, i))
	p.LL[j], p.LP[j] = q.LL[i], q.LP[i]
	if p.SettledLL != nil {
		p.SettledLL[j] = q.SettledLL[i]
	}
}

// Gather makes p the particles of q with the given indices.
func (p *Population) Gather(workers *pool.Pool, q *Population, indices []int32) {
	p.each(workers, func(j int) { p.Set(j, q, int(indices[j])) })
}

// Copy makes p equal to q, which has the same shape.
func (p *Population) Copy(q *Population) {
	copy(p.Theta, q.Theta)
	copy(p.GradLL, q.GradLL)
	copy(p.SettledGrad, q.SettledGrad)
	copy(p.LL, q.LL)
	copy(p.LP, q.LP)
	copy(p.SettledLL, q.SettledLL)
}

// each calls f for every particle, in parallel where there is enough to do: a task is some 4,096 numbers, about ten
// microseconds, where a particle counts as 64 numbers more than it has.
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
