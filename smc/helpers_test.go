package smc

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// density is a log-likelihood with its gradient (grad may be nil), as a Model of one example.
type density struct {
	d   int
	log func(theta, grad []float64) float64
}

func (m density) Dim() int      { return m.d }
func (m density) Examples() int { return 1 }
func (m density) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	var g []float64
	for j := range ll {
		if grad != nil {
			g = grad[j*m.d : (j+1)*m.d]
		}
		ll[j] = m.log(theta[j*m.d:(j+1)*m.d], g)
	}
	return nil
}

// normal is a prior of independent components N(mean, sd²).
type normal struct {
	d        int
	mean, sd float64
	means    []float64 // if not nil, in place of mean
	sds      []float64 // if not nil, in place of sd
}

func (p normal) Dim() int { return p.d }
func (p normal) SD(i int) float64 {
	if p.sds != nil {
		return p.sds[i]
	}
	return p.sd
}
func (p normal) Mean(i int) float64 {
	if p.means != nil {
		return p.means[i]
	}
	return p.mean
}
func (p normal) Sample(s *rng.Stream, theta []float64) {
	s.Normals(theta)
	for i := range theta {
		theta[i] = p.Mean(i) + p.SD(i)*theta[i]
	}
}
func (p normal) LogDensity(theta, grad []float64) (l float64) {
	for i, x := range theta {
		z := (x - p.Mean(i)) / p.SD(i)
		l -= 0.5*z*z + math.Log(p.SD(i)) + 0.5*log2Pi
		if grad != nil {
			grad[i] = -z / p.SD(i)
		}
	}
	return l
}

var _ mcmc.GaussianPrior = normal{}

// quadratic is c + b'θ − ½ θ'Pθ.
func quadratic(precision [][]float64, b []float64, c float64) density {
	d := len(b)
	var flat []float64
	for _, row := range precision {
		flat = append(flat, row...)
	}
	return density{d, func(theta, grad []float64) float64 {
		l := c
		for i, x := range theta {
			var px float64
			for k, p := range flat[i*d : (i+1)*d] {
				px += p * theta[k]
			}
			l += x * (b[i] - 0.5*px)
			if grad != nil {
				grad[i] = b[i] - px
			}
		}
		return l
	}}
}

type number = golden.Number

func floats(x []number) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func decode(t *testing.T, raw json.RawMessage, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

// near is |got − want| ≤ abs + rel·|want|, and equality for infinities; NaN is near nothing.
func near(got, want, rel, abs float64) bool {
	return got == want || math.Abs(got-want) <= abs+rel*math.Abs(want)
}

// quantile6 is the two-sided quantile of Student's t that chance exceeds once in 10⁶/tests, for the given degrees of
// freedom, by Hill's (1970) expansion of the normal quantile; its error is below 1 % from 10 degrees on.
func quantile6(degrees, tests int) float64 {
	z := math.Sqrt2 * math.Erfinv(1-1e-6/float64(tests))
	n := float64(degrees)
	z2 := z * z
	return z * (1 + (z2+1)/(4*n) + (5*z2*z2+16*z2+3)/(96*n*n) + (3*z2*z2*z2+19*z2*z2+17*z2-15)/(384*n*n*n))
}

// meanIs compares the mean of independent replicates with the truth: a correct sampler fails once in 10⁶/tests. bias is
// what the estimator may be off by nature. It returns the smallest error that it would have found for sure.
func meanIs(t *testing.T, what string, replicates []float64, truth, bias float64, tests int) float64 {
	t.Helper()
	n := float64(len(replicates))
	var mean, square float64
	for _, x := range replicates {
		mean += x / n
	}
	for _, x := range replicates {
		square += (x - mean) * (x - mean)
	}
	bound := quantile6(len(replicates)-1, tests)*math.Sqrt(square/(n-1)/n) + bias
	if !(math.Abs(mean-truth) <= bound) {
		t.Errorf("%s: mean of %d replicates %v, truth %v, difference %v beyond %v", what, len(replicates), mean, truth, mean-truth, bound)
	}
	return 2 * bound
}

// scripted is a move that does as it is told: it sets all particles in mutation m, counted from 0.
type scripted func(m int, theta []float64)

func (scripted) NeedsGradient() bool                    { return false }
func (scripted) Evaluations() int                       { return 1 }
func (scripted) Tuning(*mcmc.Target) ([]float64, error) { return []float64{0}, nil }
func (f scripted) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, _ []float64, now mcmc.Moment) (mcmc.Outcome, error) {
	f(now.Key.Mutation, p.Theta)
	energy := make([]float64, p.J)
	for j := range energy {
		energy[j] = float64(j + 1)
	}
	return mcmc.Outcome{Energy: energy, Probability: make([]float64, p.J), Values: 1}, target.Evaluate(ctx, p)
}

// step initialises s and makes one iteration.
func step(t *testing.T, s *Sampler) (*State, Info) {
	t.Helper()
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Step(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	return st, info
}

// run takes s from the start to the end.
func run(t *testing.T, s *Sampler) (*State, []Info) {
	t.Helper()
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var infos []Info
	if err := s.Run(context.Background(), st, func(_ *State, info Info) error {
		infos = append(infos, info)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return st, infos
}
