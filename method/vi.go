package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
)

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
// It begins at the best MAP restart, if there is a search; at model.init; else at a draw. Of all epochs the one of lowest
// validation NLL, of ten networks drawn from q, is kept; without validation examples it is the last. The ensemble is draws from q,
// equally weighted.
//
// The best q of this kind is too narrow where parameters depend on each other in the posterior.
type VI struct {
	Rate   float64 `yaml:"rate"`   // of Adam; default 0.01
	Epochs int     `yaml:"epochs"` // passes over the examples; default 500
	Batch  int     `yaml:"batch"`  // examples of a step; default 64
	Draws  int     `yaml:"draws"`  // networks drawn from q; default 100
}

var _ Method = VI{}

// Title names the method.
func (m VI) Title() string {
	return fmt.Sprintf("mean-field variational inference (%s, %s)", numeral.Several(m.Epochs, "epoch"), numeral.Several(m.Draws, "draw"))
}

// Complete fills in defaults.
func (m VI) Complete(Around) Method {
	m.Defaults()
	return m
}

// Defaults fills in defaults.
func (m *VI) Defaults() {
	fill(&m.Rate, 0.01)
	fill(&m.Epochs, 500)
	fill(&m.Batch, 64)
	fill(&m.Draws, 100)
}

// Check refuses settings that are wrong for any approximation.
func (m VI) Check(f *config.Faults) {
	f.Positive("rate", m.Rate)
	f.Within("epochs", m.Epochs, 1, mostEpochs)
	f.AtLeast("batch", m.Batch, 1)
	f.Within("draws", m.Draws, 1, mostEpochs)
}

// CheckWithin refuses a prior that is not normal: the divergence from it has no closed form.
func (VI) CheckWithin(around Around, at string, f *config.Faults) {
	checkGaussian("vi", at, "method: mcmc", around, f)
}

// CheckData refuses nothing: a batch of more examples than there are is all of them.
func (VI) CheckData(int, int, string, *config.Faults) {}

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
			product(8, sum(product(2, d), int64(job.Net.Learned())), 5+8+1), // start; state of 4, as it was and packed; gradient
			product(8, 3, all),
			product(8+4+4, d, sum(int64(draws), judgedBy)), // as they are drawn, as an ensemble and its file
		)
	}
	return Memory{Bytes: bytes(m.Draws), Scales: []Scale{{
		Field: "draws", Now: m.Draws, Bytes: bytes, Fits: func(n int) string { return numeral.Several(n, "draw") + " would fit" },
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
func (m VI) Gather(_ *Job, phases []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	v := phases[0].Parts[0].(*variational)
	at := v.At
	if len(v.Watch.Theta) > 0 {
		at = v.Watch.Theta
	}
	e, err := v.ensemble(at, m.Draws)
	return e, nil, err
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
		if v.Watch.BestAt > 0 {
			s.Long += fmt.Sprintf("  best validation NLL %.3f, epoch %s", v.Watch.Best, numeral.Count(v.Watch.BestAt))
		}
	}
	w.tell(s)
}
