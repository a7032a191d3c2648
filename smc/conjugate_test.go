package smc

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
)

// problem is a model and a prior with the posterior moments and evidence known.
type problem struct {
	name  string
	model mcmc.Model
	prior normal
	mean  []float64
	vars  []float64
	cov   [][]float64 // nil: only the variances are known
	logZ  float64
}

// replicate runs islands independent samplers of the given particles to their end.
func replicate(t *testing.T, p problem, islands int, settings Sampler) []*State {
	t.Helper()
	samplers := make([]*Sampler, islands)
	for i := range samplers {
		s := settings
		s.Model, s.Prior, s.Island = p.model, p.prior, i
		samplers[i] = &s
	}
	states, err := RunIslands(context.Background(), pool.New(0), samplers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return states
}

// moment is the weighted mean of f over a state's particles.
func moment(st *State, f func(theta []float64) float64) (m float64) {
	for j, l := range st.LogW {
		m += math.Exp(l) * f(st.Theta[j*st.D:(j+1)*st.D])
	}
	return m
}

// checkPosterior compares replicate islands with the known evidence, means, variances and neighbouring covariances.
// A test that does so for several cases fails once in 10⁶ runs, all cases together, if what islands estimate is normal;
// log Z is a little skew, being biased down by half its variance, and by a like amount through adaptation.
func checkPosterior(t *testing.T, p problem, cases int, states []*State) {
	t.Helper()
	d := len(p.mean)
	tests := (1 + 3*d) * cases
	logZ := make([]float64, len(states))
	for i, st := range states {
		logZ[i] = st.LogZ
	}
	combined, err := Combine(logZ)
	if err != nil {
		t.Fatal(err)
	}
	found := meanIs(t, "log Z", logZ, p.logZ, combined.SD*combined.SD, tests)
	estimates := func(f func(theta []float64) float64) []float64 {
		m := make([]float64, len(states))
		for i, st := range states {
			m[i] = moment(st, f)
		}
		return m
	}
	var shift float64 // in posterior standard deviations
	for i := range d {
		f := meanIs(t, fmt.Sprintf("mean of θ_%d", i), estimates(func(x []float64) float64 { return x[i] }), p.mean[i], 0, tests)
		shift = max(shift, f/math.Sqrt(p.vars[i]))
		meanIs(t, fmt.Sprintf("variance of θ_%d", i),
			estimates(func(x []float64) float64 { return (x[i] - p.mean[i]) * (x[i] - p.mean[i]) }), p.vars[i], 0, tests)
		if k := (i + 1) % d; p.cov != nil {
			meanIs(t, fmt.Sprintf("covariance of θ_%d and θ_%d", i, k),
				estimates(func(x []float64) float64 { return (x[i] - p.mean[i]) * (x[k] - p.mean[k]) }), p.cov[i][k], 0, tests)
		}
	}
	t.Logf("log Z %.4f ± %.4f over %d islands, truth %.4f; errors found: log Z %.3f, means %.3f posterior sd; stages %d",
		combined.LogZ, combined.SD, len(states), p.logZ, found, shift, states[0].K)
}
