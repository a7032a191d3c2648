package method

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// learnedJob is a linear regression with a bias and noise of a known sd, whose weights and bias have a precision each.
func learnedJob(t *testing.T, examples int, sd, shape, rate float64) *Job {
	t.Helper()
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 1}}, nn.Gaussian{SD: sd})
	if err != nil {
		t.Fatal(err)
	}
	set := regression(examples)
	for i := range set.Values {
		set.Values[i] += 4 // the bias is larger than the weights
	}
	j := &Job{Seed: 3, Net: net, Pool: pool.New(2), Run: without(t), Data: &data.Problem{Name: "linear", Train: set, Test: regression(5)}}
	if j.Prior, err = (bnn.LearnedPrior{Shape: shape, Rate: rate}).Prior(net.Random(), examples); err != nil {
		t.Fatal(err)
	}
	if j.Model, err = nn.NewTraining(net, j.Data, j.Pool); err != nil {
		t.Fatal(err)
	}
	return j
}

// exactly returns log evidence, mean and covariance of the posterior of learnedJob, by the trapezoidal rule over the logarithms of the two
// precisions. Given them the model is conjugate: the posterior has precision A = D + X'X/σ² and mean A⁻¹X'y/σ², and
//
//	log p(y) = −n/2 log 2πσ² + ½ log|D| − ½ log|A| − ½ (y'y/σ² − mean' A mean)
func exactly(job *Job, sd, shape, rate float64) (logZ float64, mean []float64, cov *mat.Dense) {
	set := job.Data.Train
	n := len(set.Values)
	x, y := mat.NewDense(n, 4, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for k := range 3 {
			x.Set(i, k, float64(set.F32[3*i+k]))
		}
		x.Set(i, 3, 1)
		y.SetVec(i, float64(set.Values[i]))
	}
	var gram, a, inverse mat.Dense
	gram.Mul(x.T(), x)
	gram.Scale(1/(sd*sd), &gram)
	var b, m mat.VecDense
	b.MulVec(x.T(), y)
	b.ScaleVec(1/(sd*sd), &b)
	lg, _ := math.Lgamma(shape)
	logPrior := func(u float64) float64 { return shape*math.Log(rate) - lg + shape*u - rate*math.Exp(u) } // of log τ
	const step = 0.1
	type point struct {
		log    float64
		mean   [4]float64
		second [16]float64
	}
	var points []point
	top := math.Inf(-1)
	for u := -25.0; u < 6; u += step {
		for v := -25.0; v < 6; v += step {
			a.CloneFrom(&gram)
			for k := range 4 {
				a.Set(k, k, a.At(k, k)+math.Exp([...]float64{u, u, u, v}[k]))
			}
			if err := inverse.Inverse(&a); err != nil {
				panic(err)
			}
			m.MulVec(&inverse, &b)
			logDet, _ := mat.LogDet(&a)
			p := point{log: logPrior(u) + logPrior(v) - float64(n)/2*math.Log(2*math.Pi*sd*sd) + 0.5*(3*u+v) - 0.5*logDet -
				0.5*(mat.Dot(y, y)/(sd*sd)-mat.Dot(&b, &m))}
			for i := range 4 {
				p.mean[i] = m.AtVec(i)
				for k := range 4 {
					p.second[4*i+k] = inverse.At(i, k) + m.AtVec(i)*m.AtVec(k)
				}
			}
			points, top = append(points, p), max(top, p.log)
		}
	}
	mean, cov = make([]float64, 4), mat.NewDense(4, 4, nil)
	total := 0.0
	for _, p := range points {
		w := math.Exp(p.log - top)
		total += w
		for i := range 4 {
			mean[i] += w * p.mean[i]
			for k := range 4 {
				cov.Set(i, k, cov.At(i, k)+w*p.second[4*i+k])
			}
		}
	}
	for i := range mean {
		mean[i] /= total
	}
	for i := range 4 {
		for k := range 4 {
			cov.Set(i, k, cov.At(i, k)/total-mean[i]*mean[k])
		}
	}
	return top + math.Log(total*step*step), mean, cov
}

// within compares the mean of independent values with what it should be, by Student's t. most is the quantile of the largest of the
// test's values.
func within(t *testing.T, what string, values []float64, want, most float64) {
	t.Helper()
	n, mean, square := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / (n - 1)
	}
	if se := math.Sqrt(square / n); !(math.Abs(mean-want) <= most*se) {
		t.Errorf("%s: %v ± %v, want %v", what, mean, se, want)
	}
}

// The posterior of a linear regression whose precisions are learned, by chains and by tempering from draws of the prior, against
// quadrature over the precisions: means, all covariances, and the evidence. With 8 rows and noise of sd 1.5 the prior
// matters. The values of 40 chains, and of 40 islands, are independent; one of the 29 means is beyond 6.85 standard errors with probability
// 1e-6. Errors of a tenth of a posterior sd, and of .1 nats, are found.
func TestLearnedConjugate(t *testing.T) {
	const rows, sd, shape, rate, most = 8, 1.5, 1.5, 0.8, 6.85
	job := learnedJob(t, rows, sd, shape, rate)
	logZ, mean, cov := exactly(job, sd, shape, rate)
	moments := func(what string, e *bnn.Ensemble) {
		each := func(f func(away func(i int) float64) float64) []float64 { // the mean of f over each chain or island
			sum, total := make([]float64, len(e.LogEvidence)), make([]float64, len(e.LogEvidence))
			for j := range e.Size() {
				w := math.Exp(e.LogWeights[j])
				sum[e.Island[j]] += w * f(func(i int) float64 { return float64(e.Theta[4*j+i]) - mean[i] })
				total[e.Island[j]] += w
			}
			for p, w := range total {
				sum[p] /= w
			}
			return sum
		}
		for i := range 4 {
			within(t, fmt.Sprintf("%s: mean %d", what, i), each(func(away func(int) float64) float64 { return away(i) }), 0, most)
			for k := range i + 1 {
				within(t, fmt.Sprintf("%s: covariance %d, %d", what, i, k), each(func(away func(int) float64) float64 { return away(i) * away(k) }), cov.At(i, k), most)
			}
		}
	}
	chains := MCMC{Chains: 40, Start: "prior", Epochs: 6000, Keep: 40 * 150, Move: mcmc.HMC{Steps: 10}}
	moments("chains", do(t, job, chains.Settle(Around{}, unheard())).Posterior)

	islands := SMC{Particles: 300, Islands: 40, Move: mcmc.HMC{}}
	out := do(t, learnedJob(t, rows, sd, shape, rate), islands.Settle(Around{}, unheard()))
	moments("islands", out.Posterior)
	ratios := make([]float64, 40)
	for p, l := range out.Posterior.LogEvidence {
		ratios[p] = math.Exp(l - logZ)
	}
	within(t, "evidence", ratios, 1, most)
}

// On 50 rows and 1,000 weights the learned prior's mode is the zero network: a descent on it ends with the frequencies of the classes.
// Restarts descend on N(0, 2/fan_in) in its place, and learn.
func TestLearnedRestarts(t *testing.T) {
	net, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 110}, nn.Tanh, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	if net.Dim() < 990 {
		t.Fatalf("%d weights", net.Dim())
	}
	set := blobs(1, 50)
	prior, err := (bnn.NormalPrior{Variance: bnn.LearnedVariance}).Prior(net.Tensors(), 50)
	if err != nil {
		t.Fatal(err)
	}
	search := looking{Search: Search{Restarts: 2, Epochs: 400, Optimiser: nn.Adam{}, Rate: 0.01}}
	loss := func(p mcmc.Prior) float64 {
		found, err := search.in(t.Context(), without(t), net, p, set, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		model, err := nn.NewModel(net, set, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ll [1]float64
		if err := model.LogLik(t.Context(), nil, found.Best(), ll[:], nil); err != nil {
			t.Fatal(err)
		}
		return -ll[0] / 50
	}
	if zero := loss(prior); !golden.Near(zero, math.Log(3), 0.1, 0) {
		t.Errorf("on the learned prior itself the mean NLL is %v, of the zero network %v", zero, math.Log(3))
	}
	if nll := loss(bnn.Whole(prior, net)); !(nll < 0.7) {
		t.Errorf("on the prior for searches the mean NLL is %v", nll)
	}

	job := &Job{Net: net, Prior: prior, Search: &search.Search, Pool: pool.New(2), Run: without(t), Data: &data.Problem{Name: "blobs", Train: set}}
	job.Search.Complete(0, false, nil)
	out := newOutcome()
	if err := job.search(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	norm := 0.0
	for _, x := range job.Points.Best() {
		norm += x * x
	}
	if !(norm > 2) {
		t.Errorf("a job's restart has |θ|² = %v", norm)
	}
}
