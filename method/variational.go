package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

const (
	firstSD  = 0.01 // of q at the start, in standard deviations of the prior
	judgedBy = 10   // networks drawn from q to score it on the validation examples
)

// variational is the approximation of VI: the only part of its phase, whose steps are epochs. The parameters that it learns are one
// vector: m, ρ and ψ, one after another.
type variational struct {
	VI
	job      *Job
	model    nn.Training // of whole networks, whose gradient is that of θ and ψ in one pass
	mean, sd []float64   // of the prior of θ
	random   []int       // the place of θ_i in a whole network
	learned  []int       // that of ψ_i
	first    []float64   // m, ρ and ψ at the start

	approximation
	before approximation // the state when the epoch began
	work   *estimate     // while the part is at work, else nil
	elbo   float64       // of the last epoch that was made here; 0: none
}

// approximation is the complete state of a variational.
type approximation struct {
	Epochs   int
	At       []float64 // m, ρ and ψ; nil: not begun
	Moments  nn.Moments
	Watch    nn.EarlyStop // if validation chooses: of the validation NLL; Watch.Theta is m, ρ and ψ at their best, of one and the same epoch
	quarters              // if it does not
}

// estimate is the working space of an estimate of the ELBO and of its gradient.
type estimate struct {
	xi, theta, grad, of []float64 // noise; a whole network, the gradient of its log-likelihood; the gradient of m, ρ and ψ
	ll                  [1]float64
	order               []int32
}

var (
	_ runs.Part = (*variational)(nil)
	_ worker    = (*variational)(nil)
)

func newVariational(m VI, job *Job) (*variational, error) {
	prior, ok := job.Prior.(mcmc.GaussianPrior)
	if !ok {
		return nil, errors.New("prior: VI needs a normal prior, whose divergence has a closed form: want prior: {normal: {variance: 1}}")
	}
	if err := m.key(rng.Proposal, m.steps(job.Model.Examples()), job.Seed).Check(); err != nil {
		return nil, fmt.Errorf("VI: %w", err)
	}
	v := &variational{VI: m, job: job, model: job.Model}
	if job.Net.Partly() {
		var err error
		if v.model, err = nn.NewTraining(job.Net.Whole(), job.Data, job.Pool); err != nil {
			return nil, err
		}
	}
	for i := range job.Net.Dim() {
		v.mean, v.sd = append(v.mean, prior.Mean(i)), append(v.sd, prior.SD(i))
	}
	places := make([]float64, job.Net.Parameters())
	for i := range places {
		places[i] = float64(i)
	}
	theta, psi := job.Net.Split(places)
	v.random, v.learned = indices(theta), indices(psi)
	v.begin()
	return v, nil
}

func indices(places []float64) (at []int) {
	for _, x := range places {
		at = append(at, int(x))
	}
	return at
}

// place returns the network that the approximation begins at: the best restart or, if nothing else uses it, model.init; nil if there
// is neither.
func (v *variational) place() []float64 {
	if p := v.job.About; v.job.Points == nil && p.Moved() && !p.About() {
		return nil
	}
	return v.job.whole()
}

// begin sets the start: m and ψ at the network that is given or, where none is, m at a draw N(μ, min(s, fan_in^−½)²) for a prior
// N(μ, s²), which keeps the values of the layers in scale whatever the prior. γ and ε of a normalisation are as in bnn.Neutral. Biases, β
// and τ are at μ, and so is what nn.Tensor.Zero names.
func (v *variational) begin() {
	net := v.job.Net
	m, psi := v.job.divide(v.place())
	if m == nil {
		m, psi = v.draw(net.Random()), v.job.shared(0)
	}
	v.first = append(v.first, m...)
	for _, s := range v.sd {
		v.first = append(v.first, unsoftplus(firstSD*s))
	}
	v.first = append(v.first, psi...)
}

// draw draws the m that begin begins at without a network.
func (v *variational) draw(random []nn.Tensor) []float64 {
	m, s := slices.Clone(v.mean), rng.Key{Seed: v.job.Seed, Purpose: rng.Init}.Stream()
	for _, t := range random {
		part, sd := m[t.Offset:][:t.Size-t.Zero], v.sd[t.Offset:]
		switch t.Kind {
		case nn.Weights, nn.Updates:
			widest := 1 / math.Sqrt(float64(t.FanIn))
			for i := range part {
				part[i] += float64(min(sd[i], widest) * s.Normal())
			}
		case nn.Scales, nn.Epsilons:
			for i := range part {
				part[i] = bnn.Neutral(t.Kind)
			}
		}
	}
	return m
}

// key is the key of a step's stream.
func (VI) key(purpose rng.Purpose, iteration int, seed uint64) rng.Key {
	return rng.Key{Seed: seed, Purpose: purpose, Iteration: iteration, Mutation: 1} // 0 are the orders of restarts
}

// Done reports whether all epochs are made.
func (v *variational) Done() bool { return v.approximation.Epochs == v.VI.Epochs }

// K is the number of epochs made.
func (v *variational) K() int { return v.approximation.Epochs }

// spent counts a gradient of every example an epoch, and the networks that judge it.
func (v *variational) spent() eval.Work {
	w := eval.Work{Gradients: v.K() * v.model.Examples()}
	if set := v.job.Data.Validate; set != nil {
		w.Validation = v.K() * min(judgedBy, v.Draws) * set.Len()
	}
	return w
}

// Step makes one epoch, and scores it.
func (v *variational) Step(ctx context.Context) (runs.Line, error) {
	if v.work == nil {
		v.work = v.newEstimate()
	}
	if v.At == nil {
		v.At = slices.Clone(v.first)
	}
	v.before.copy(&v.approximation)
	line, err := v.epoch(ctx)
	if err != nil {
		v.approximation, v.before = v.before, v.approximation
		return runs.Line{}, fmt.Errorf("VI, epoch %d: %w", v.K()+1, err)
	}
	if v.Done() {
		v.work, v.before = nil, approximation{}
	}
	return line, nil
}

func (v *variational) newEstimate() *estimate {
	p, d := v.job.Net.Parameters(), len(v.random)
	return &estimate{
		xi: make([]float64, d), theta: v.job.Net.Join(make([]float64, d), make([]float64, len(v.learned))),
		grad: make([]float64, p), of: make([]float64, 2*d+len(v.learned)), order: make([]int32, v.model.Examples()),
	}
}

// variationalLine is a line of the trace: the fields of an Iteration that VI has.
type variationalLine struct {
	Epochs      int        `json:"epochs"`
	Gradients   int        `json:"gradients"`
	ELBO        uq.Number  `json:"elbo"`
	ValNLL      *uq.Number `json:"val_nll,omitempty"`
	ValAccuracy *uq.Number `json:"val_accuracy,omitempty"`
}

// epoch takes a step of Adam for each mini-batch. The ELBO of its line is that of the networks drawn for the steps, less the
// divergence at the end.
func (v *variational) epoch(ctx context.Context) (runs.Line, error) {
	w, made := v.work, v.approximation.Epochs
	v.key(rng.Batch, made+1, v.job.Seed).Stream().Perm(w.order)
	step, ll := made*ceil(len(w.order), v.Batch), 0.0
	for rows := range data.Batches(w.order, v.Batch) {
		v.key(rng.Proposal, step, v.job.Seed).Stream().Normals(w.xi)
		step++
		if err := v.gradient(ctx, rows); err != nil {
			return runs.Line{}, err
		}
		if ll += w.ll[0]; ll-ll != 0 {
			return runs.Line{}, v.broken()
		}
		nn.Adam{}.Step(&v.Moments, v.At, w.of, v.Rate)
		v.smooth(step)
	}
	elbo := ll - v.divergence(v.At)
	if elbo-elbo != 0 || slices.ContainsFunc(v.At, func(x float64) bool { return x-x != 0 }) {
		return runs.Line{}, v.broken()
	}
	v.approximation.Epochs++
	k := v.approximation.Epochs
	line := variationalLine{Epochs: k, Gradients: k * len(w.order), ELBO: uq.Number(elbo)}
	if set := v.job.Data.Validate; set != nil {
		e, err := v.ensemble(v.At, min(judgedBy, v.Draws))
		if err != nil {
			return runs.Line{}, err
		}
		nll, accuracy, err := eval.Validation(ctx, e, set, v.job.Data, v.job.Pool)
		if err != nil {
			return runs.Line{}, err
		}
		line.ValNLL, line.ValAccuracy = &nll, accuracy
		if v.Keep == KeepValidation {
			v.Watch.Observe(float64(nll), v.At)
		}
	}
	if v.Done() && v.Keep == KeepMean {
		if err := v.compare(ctx); err != nil {
			return runs.Line{}, err
		}
	}
	v.elbo = elbo
	return runs.Line{Progress: float64(k) / float64(v.VI.Epochs), Fields: line}, nil
}

// gradient sets work.of to the gradient of −ELBO/N by m, ρ and ψ, estimated by the examples of rows at the noise work.xi, and
// work.ll to the log-likelihood of these examples there.
func (v *variational) gradient(ctx context.Context, rows []int32) error {
	w, d := v.work, len(v.random)
	m, rho := v.At[:d], v.At[d:2*d]
	v.network(v.At)
	if err := v.model.LogLik(ctx, rows, w.theta, w.ll[:], w.grad); err != nil {
		return err
	}
	perB, perN := 1/float64(len(rows)), 1/float64(len(w.order))
	for i, at := range v.random {
		g, s, variance := float64(perB*w.grad[at]), softplus(rho[i]), v.sd[i]*v.sd[i]
		w.of[i] = float64(perN*((m[i]-v.mean[i])/variance)) - g
		w.of[d+i] = (float64(perN*(s/variance-1/s)) - float64(g*w.xi[i])) * sigmoid(rho[i])
	}
	for i, at := range v.learned {
		w.of[2*d+i] = -float64(perB * w.grad[at])
	}
	return nil
}

// network sets work.theta to the network at the noise work.xi.
func (v *variational) network(of []float64) {
	w, d := v.work, len(v.random)
	for i, at := range v.random {
		w.theta[at] = of[i] + float64(softplus(of[d+i])*w.xi[i])
	}
	for i, at := range v.learned {
		w.theta[at] = of[2*d+i]
	}
}

// divergence is KL(q‖p) = Σ [ln(s/σ) + (σ² + (m−μ)²)/(2s²) − ½] for a prior N(μ, s²).
func (v *variational) divergence(of []float64) (sum float64) {
	d := len(v.sd)
	for i, s := range v.sd {
		sigma, from := softplus(of[d+i]), of[i]-v.mean[i]
		sum += rng.Log(s/sigma) + (float64(sigma*sigma)+float64(from*from))/float64(2*s*s) - 0.5
	}
	return sum
}

// broken is the error of an approximation that is no longer finite. It names the first parameter that is not or, where all are, the
// first that is infinite in the network, which has float32.
func (v *variational) broken() error {
	what, d := "the ELBO is not finite, but all parameters are", len(v.random)
	i := slices.IndexFunc(v.At, func(x float64) bool { return x-x != 0 })
	if i < 0 {
		i = slices.IndexFunc(v.At, func(x float64) bool { return math.Abs(x) > math.MaxFloat32 })
	}
	switch {
	case i >= 2*d:
		what = fmt.Sprintf("%s is %v", v.job.Net.SharedName(i-2*d), v.At[i])
	case i >= 0:
		what = fmt.Sprintf("the %s of %s is %v", [...]string{"mean", "spread"}[i/d], v.job.Net.RandomName(i%d), v.At[i])
	}
	return fmt.Errorf("%s; try a rate below %v", what, v.Rate)
}

// ensemble is n networks drawn from q at m, ρ and ψ. The first ones are the same whatever n.
func (v *variational) ensemble(at []float64, n int) (*bnn.Ensemble, error) {
	d := len(v.random)
	one := bnn.Island{Theta: make([]float64, n*d)}
	for k := range n {
		theta := one.Theta[k*d : (k+1)*d]
		rng.Key{Seed: v.job.Seed, Purpose: rng.Draw, Iteration: k}.Stream().Normals(theta)
		for i, xi := range theta {
			theta[i] = at[i] + float64(softplus(at[d+i])*xi)
		}
	}
	one.Shared = at[2*d:]
	return bnn.Combine(v.job.Net, []bnn.Island{one}, bnn.Equal{})
}

// softplus is ln(1 + eˣ), also where eˣ is lost beside 1.
func softplus(x float64) float64 {
	u := rng.Exp(min(x, 40))
	switch one := 1 + u; {
	case x >= 40:
		return x
	case one == 1:
		return u
	default:
		return rng.Log(one) * (u / (one - 1))
	}
}

// sigmoid is the derivative of softplus, 1/(1 + e⁻ˣ).
func sigmoid(x float64) float64 { return 1 / (1 + rng.Exp(-x)) }

// unsoftplus is the inverse of softplus.
func unsoftplus(y float64) float64 {
	if y < 1e-3 { // where eʸ − 1 would lose its digits
		return rng.Log(y) + float64(y/2) + float64(y*y)/24
	}
	return y + rng.Log(1-rng.Exp(-y))
}
