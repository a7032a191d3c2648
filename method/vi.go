package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
)

// pathOfVI is the path of the method in a config.
const pathOfVI = "method.vi"

// VI is mean-field variational inference (guided-open-horizon-smc, section 3.5; Blundell, Cornebise, Kavukcuoglu, Wierstra 2015):
// the posterior of θ is approximated by the Gaussian
//
//	q(θ) = N(m, diag σ²)        σ = softplus(ρ) = ln(1 + e^ρ)
//
// that maximises the evidence lower bound. A step of Adam on m, ρ and ψ takes one mini-batch B of n of the N examples, and one draw
// θ = m + σξ, ξ ~ N(0, I), by which the gradient goes through to m and ρ:
//
//	ELBO ≈ (N/n) Σ_B log p(y|x, θ, ψ) − KL(q‖p)
//
// The divergence from the prior p, which must be normal, is in closed form. The parameters ψ that networks share have no prior.
//
// It begins at the best MAP restart, if there is a search; at model.init; else at a draw. The posterior is the end of the descent: the
// mean of m, ρ and ψ over the last quarter of the steps, in which the noise of single steps averages out (Polyak & Juditsky 1992). The
// ensemble is draws from q, equally weighted. The run says whether the ELBO still rose at the end (variational_end.go).
//
// The best q of this kind is too narrow where parameters depend on each other in the posterior.
type VI struct {
	Rate   float64 `yaml:"rate"`                  // of Adam; default 0.01
	Epochs int     `yaml:"epochs" words:"auto=0"` // passes over the examples. auto, the default: 500 or, where these are fewer than 4,000 steps, as many as make 4,000. A run's config has the number
	Batch  int     `yaml:"batch"`                 // examples of a step; default 64
	Draws  int     `yaml:"draws"`                 // networks drawn from q; default 100

	// Keep is the state of the descent that is the posterior. mean, the default: the mean over the last quarter of the steps, which is
	// what VI fitted. validation: the epoch of lowest validation NLL, of ten networks drawn from q, as early stopping chooses. This may
	// predict well, but its means and spreads need not be those of the posterior.
	Keep string `yaml:"keep"`
}

// What VI may keep.
const (
	KeepMean       = "mean"
	KeepValidation = "validation"
)

// fewestSteps is the number of steps from which a descent by default ends near the best q: from 500 steps, all that 500 epochs of 20
// examples have, predictive means of linear networks were off by up to 1.8 standard deviations of the posterior, from 4,000 by .2.
const fewestSteps = 4000

var _ Method = VI{}

// Title names the method.
func (m VI) Title() string {
	if m.Epochs == 0 {
		return fmt.Sprintf("mean-field variational inference (%s)", numeral.Several(m.Draws, "draw"))
	}
	return fmt.Sprintf("mean-field variational inference (%s, %s)", numeral.Several(m.Epochs, "epoch"), numeral.Several(m.Draws, "draw"))
}

// Defaults fills in defaults.
func (m *VI) Defaults() {
	fill(&m.Rate, 0.01)
	fill(&m.Batch, 64)
	fill(&m.Draws, 100)
	fill(&m.Keep, KeepMean)
}

// Check refuses settings that are wrong for any approximation.
func (m VI) Check(f *config.Faults) {
	f.Positive("rate", m.Rate)
	if m.Epochs != 0 {
		f.Within("epochs", m.Epochs, 1, mostEpochs)
	}
	f.AtLeast("batch", m.Batch, 1)
	f.Within("draws", m.Draws, 1, mostEpochs)
	f.OneOf("keep", m.Keep, KeepMean, KeepValidation)
}

// Settle refuses a prior that is not normal, as the divergence from it has no closed form, and a choice by validation examples where
// there are none.
func (m VI) Settle(around Around, f *config.Faults) Method {
	checkGaussian("vi", pathOfVI, "method: mcmc", around, f)
	if m.Keep == KeepValidation {
		checkJudged(KeepValidation, KeepMean, around, pathOfVI, f)
	}
	m.Defaults()
	return m
}

// SettleWith fills in the number of epochs.
func (m VI) SettleWith(_ Around, s Sizes, _ *config.Faults) Method {
	fill(&m.Epochs, max(500, ceil(fewestSteps, ceil(s.Examples, m.Batch))))
	return m
}

// Needs is the posterior.
func (VI) Needs() Needs { return Needs{Prior: true, Posterior: true, Partly: true} }

// Sampling is nil.
func (VI) Sampling() *Sampling { return nil }

// Memory estimates the memory of the approximation and of the draws.
func (m VI) Memory(job *Job) Memory {
	d, all := int64(job.Net.Dim()), int64(job.Net.Parameters())
	bytes := func(draws int) int64 {
		return sum(
			job.bytes(0),
			product(8, sum(product(2, d), int64(job.Net.Learned())), 6+10+1), // start; state of 5, as it was and packed; gradient
			product(8, 3, all),
			product(8+4+4, d, sum(int64(draws), judgedBy)), // as they are drawn, as an ensemble and its file
		)
	}
	return Memory{Bytes: bytes(m.Draws), Scales: []Scale{{
		Field: pathOfVI + ".draws", Now: m.Draws, Bytes: bytes, Fits: func(n int) string { return numeral.Several(n, "draw") + " would fit" },
	}}}
}

// Phases is the approximation.
func (m VI) Phases(job *Job) ([]runs.Phase, error) {
	v, err := newVariational(m, job)
	if err != nil {
		return nil, err
	}
	watch := &variationalWatch{part: v, tell: job.Tell}
	watch.report()
	return []runs.Phase{{Name: "vi", Parts: []runs.Part{v}, Watch: watch.step, Resumed: watch.resumed}}, nil
}

// Gather draws the networks.
func (m VI) Gather(job *Job, phases []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	v := phases[0].Parts[0].(*variational)
	e, err := v.ensemble(v.kept(), m.Draws)
	return e, append(v.findings(), finding.Of(finding.MeanField{})), err
}

// variationalWatch reports the progress of an approximation.
type variationalWatch struct {
	part *variational
	tell func(Status)
}

func (w *variationalWatch) step(runs.TraceLine) error {
	w.report()
	return nil
}

func (w *variationalWatch) resumed([]runs.TraceLine) error { return w.step(runs.TraceLine{}) }

func (w *variationalWatch) report() {
	if w.tell == nil {
		return
	}
	v := w.part
	s := Status{Phase: "vi", Share: float64(v.K()) / float64(v.VI.Epochs), Ended: v.Done()}
	if v.K() > 0 {
		s.Short = fmt.Sprintf("epoch %s of %s", numeral.Count(v.K()), numeral.Count(v.VI.Epochs))
		s.Long = s.Short
		if v.elbo != 0 {
			s.Long += fmt.Sprintf("  ELBO %.1f", v.elbo)
		}
		if v.Watch.BestAt > 0 {
			s.Long += fmt.Sprintf("  best validation NLL %.3f, epoch %s", v.Watch.Best, numeral.Count(v.Watch.BestAt))
		}
	}
	w.tell(s)
}
