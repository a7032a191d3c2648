package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// SVGD is Stein variational gradient descent (Liu, Wang 2016; guided-open-horizon-smc, section 3.5): all particles move together,
//
//	θ_i ← θ_i + η φ(θ_i),   φ(θ_i) = (1/J) Σ_j [ k(θ_j, θ_i) ∇log π(θ_j) + ∇_{θ_j} k(θ_j, θ_i) ],
//
// drawn to where the target is large by the first term, and apart by the second. The kernel is k(x, y) = exp(−|x − y|²/b), with b =
// m²/ln(J+1) and m the median of the distances |θ_i − θ_j| of all pairs i < j, the mean of the two in the middle if their
// number is even. If m is 0, the kernel is 1 between particles at one place, 0 between others, and has no gradient.
//
// A rate η that is too large for the curvature makes the particles leave every bound, and which is too large depends on the layers, the
// noise and the prior. So η is found by default: for the coordinate i of move t = 0, 1, …
//
//	η_ti = min( J/(10 N),  c_t s_t / r_ti ),   c_t = .1/√(1 + t/50),   s_t = m/√(2D),   r_ti² = .9 r²_{t−1,i} + .1 (1/J) Σ_j φ_i(θ_j)²
//
// with r_0i² the first mean square. A particle far from others follows .1 of the gradient of the mean loss, as by the rate J/(10 N), but a
// coordinate goes no further, in the root mean square over the particles, than about c_t of s_t, their typical distance in a
// coordinate. The mean squares are those of RMSProp, by which Liu and Wang scaled their steps, too; all particles share them, so that
// the fixed points of φ stay. c_t falls, because where the second bound holds the particles would swing about the target for ever.
//
// Nothing is random, no weight corrects it, and with few particles their spread is too small in many dimensions (Ba et al. 2022). A
// sampler takes it with the weighting smc.Unweighted. It is no row of Moves: package method has a method of that name. A move costs
// one gradient, at the places where the particles are. Values are then evaluated where they went, for diagnostics alone
// (Outcome.Shown); values and gradients that the population carries would be those of another batch in the next iteration. The
// kernel is exact: it has J² numbers in memory and takes 3/2 J²D multiplications.
type SVGD struct {
	Rate float64 `yaml:"rate"` // η; 0: found
}

var _ Move = SVGD{}

// svgdBlock is the number of particles that move side by side, and svgdChunk that of the coordinates that they take at a time, so
// that both stay in a fast cache while all others pass by.
const svgdBlock, svgdChunk = 8, 512

func (SVGD) String() string { return "SVGD" }

// Traits say that the particles move together. Gradients, which the move evaluates itself, lie where other moves have their momenta.
func (SVGD) Traits() Traits { return Traits{Corrected: ByNothing, Blind: true, Together: true} }

// ForChains returns m unchanged: CheckForChains refuses the move.
func (m SVGD) ForChains() Move { return m }

// ForPopulation returns m unchanged.
func (m SVGD) ForPopulation(Mutations, bool) Move { return m }

// Memory is what the move holds in addition to two populations and the momenta, as Move.Memory: what it learns of each coordinate if
// the rate is found; the kernel, and distances in order.
func (m SVGD) Memory(particles, d int) (tuned, scratch int) {
	if m.Rate == 0 {
		tuned = 1 + d
	}
	return tuned, particles*particles + particles*(particles-1)/2
}

// Check notes impossible settings.
func (m SVGD) Check(f *config.Faults) {
	f.If(!(m.Rate >= 0) || math.IsInf(m.Rate, 0), "rate", "want a number above 0, have %.12g", m.Rate)
}

// Tuning is t and r² of each coordinate, if the rate is found.
func (m SVGD) Tuning(t *Target, _ int) ([]float64, error) {
	err := config.Check(m)
	if err == nil && t.Annealed != nil {
		err = errors.New("it cannot be used where examples have different powers: take a path that anneals no examples in")
	}
	if err != nil {
		return nil, fmt.Errorf("SVGD: %w", err)
	}
	if m.Rate != 0 {
		return nil, nil
	}
	return make([]float64, 1+t.Model.Dim()), nil
}

// svgd is the scratch memory of SVGD.
type svgd struct {
	kernel []float64 // J×J, symmetric: squared distances, then k
	sorted []float64 // J(J−1)/2, distances
}

// Mutate moves all particles once.
func (m SVGD) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, _ StepContext) (Outcome, error) {
	if p.J < 2 {
		return Outcome{}, errors.New("SVGD of one particle is gradient ascent: take at least 2 particles")
	}
	w.Fit(p)
	work, ok := w.own.(*svgd)
	if !ok || len(work.kernel) != p.J*p.J {
		work = &svgd{make([]float64, p.J*p.J), make([]float64, 0, p.J*(p.J-1)/2)}
		w.own = work
	}
	if err := t.Model.LogLik(ctx, t.Rows, p.Theta, w.kinetic, w.momentum); err != nil {
		return Outcome{}, err
	}
	p.each(t.Pool, func(j int) {
		spare := w.spare.Get().(*[]float64)
		defer w.spare.Put(spare)
		t.Prior.LogDensity(p.row(p.Theta, j), *spare)
		for i, g := range p.row(w.momentum, j) {
			w.momentum[j*p.D+i] = float64(t.Lambda*g) + (*spare)[i]
		}
	})
	push := work.fill(t.Pool, p)
	p.each(t.Pool, func(j int) {
		g := p.row(w.momentum, j)
		lanes.AddScaled(g, g, -push, p.row(p.Theta, j))
	})
	q := &w.Proposal
	inBlocks(t.Pool, p.J, func(from, to int) { directions(p, q, work.kernel, w.momentum, push, from, to) })
	rate := m.Rate
	if rate == 0 {
		rate = limited(p, q, tuning, float64(p.J)/(10*float64(t.Model.Examples())), push)
	} else {
		lanes.AddScaled(q.Theta, p.Theta, rate/float64(p.J), q.Theta)
	}
	if broken := q.Broken(t.Model); broken != "" {
		return Outcome{}, diverged("SVGD diverged: %s; try a smaller rate than %.4g", broken, rate)
	}
	if err := t.Evaluate(ctx, q); err != nil {
		return Outcome{}, err
	}
	*p, w.Proposal = w.Proposal, *p
	out := w.outcome
	for j := range p.J {
		if !isFinite(t.LogDensity(p, j)) {
			return Outcome{}, diverged("SVGD diverged: particle %d ends at log-likelihood %v and log-prior %v; try a smaller rate than %.4g", j, p.LL[j], p.LP[j], rate)
		}
		out.Energy[j], out.Probability[j] = 0, math.NaN()
	}
	n := t.Examples()
	out.took(n, n)
	out.Step, out.Shown = rate, n
	return out, nil
}

// fill sets the kernel and returns 2/b, the factor of its gradient; 0 where the median is 0.
func (s *svgd) fill(workers *Pool, p *Population) (push float64) {
	n := p.J
	inBlocks(workers, n, func(from, to int) {
		var apart [svgdChunk]float64
		for other := 0; other < to; other += svgdBlock {
			for at := 0; at < p.D; at += svgdChunk {
				end := min(at+svgdChunk, p.D)
				for i := from; i < to; i++ {
					x := p.row(p.Theta, i)[at:end]
					for j := other; j < min(other+svgdBlock, i); j++ {
						lanes.AddScaled(apart[:end-at], x, -1, p.row(p.Theta, j)[at:end])
						square := lanes.Squares(apart[:end-at])
						if at > 0 {
							square += s.kernel[i*n+j]
						}
						s.kernel[i*n+j] = square
					}
				}
			}
		}
	})
	s.sorted = s.sorted[:0]
	for i := range n {
		for _, square := range s.kernel[i*n : i*n+i] {
			s.sorted = append(s.sorted, math.Sqrt(square))
		}
	}
	slices.Sort(s.sorted)
	pairs := len(s.sorted)
	median := (s.sorted[(pairs-1)/2] + s.sorted[pairs/2]) / 2
	b := float64(median*median) / rng.Log(float64(n+1))
	if b > 0 {
		push = 2 / b
	}
	for i := range n {
		s.kernel[i*n+i] = 1
		for j, square := range s.kernel[i*n : i*n+i] {
			k := 0.0
			if square == 0 {
				k = 1
			} else if b > 0 {
				k = rng.Exp(-square / b)
			}
			s.kernel[i*n+j], s.kernel[j*n+i] = k, k
		}
	}
	return push
}

// directions sets the particles from … to−1 of q to J φ of those of p. With the kernel's gradient, k(θ_j, θ_i)(θ_i − θ_j)·2/b, it is
//
//	J φ(θ_i) = Σ_j k(θ_j, θ_i) [∇log π(θ_j) − (2/b) θ_j] + (2/b) θ_i Σ_j k(θ_j, θ_i),
//
// of which attraction holds the brackets. Sums are in the order of the particles.
func directions(p, q *Population, kernel, attraction []float64, push float64, from, to int) {
	for at := 0; at < p.D; at += svgdChunk {
		end := min(at+svgdChunk, p.D)
		for i := from; i < to; i++ {
			clear(q.row(q.Theta, i)[at:end])
		}
		for j := range p.J {
			y := p.row(attraction, j)[at:end]
			for i := from; i < to; i++ {
				sum := q.row(q.Theta, i)[at:end]
				lanes.AddScaled(sum, sum, kernel[i*p.J+j], y)
			}
		}
		for i := from; i < to; i++ {
			all := 0.0
			for _, k := range kernel[i*p.J : (i+1)*p.J] {
				all += k
			}
			sum, x := q.row(q.Theta, i)[at:end], p.row(p.Theta, i)[at:end]
			lanes.AddScaled(sum, sum, float64(push*all), x)
		}
	}
}

const (
	svgdStep   = 0.1 // c_0
	svgdSettle = 50  // moves after which c has fallen by √2
	svgdForget = 0.9 // of r²
)

// limited moves the particles of p, whose J φ lie in q, to q, and returns the mean of η over the coordinates. tuned holds t and r².
// Where most particles are at one place, s_t is 0 and says nothing: then η is the rate.
func limited(p, q *Population, tuned []float64, rate, push float64) float64 {
	count, squares := &tuned[0], tuned[1:]
	n := float64(p.J)
	bound := math.Inf(1)
	if push > 0 { // 2/b, with b = m²/ln(J+1)
		c := svgdStep / math.Sqrt(1+*count/svgdSettle)
		bound = c * math.Sqrt(rng.Log(n+1)/(push*float64(p.D)))
	}
	sum := 0.0
	for i := range squares {
		square := 0.0
		for j := range p.J {
			phi := q.Theta[j*p.D+i] / n
			square += float64(phi*phi) / n
		}
		if *count > 0 {
			square = float64(svgdForget*squares[i]) + float64((1-svgdForget)*square)
		}
		squares[i] = square
		eta := rate
		if r := math.Sqrt(square); float64(r*eta) > bound && r < math.Inf(1) { // an infinite one ends the run with an error
			eta = bound / r
		}
		for j := range p.J {
			at := j*p.D + i
			q.Theta[at] = p.Theta[at] + float64(eta/n*q.Theta[at])
		}
		sum += eta
	}
	*count++
	return sum / float64(p.D)
}

// inBlocks calls f for blocks of n particles, in parallel.
func inBlocks(workers *Pool, n int, f func(from, to int)) {
	one := func(b int) { f(b*svgdBlock, min((b+1)*svgdBlock, n)) }
	count := (n + svgdBlock - 1) / svgdBlock
	if workers != nil {
		workers.Run(count, one)
		return
	}
	for b := range count {
		one(b)
	}
}
