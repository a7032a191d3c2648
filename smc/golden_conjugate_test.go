package smc

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// problemOf turns a golden case into a problem for a tempered sampler; false for kinds without a normal prior.
func problemOf(t *testing.T, c golden.Case) (problem, bool) {
	t.Helper()
	var want struct {
		Mean []float64
		Var  json.RawMessage
		Cov  [][]float64
		LogZ float64
	}
	decode(t, c.Expected, &want)
	p := problem{name: c.Name, mean: want.Mean, cov: want.Cov, logZ: want.LogZ}
	if want.Cov == nil && want.Var != nil {
		decode(t, want.Var, &p.vars)
	}
	for i := range want.Cov {
		p.vars = append(p.vars, want.Cov[i][i])
	}
	switch c.Kind {
	case "blr":
		var in struct {
			X         [][]float64
			Y         []float64
			Sigma2    float64
			PriorMean []float64 `json:"prior_mean"`
			PriorVar  float64   `json:"prior_var"`
			Lambda    float64
		}
		decode(t, c.Inputs, &in)
		p.model = regression(in.X, in.Y, in.Sigma2, in.Lambda)
		p.prior = normal{d: len(in.PriorMean), sd: math.Sqrt(in.PriorVar), means: in.PriorMean}
	case "gaussian_target":
		var in struct {
			L        [][]float64
			A        []float64
			PriorVar float64 `json:"prior_var"`
		}
		decode(t, c.Inputs, &in)
		b, constant := make([]float64, len(in.A)), 0.0
		for i := range in.A {
			for k := range in.A {
				b[i] += in.L[i][k] * in.A[k]
			}
			constant -= 0.5 * in.A[i] * b[i]
		}
		p.model = quadratic(in.L, b, constant)
		p.prior = normal{d: len(in.A), sd: math.Sqrt(in.PriorVar)}
	case "logistic":
		var in struct {
			X        [][]float64
			Y        []float64
			PriorVar float64 `json:"prior_var"`
		}
		decode(t, c.Inputs, &in)
		p.model = logistic(in.X, in.Y)
		p.prior = normal{d: len(in.X[0]), sd: math.Sqrt(in.PriorVar)}
	case "gmm25":
		// The mixture over a wide normal is a likelihood for that normal as prior: evidence 1, posterior the mixture.
		var in struct {
			Grid []float64
			Var  float64 `json:"component_var"`
		}
		decode(t, c.Inputs, &in)
		p.prior = normal{d: 2, sd: 4}
		p.model = over(mixture(in.Grid, in.Var), p.prior)
	case "banana", "funnel":
		return p, false
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
	return p, true
}

// Evidence and moments of every golden posterior, by tempered samplers with either move and its defaults. The logistic posteriors are
// skew and the mixtures have 25 modes. The usual test has 16 islands and finds errors 1.7 times as large as the long
// one with 24, which also has the posterior of 50 dimensions.
func TestGoldenEvidenceAndMoments(t *testing.T) {
	testkit.Statistics(t)
	long := testkit.Long(t, 1)
	cases := golden.Read(t, "conjugate.json")
	for _, c := range cases {
		p, ok := problemOf(t, c)
		if !ok {
			continue // TestGoldenInvariance
		}
		d := len(p.mean)
		moves := map[string]Sampler{
			"hmc": {Particles: 300, Move: mcmc.HMC{}},
			"pcn": {Particles: 300, Move: mcmc.PCN{}},
		}
		islands := 16
		if long {
			islands = 24
		}
		switch {
		case d > 10 && long:
			moves, islands = map[string]Sampler{"hmc": {Particles: 200, Move: mcmc.HMC{}}}, 11
			t.Logf("%s: %d dimensions need more pCN moves than a test has time for", p.name, d)
		case d > 10 || testing.Short() && d > 2 && c.Kind != "logistic":
			continue
		}
		for name, s := range moves {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				s.Path, s.Resample, s.Seed = Tempering{}, Resampler{When: Always{}}, 1
				checkPosterior(t, p, 2*len(cases), replicate(t, p, islands, s)) // two moves each, at most
			})
		}
	}
}

// Densities and gradients of the golden targets that have no normal prior, at the golden points.
func TestGoldenDensities(t *testing.T) {
	for _, c := range golden.Read(t, "conjugate.json") {
		var in struct {
			Points [][]float64
		}
		var want struct {
			LogPDF []float64
			Grad   [][]float64
		}
		decode(t, c.Inputs, &in)
		if in.Points == nil {
			continue
		}
		decode(t, c.Expected, &want)
		target := targetOf(t, c)
		for i, x := range in.Points {
			grad := make([]float64, len(x))
			if l := target.log(x, grad); !golden.Near(l, want.LogPDF[i], 1e-8, 1e-10) {
				t.Errorf("%s at %v: log density %v, want %v", c.Name, x, l, want.LogPDF[i])
			}
			for k := range x {
				if !golden.Near(grad[k], want.Grad[i][k], 1e-8, 1e-10) {
					t.Errorf("%s at %v: gradient %v, want %v", c.Name, x, grad, want.Grad[i])
				}
			}
		}
	}
}

// targetOf returns the normalised density of a golden mixture, banana or funnel.
func targetOf(t *testing.T, c golden.Case) density {
	t.Helper()
	var in struct {
		Grid []float64
		Var  float64 `json:"component_var"`
		S2   float64
		B    float64
		S    float64
		D    int
	}
	decode(t, c.Inputs, &in)
	switch c.Kind {
	case "gmm25":
		return mixture(in.Grid, in.Var)
	case "banana":
		return banana(in.S2, in.B)
	case "funnel":
		return funnel(in.S, in.D)
	}
	t.Fatalf("unknown kind %q", c.Kind)
	return density{}
}
