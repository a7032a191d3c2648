package smc

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// problemOf turns a golden case into a problem for a tempered sampler; false for kinds without a normal prior.
func problemOf(t *testing.T, c golden) (problem, bool) {
	t.Helper()
	p := problem{name: c.Name}
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
		var want struct {
			Mean []float64
			Cov  [][]float64
			LogZ float64
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		p.model = regression(in.X, in.Y, in.Sigma2, in.Lambda)
		p.prior = normal{d: len(in.PriorMean), sd: math.Sqrt(in.PriorVar), means: in.PriorMean}
		p.mean, p.cov, p.logZ = want.Mean, want.Cov, want.LogZ
	case "gaussian_target":
		var in struct {
			L        [][]float64
			A        []float64
			PriorVar float64 `json:"prior_var"`
		}
		var want struct {
			Mean []float64
			Cov  [][]float64
			LogZ float64
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		b, constant := make([]float64, len(in.A)), 0.0
		for i := range in.A {
			for k := range in.A {
				b[i] += in.L[i][k] * in.A[k]
			}
			constant -= 0.5 * in.A[i] * b[i]
		}
		p.model = quadratic(in.L, b, constant)
		p.prior = normal{d: len(in.A), sd: math.Sqrt(in.PriorVar)}
		p.mean, p.cov, p.logZ = want.Mean, want.Cov, want.LogZ
	case "logistic":
		var in struct {
			X        [][]float64
			Y        []float64
			PriorVar float64 `json:"prior_var"`
		}
		var want struct {
			Mean []float64
			Cov  [][]float64
			LogZ float64
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		p.model = logistic(in.X, in.Y)
		p.prior = normal{d: len(in.X[0]), sd: math.Sqrt(in.PriorVar)}
		p.mean, p.cov, p.logZ = want.Mean, want.Cov, want.LogZ
	case "gmm25":
		// The mixture over a wide normal is a likelihood for that normal as prior: evidence 1, posterior the mixture.
		var in struct {
			Grid []float64
			Var  float64 `json:"component_var"`
		}
		var want struct {
			Mean []float64
			Cov  [][]float64
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		p.prior = normal{d: 2, sd: 4}
		p.model = over(mixture(in.Grid, in.Var), p.prior)
		p.mean, p.cov = want.Mean, want.Cov
	case "banana", "funnel":
		return p, false
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
	return p, true
}

// Evidence and moments of every golden posterior, by tempered samplers with either move.
func TestGoldenEvidenceAndMoments(t *testing.T) {
	for _, c := range readGolden(t, "conjugate.json") {
		p, ok := problemOf(t, c)
		if !ok {
			continue // TestGoldenInvariance
		}
		settings := Sampler{Path: Tempering{}, Resample: Resampler{When: Always}, Seed: 1}
		t.Run(c.Name+"/hmc", func(t *testing.T) {
			s := settings
			s.Particles, s.Move, s.Mutations = 300, mcmc.HMC{Steps: 5}, Mutations{Count: 4}
			checkPosterior(t, p, replicate(t, p, 24, s))
		})
		t.Run(c.Name+"/pcn", func(t *testing.T) {
			if len(p.mean) > 10 {
				t.Logf("%d dimensions need more pCN moves than a test has time for", len(p.mean))
				return
			}
			s := settings
			s.Particles, s.Move, s.Mutations = 300, mcmc.PCN{}, Mutations{Count: 10}
			checkPosterior(t, p, replicate(t, p, 24, s))
		})
	}
}

// Densities and gradients of the golden targets that have no normal prior, at the golden points.
func TestGoldenDensities(t *testing.T) {
	for _, c := range readGolden(t, "conjugate.json") {
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
			if l := target.log(x, grad); !near(l, want.LogPDF[i], 1e-8, 1e-10) {
				t.Errorf("%s at %v: log density %v, want %v", c.Name, x, l, want.LogPDF[i])
			}
			for k := range x {
				if !near(grad[k], want.Grad[i][k], 1e-8, 1e-10) {
					t.Errorf("%s at %v: gradient %v, want %v", c.Name, x, grad, want.Grad[i])
				}
			}
		}
	}
}

// targetOf returns the normalised density of a golden mixture, banana or funnel.
func targetOf(t *testing.T, c golden) density {
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
