package filter

import (
	"cmp"
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
)

// Bootstrap is the bootstrap particle filter (Gordon, Salmond and Smith 1993): particles are resampled where their weights are
// too uneven, moved by the transition, and weighted by the likelihood. With normalised weights W_j before the scan,
//
//	log p(z_k | z_1:k−1) ≈ log Σ_j W_j p(z_k | x_j).
type Bootstrap struct {
	sampling
	Particles int           `yaml:"particles"` // N, below 2²⁰
	Resample  smc.Resampler `yaml:"resample"`  // how and when particles are resampled; default: systematic, where the ESS is below N/2
}

// Defaults implements config.Defaulter.
func (m *Bootstrap) Defaults() {
	m.Particles = cmp.Or(m.Particles, usualParticles)
	m.Resample = m.resampler()
}

func (m Bootstrap) resampler() smc.Resampler {
	r := m.Resample
	if r.Scheme == nil {
		r.Scheme = smc.Systematic{}
	}
	if r.When == nil {
		r.When = smc.BelowHalf
	}
	return r
}

// Check implements config.Checker.
func (m Bootstrap) Check(f *config.Faults) { checkParticles(f, m.Particles) }

// Title implements Method.
func (m Bootstrap) Title() string {
	return fmt.Sprintf("a bootstrap filter of %s particles", numeral.Count(m.Particles))
}

// Bytes implements Method.
func (m Bootstrap) Bytes(dim int) int64 { return int64(m.Particles) * int64(32*dim+40+8*lag) }

// Evidence implements Method.
func (Bootstrap) Evidence() bool { return true }

// Findings implements Method.
func (Bootstrap) Findings() []finding.Finding { return nil }

// On implements Method.
func (m Bootstrap) On(job Job) (Filter, error) {
	m.Resample = m.resampler()
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := refused("bootstrap filter", m); err != nil {
		return nil, err
	}
	return &bootstrap{m, weighting{job, m.Particles}}, nil
}

type bootstrap struct {
	Bootstrap
	weighting
}

// Step implements Filter.
func (f *bootstrap) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	m, err := f.scan(ctx, st, scan)
	if err != nil {
		return Info{}, err
	}
	resampled, logw, from := false, append([]float64(nil), st.LogW...), identity(m.n)
	if w := exps(logw); f.Resample.When.Due(effective(w), m.n) {
		from, logw = m.ancestors(f.Resample.Scheme, w), even(m.n)
		resampled = true
	}
	x, base, err := m.move(st, from, logw, make([]float64, m.n))
	if err != nil {
		return Info{}, err
	}
	logZ, ess, err := m.normalise(logw, x)
	if err != nil {
		return Info{}, err
	}
	return m.end(st, from, resampled, x, logw, ess, base+logZ), nil
}

func identity(n int) []int32 {
	from := make([]int32, n)
	for j := range from {
		from[j] = int32(j)
	}
	return from
}
