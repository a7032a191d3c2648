package method

import (
	"errors"
	"fmt"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Laplace approximates the posterior by a Gaussian about one trained network θ* (MacKay 1992; Ritter, Botev, Barber 2018; Daxberger,
// Kristiadi, Immer, Eschenhagen, Bauer, Hennig 2021; scalable-bayesian-monte-carlo, section 3.5): the best MAP restart or, without a
// search, model.init. The precision is the generalised Gauss-Newton matrix of the log-likelihood there and that of the normal prior,
//
//	q(θ) = N(θ*, P⁻¹)        P = H + τΛ        H = Σ_i J_iᵀ (−∇²_f log p(y_i|f_i)) J_i        Λ = diag(1/s²)
//
// with τ = 1 unless Precision chooses another. Structure says what of H is kept: all of it, its diagonal, or a Kronecker product N·A⊗G for each
// layer (Martens & Grosse 2015). The ensemble is draws from q, equally weighted. For a gaussian likelihood and a network that is linear in
// θ, full is the posterior itself, and so is kron where there is one layer. For classes H is no Kronecker product even with one layer, since
// G, which is the mean of diag(p) − p pᵀ, differs from example to example as p does: there kron is an approximation of full.
//
// Predict says what a draw predicts by: the network at θ, or the one that is linearised at θ* (bnn/linearised.go), whose posterior q is in
// the approximation that H makes.
//
// The evidence is approximated likewise, and every run says what it is:
//
//	log p(D) ≈ log p(D|θ*) + log p(θ*) + D/2 log 2π − ½ log|P|
//
// It is that of a posterior that is normal about its mode. The island's own log evidence stays 0: nothing weighs or compares runs by an
// approximation whose error is not known.
type Laplace struct {
	Of        string `yaml:"of"`        // the layers that are random: all (default), which leaves model.random as it is; last, the last one alone, as model.random: last says
	Structure string `yaml:"structure"` // of the curvature: kron (default), a Kronecker product for each layer; diagonal; full, for up to 4,000 parameters
	Draws     int    `yaml:"draws"`     // networks drawn; default 10
	Predict   string `yaml:"predict"`   // by what a draw predicts: linearised (default), the network's tangent at the trained one; draws, the network with the drawn parameters

	// Precision says what the prior's precision is multiplied by: prior, by 1 (default where the data hold no validation examples out);
	// validation, by the factor of lowest validation NLL (default where they do); evidence, by that of highest approximate evidence. Factors are
	// tried from 0.0001 to 10,000, two for each power of ten.
	Precision string `yaml:"precision"`
}

// What the settings of Laplace may be.
const (
	OfAll  = "all"
	OfLast = "last"

	PredictDraws      = "draws"
	PredictLinearised = "linearised"

	PrecisionPrior      = "prior"
	PrecisionValidation = "validation"
	PrecisionEvidence   = "evidence"
)

var (
	_ Method   = Laplace{}
	_ Choosy   = Laplace{}
	_ Randomly = Laplace{}
)

// Title names the method.
func (m Laplace) Title() string {
	title := fmt.Sprintf("Laplace (%s, %s", m.Structure, numeral.Several(m.Draws, "draw"))
	if m.Predict == PredictLinearised {
		title += ", linearised"
	}
	return title + ")"
}

// Defaults fills in defaults.
func (m *Laplace) Defaults() {
	fill(&m.Of, OfAll)
	fill(&m.Structure, structures[0].name)
	fill(&m.Draws, 10)
	fill(&m.Predict, PredictLinearised)
}

// Check refuses settings that are wrong for any network.
func (m Laplace) Check(f *config.Faults) {
	f.OneOf("of", m.Of, OfAll, OfLast)
	f.OneOf("structure", m.Structure, structureNames()...)
	f.Within("draws", m.Draws, 1, mostEpochs)
	f.OneOf("predict", m.Predict, PredictDraws, PredictLinearised)
	f.OneOf("precision", m.Precision, PrecisionPrior, PrecisionValidation, PrecisionEvidence)
}

// Random is the last layer alone, if Of says so.
func (m Laplace) Random() nn.Random {
	if m.Of == OfLast {
		return nn.Random{nn.LastLayer}
	}
	return nil
}

// Settle refuses a prior that is not normal, whose Λ depends on θ, and a factor chosen by validation examples where there are none. It refuses
// one chosen by the evidence about an anchor, which is θ* itself: log p(D|θ*) − ½ log|1 + SHS/τ| has no maximum.
func (m Laplace) Settle(around Around, f *config.Faults) Method {
	checkGaussian("laplace", pathOfLaplace, "method: mcmc", around, f)
	if m.Precision == PrecisionValidation && !around.Judged {
		f.Conflict([]string{pathOfLaplace + ".precision", "data.whole", "data.set"},
			"validation chooses the factor of the prior's precision by the NLL of validation examples, and the data hold none out: "+
				"take precision: evidence, or data with validation examples")
	}
	if p := around.Prior; m.Precision == PrecisionEvidence && p.About() && !p.Anchor.Point() {
		mean := "at the trained network itself"
		if p.Added != nil {
			mean = "on the way to the trained network"
		}
		f.Conflict([]string{pathOfLaplace + ".precision", movedAt(p)},
			"the prior has its mean %s, and its evidence is the higher the narrower it is: take precision: validation, or leave %s out", mean, strings.TrimPrefix(movedAt(p), "prior."))
	}
	m.Defaults()
	switch {
	case m.Precision != "":
	case around.Judged:
		m.Precision = PrecisionValidation
	default:
		m.Precision = PrecisionPrior
	}
	return m
}

// CheckNet refuses a likelihood without curvature, and a network that the structure is not for.
func (m Laplace) CheckNet(net *nn.Net, f *config.Faults) {
	if err := net.CheckCurvature(); err != nil {
		f.Conflict([]string{pathOfLaplace, "model.likelihood"}, "%v", err)
	}
	structureOf(m.Structure).check(net, f)
}

// Needs is a trained network, and its posterior.
func (Laplace) Needs() Needs {
	return Needs{Prior: true, Posterior: true, Partly: true, Frozen: true, Point: true}
}

// Sampling is nil.
func (Laplace) Sampling() *Sampling { return nil }

// Memory estimates the memory of the curvature and of the draws.
func (m Laplace) Memory(job *Job) Memory {
	bytes := func(draws int) int64 {
		return sum(
			job.bytes(1),
			structureOf(m.Structure).bytes(job.Net),
			product(8, int64(job.Net.Parameters()), 6),
			product(8+4+4, int64(job.Net.Dim()), int64(draws)), // as they are drawn, as an ensemble and its file
		)
	}
	return Memory{Bytes: bytes(m.Draws), Scales: []Scale{{
		Field: pathOfLaplace + ".draws", Now: m.Draws, Bytes: bytes, Fits: func(n int) string { return numeral.Several(n, "draw") + " would fit" },
	}}}
}

// Phases is the curvature.
func (m Laplace) Phases(job *Job) ([]runs.Phase, error) {
	c, err := newCurvature(m, job)
	if err != nil {
		return nil, err
	}
	watch := &curvatureWatch{part: c, tell: job.Tell}
	watch.report()
	return []runs.Phase{{Name: "curvature", Parts: []runs.Part{c}, Watch: watch.step, Resumed: watch.resumed}}, nil
}

// Gather draws the networks.
func (m Laplace) Gather(_ *Job, phases []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	c := phases[0].Parts[0].(*curvature)
	e, err := c.ensemble(c.Factor)
	return e, c.findings(), err
}

// ensemble is the draws at a factor τ of the prior's precision. They are of the same noise whatever τ.
func (c *curvature) ensemble(tau float64) (*bnn.Ensemble, error) {
	d := c.job.Net.Dim()
	one := bnn.Island{Theta: make([]float64, c.Draws*d), Shared: c.shared}
	noise := make([]float64, d)
	for k := range c.Draws {
		rng.Key{Seed: c.job.Seed, Purpose: rng.Draw, Iteration: k}.Stream().Normals(noise)
		theta := one.Theta[k*d : (k+1)*d]
		c.form.draw(tau, noise, theta)
		for i, s := range c.sd {
			theta[i] = c.at[i] + float64(s*theta[i])
		}
	}
	e, err := bnn.Combine(c.job.Net, []bnn.Island{one}, bnn.Equal{})
	if err == nil && c.Predict == PredictLinearised {
		e.Centre = make([]float32, d)
		for i, x := range c.at {
			e.Centre[i] = float32(x)
		}
	}
	return e, err
}

// gaussianOf returns the means and widths of a prior of D independent normals.
func gaussianOf(prior mcmc.Prior, d int) (mean, sd []float64, err error) {
	p, ok := prior.(mcmc.GaussianPrior)
	if !ok {
		return nil, nil, errors.New("prior: Laplace needs a normal prior with given widths: want prior: {normal: {variance: 1}}")
	}
	for i := range d {
		mean, sd = append(mean, p.Mean(i)), append(sd, p.SD(i))
	}
	return mean, sd, nil
}
