package main

import (
	"context"
	"math"
	"testing"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Importance sampling has the evidence, the means and the variances of quadrature in two dimensions. Their standard errors are below a
// thousandth of a nat, .004 standard deviations and half a percent: the bounds are five of them.
func TestKnown(t *testing.T) {
	set, err := goodWines()
	if err != nil {
		t.Fatal(err)
	}
	small, d := logistic{d: 2}, set.Features()
	for i := range 60 {
		small.x = append(small.x, set.F32[i*d], set.F32[(i+1)*d-1])
		small.y = append(small.y, set.Labels[i])
	}
	got, err := small.known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const step = 0.04
	var z float64
	mean, square := make([]float64, 2), make([]float64, 2)
	for a := -6.0; a < 6; a += step {
		for b := -8.0; b < 20; b += step {
			mass := step * step * math.Exp(small.log([]float64{a, b}, nil, nil)-got.logZ)
			z += mass
			for k, v := range []float64{a, b} {
				mean[k] += mass * v
				square[k] += mass * v * v
			}
		}
	}
	if !(math.Abs(math.Log(z)) < 0.005) {
		t.Errorf("log Z is %v, off by %v", got.logZ, -math.Log(z))
	}
	for k := range mean {
		m := mean[k] / z
		if v := square[k]/z - m*m; !(math.Abs(got.mean[k]-m) < 0.02*math.Sqrt(v)) || !(math.Abs(got.variance[k]/v-1) < 0.025) {
			t.Errorf("coefficient %d: mean %v and variance %v, want %v and %v", k, got.mean[k], got.variance[k], m, v)
		}
	}
}

// The samplers' model is the posterior that importance sampling knows: network and prior together have its density. 855 of the 1,599 red wines have
// a quality of 6 or more.
func TestLogisticPosterior(t *testing.T) {
	set, err := goodWines()
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, y := range set.Labels {
		good += int(y)
	}
	if set.Len() != 1599 || good != 855 || set.Features() != 12 {
		t.Errorf("%d wines of %d numbers, %d of them good", set.Len(), set.Features(), good)
	}
	p, err := logisticPosterior(t.Context(), "wine-red", "data")
	if err != nil {
		t.Fatal(err)
	}
	l := logistic{set.Features(), set.F32, set.Labels}
	ll := make([]float64, 1)
	for _, theta := range [][]float64{make([]float64, 12), p.mean} {
		if err := p.model.LogLik(t.Context(), nil, theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		if want := l.log(theta, nil, nil); !(math.Abs(ll[0]+p.prior.LogDensity(theta, nil)-want) < 1e-3) {
			t.Errorf("at %v the model has %v, want %v", theta, ll[0]+p.prior.LogDensity(theta, nil), want)
		}
	}
	grad, hessian := make([]float64, 12), make([]float64, 144)
	l.log(p.mean, grad, hessian)
	for i, v := range p.variance { // the mean is near the mode, where the gradient is 0
		if !(math.Abs(grad[i])*math.Sqrt(v) < 1) {
			t.Errorf("at the mean the gradient by coefficient %d is %v, the standard deviation %v", i, grad[i], math.Sqrt(v))
		}
	}
	if _, err := logisticPosterior(t.Context(), "pima", ""); err == nil {
		t.Error("pima without its folder: no error")
	}
}

// The linear regression's posterior solves its equations; the square of an error is in its variances, and a waste-free sampler's particles have a small one.
func TestLinearPosterior(t *testing.T) {
	q := regression(3, 8, 1)
	p := q.posterior()
	for i := range 3 {
		sum := p.mean[i] - q.b[i]
		for k, m := range p.mean {
			sum += q.precision[i*3+k] * m
		}
		if !(math.Abs(sum) < 1e-9) {
			t.Errorf("equation %d is off by %v", i, sum)
		}
	}
	st := &smc.State{Population: mcmc.NewPopulation(2, 3, mcmc.Needs{})}
	st.LogW = []float64{math.Log(0.25), math.Log(0.75)}
	for i := range 3 { // the mean is off by one standard deviation
		sd := math.Sqrt(p.variance[i])
		st.Theta[i], st.Theta[3+i] = p.mean[i]+4*sd, p.mean[i]
	}
	if got := p.squareError(st); !(math.Abs(got-1) < 1e-9) {
		t.Errorf("the square of the error is %v, want 1", got)
	}
	for _, c := range cells() {
		if c.chains == 0 || c.d != 20 || c.chains != 50 {
			continue
		}
		q := regression(c.d, c.rows, 1).posterior()
		st, err := finish(context.Background(), c.sampler(q, smc.Tempering{}, nil, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if off := st.LogZ - q.logZ; st.J != 550 || st.Gradients > 40000 || !(math.Abs(off) < 2) || !(q.squareError(st) < 0.1) {
			t.Errorf("%v: %d particles, %d gradients, log Z off by %v, the mean's square error %v", c, st.J, st.Gradients, off, q.squareError(st))
		}
		return
	}
	t.Error("no cell is of 50 chains in 20 dimensions")
}
