package filter

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
)

// Auxiliary is the auxiliary particle filter (Pitt and Shephard 1999). A particle is chosen by how likely the scan is at a
// prediction μ_j of it: by V_j ∝ W_j g_j. Then it moves, from its ancestor a, and weighs
//
//	w_i = p(z_k | x_i) / g_a,   g_j = (1 − ε) p(z_k | μ_j) / Σ_l W_l p(z_k | μ_l) + ε,
//	log p(z_k | z_1:k−1) ≈ log Σ_j W_j g_j + log (1/N) Σ_i w_i.
//
// ε = ½ keeps particles whose prediction is unlikely, although the states that it leads to are not: half of the particles are
// chosen by their weights alone. So no weight is above twice that of a bootstrap filter.
//
// μ_j is the mean of a Gaussian transition, else a draw of it. With many measurements p(z_k | μ_j) is a sharp peak, and a filter
// of few particles may choose one ancestor for all: Info.Ancestors tells.
type Auxiliary struct {
	sampling
	Particles int        `yaml:"particles"` // N, below 2²⁰
	Scheme    smc.Scheme `yaml:"scheme"`    // draws the ancestors (nil: Systematic)
}

// Defaults implements config.Defaulter.
func (m *Auxiliary) Defaults() {
	m.Particles = cmp.Or(m.Particles, usualParticles)
	m.Scheme = m.scheme()
}

func (m Auxiliary) scheme() smc.Scheme {
	if m.Scheme == nil {
		return smc.Systematic{}
	}
	return m.Scheme
}

// Check implements config.Checker.
func (m Auxiliary) Check(f *config.Faults) { checkParticles(f, m.Particles) }

// Title implements Method.
func (m Auxiliary) Title() string {
	return fmt.Sprintf("an auxiliary particle filter of %s particles", numeral.Count(m.Particles))
}

// Bytes implements Method.
func (m Auxiliary) Bytes(dim int) int64 { return int64(m.Particles) * int64(40*dim+64+8*lag) }

// Evidence implements Method.
func (Auxiliary) Evidence() bool { return true }

// Findings implements Method.
func (Auxiliary) Findings() []finding.Finding { return nil }

// On implements Method.
func (m Auxiliary) On(job Job) (Filter, error) {
	m.Scheme = m.scheme()
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := refused("auxiliary filter", m); err != nil {
		return nil, err
	}
	return &auxiliary{m, weighting{job, m.Particles}}, nil
}

type auxiliary struct {
	Auxiliary
	weighting
}

// Step implements Filter.
func (f *auxiliary) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	m, err := f.scan(ctx, st, scan)
	if err != nil {
		return Info{}, err
	}
	first, mu := make([]float64, m.n), make([]float64, m.n*m.d)
	point := func(s *ssm.Stream, j int, to []float64) { m.tr.Sample(s, st.Particle(j), to) }
	if g, ok := m.tr.(ssm.Gaussian); ok {
		a, _ := g.Gaussian()
		point = func(_ *ssm.Stream, j int, to []float64) { dense.MulVec(to, a, st.Particle(j)) }
	}
	if err := m.each(predicted, func(like ssm.Likelihood, s *ssm.Stream, j int) {
		to := mu[j*m.d : (j+1)*m.d]
		point(s, j, to)
		first[j] = logLik(like, to)
	}); err != nil {
		return Info{}, err
	}
	if _, err := m.relate(mu, first); err != nil { // g is the same by the differences
		return Info{}, err
	}
	chosen := m.chosen(st.LogW, first)
	logSum, _, err := m.normalise(chosen, mu)
	if err != nil {
		return Info{}, err
	}
	from := m.ancestors(f.Scheme, exps(chosen))
	logw := even(m.n)
	x, base, err := m.move(st, from, logw, first)
	if err != nil {
		return Info{}, err
	}
	logMean, ess, err := m.normalise(logw, x)
	if err != nil {
		return Info{}, err
	}
	info := m.end(st, from, true, x, logw, ess, base+(logSum+logMean))
	info.Evaluated *= 2 // also at the predictions
	return info, nil
}

// defensive is ε.
const defensive = 0.5

// chosen replaces first, log p(z | μ_j), by log g_j, and returns log W_j g_j.
func (m *moving) chosen(logw, first []float64) []float64 {
	sum := 0.0
	joint := add(logw, first)
	top := slices.Max(joint)
	if top > math.Inf(-1) {
		for _, l := range joint {
			sum += rng.Exp(l - top)
		}
	}
	total := top + rng.Log(sum) // log Σ_l W_l p(z | μ_l)
	for j, l := range first {
		first[j] = rng.Log(defensive)
		if a := rng.Log(1-defensive) + l - total; sum > 0 && logw[j] > math.Inf(-1) && l > math.Inf(-1) {
			top := max(a, first[j])
			first[j] = top + rng.Log(rng.Exp(a-top)+rng.Exp(first[j]-top))
		}
	}
	return add(logw, first)
}
