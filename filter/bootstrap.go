package filter

import (
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
	Particles int           `yaml:"particles"` // N, below 2²⁰
	Resample  smc.Resampler `yaml:"resample"`  // how and when particles are resampled; default: systematic, where the ESS is below N/2
}

// Defaults implements config.Defaulter.
func (m *Bootstrap) Defaults() {
	if m.Particles == 0 {
		m.Particles = usualParticles
	}
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

// Suits implements Method: any model has a prediction to draw from.
func (Bootstrap) Suits(ssm.Model) error { return nil }

// Samples implements Method.
func (Bootstrap) Samples() bool { return true }

// Bytes implements Method.
func (m Bootstrap) Bytes(dim int) int64 { return int64(m.Particles) * int64(32*dim+40+8*lag) }

// Evidence implements Method.
func (Bootstrap) Evidence() bool { return true }

// Findings implements Method.
func (Bootstrap) Findings() []finding.Finding { return nil }

// On implements Method.
func (m Bootstrap) On(job Job) (Filter, error) {
	m.Resample = m.resampler()
	if err := refused("bootstrap filter", m); err != nil {
		return nil, err
	}
	return &bootstrap{m, job}, nil
}

type bootstrap struct {
	Bootstrap
	Job
}

// Init implements Filter.
func (f *bootstrap) Init(context.Context) (*State, error) { return f.weighted(f.Particles), nil }

// Step implements Filter.
func (f *bootstrap) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	if err := st.fits(f.Model, f.Particles, true); err != nil {
		return Info{}, err
	}
	tr, err := st.transition(f.Model, scan)
	if err != nil {
		return Info{}, err
	}
	m := &moving{Job: &f.Job, ctx: ctx, tr: tr, scan: scan, k: st.K + 1, n: st.N(), d: st.Dim}
	info, logw := noAcceptance(), append([]float64(nil), st.LogW...)
	from := identity(m.n)
	if w := exps(logw); f.Resample.When.Due(effective(w), m.n) {
		from, logw = m.ancestors(f.Resample.Scheme, w), even(m.n)
		info.Resampled = true
	}
	x := make([]float64, len(st.X))
	err = m.each(moved, func(like ssm.Likelihood, s *ssm.Stream, j int) {
		to := x[j*m.d : (j+1)*m.d]
		tr.Sample(s, st.Particle(int(from[j])), to)
		logw[j] += logLik(like, to)
	})
	if err != nil {
		return Info{}, err
	}
	logZ, ess, err := m.normalise(logw, x)
	if err != nil {
		return Info{}, err
	}
	if info.Resampled {
		st.Genealogy = descend(st.Genealogy, from)
	}
	st.X, st.LogW, st.K, st.Time = x, logw, m.k, scan.Time
	st.LogZ += logZ
	info.LogEvidence, info.Ancestors, info.Evaluated = logZ, distinct(from, 1, m.n), int64(m.n)*int64(scan.Len())
	info.sampled(st, ess)
	info.Dropped = m.dropped
	return info, nil
}

func identity(n int) []int32 {
	from := make([]int32, n)
	for j := range from {
		from[j] = int32(j)
	}
	return from
}
