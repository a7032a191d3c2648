package smc

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/numeral"
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
	logSD := math.Log(p.sd) // once: samplers ask for the density a hundred million times
	for i, x := range theta {
		if p.sds != nil {
			logSD = math.Log(p.sds[i])
		}
		z := (x - p.Mean(i)) / p.SD(i)
		l -= 0.5*z*z + logSD + 0.5*log2Pi
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

type number = numeral.Number

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

// quantile6 is the two-sided quantile of Student's t that chance exceeds once in 10⁶/tests, for the given degrees of
// freedom.
func quantile6(degrees, tests int) float64 {
	rare := func(x float64) bool { return studentTail(x, degrees) < 1e-6/float64(tests) }
	lo, hi := 0.0, 1.0
	for !rare(hi) {
		lo, hi = hi, 2*hi
	}
	for range 40 {
		if mid := (lo + hi) / 2; rare(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// studentTail is P(|T| > x), by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
func studentTail(x float64, degrees int) float64 {
	n, odd := float64(degrees), degrees%2
	sin, cos2 := x/math.Sqrt(n+x*x), n/(n+x*x)
	sum, term := 0.0, 1.0
	if odd == 1 {
		term = math.Sqrt(cos2)
	}
	for i := 1 + odd; i < degrees; i += 2 {
		sum += term
		term *= float64(i) / float64(i+1) * cos2
	}
	if odd == 1 {
		return 1 - 2/math.Pi*(math.Atan(x/math.Sqrt(n))+sin*sum)
	}
	return 1 - sin*sum
}

// From tables, to their three digits.
func TestStudentTail(t *testing.T) {
	for _, c := range []struct {
		degrees int
		x, want float64
	}{{1, 6.314, 0.1}, {3, 3.182, 0.05}, {10, 4.587, 0.001}, {19, 3.883, 0.001}, {19, 2.093, 0.05}, {2999, 1.961, 0.05}} {
		if got := studentTail(c.x, c.degrees); !golden.Near(got, c.want, 2e-3, 0) {
			t.Errorf("%d degrees: beyond %v lie %v, want %v", c.degrees, c.x, got, c.want)
		}
	}
	if rate := studentTail(quantile6(10, 300), 10); !golden.Near(rate, 1e-6/300, 1e-5, 0) {
		t.Errorf("the quantile for once in 3e8 is exceeded with probability %v", rate)
	}
}

// meanIs compares the mean of independent replicates with the truth: a correct sampler fails once in 10⁶/tests, if
// replicates are normal. bias is what the estimator may be off by nature. It returns the smallest error that it would have found for sure.
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

func (scripted) Traits() mcmc.Traits                         { return mcmc.Traits{} }
func (scripted) Tuning(*mcmc.Target, int) ([]float64, error) { return []float64{0}, nil }
func (f scripted) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, _ []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	f(now.Key.Mutation, p.Theta)
	energy := make([]float64, p.J)
	for j := range energy {
		energy[j] = float64(j + 1)
	}
	out := nothingDone(p)
	out.Energy = energy
	for j := range out.Values {
		out.Values[j] = 1
	}
	return out, target.Evaluate(ctx, p)
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
