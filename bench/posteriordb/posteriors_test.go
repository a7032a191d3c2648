package main

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
)

// Gradients are those of the values, and the quantities are those of the reference draws.
func TestPosteriors(t *testing.T) {
	for _, p := range posteriors {
		m, err := p.build(0)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := mcmc.CheckGradient(t.Context(), m, m.Prior()); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		reference, err := p.moments()
		if err != nil {
			t.Error(err)
			continue
		}
		if len(reference) != m.Dim() {
			t.Errorf("%s: %d quantities of %d parameters", p.name, len(reference), m.Dim())
		}
		for i, r := range reference {
			if i < m.Dim() && p.quantities == nil && r.Name != m.Name(i) {
				t.Errorf("%s: parameter %s, quantity %s", p.name, m.Name(i), r.Name)
			}
		}
		if !strings.HasPrefix(p.name, p.data+"-") {
			t.Errorf("%s reads %s", p.name, p.data)
		}
	}
}

// A regression is the sum of normal log densities over the examples.
func TestRegression(t *testing.T) {
	var d dataset
	if err := read("kilpisjarvi_mod", &d.values); err != nil {
		t.Fatal(err)
	}
	m, err := kilpisjarvi(d)
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{-40, 0.012, 0.3} // alpha, beta and log sigma
	x, y, want := d.column("x"), d.column("y"), 0.0
	for i := range y {
		l, _, _ := normal(y[i], theta[0]+theta[1]*x[i], math.Exp(theta[2]))
		want += l
	}
	want -= bayes.LogNormal{Mean: math.Log(deviation(y)), SD: 1}.LogDensity(math.Exp(theta[2]), nil, make([]float64, 1)) // the start of sigma
	got := make([]float64, 1)
	if err := m.LogLik(t.Context(), nil, theta, got, nil); err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(got[0]-want) < 1e-9*math.Abs(want)) {
		t.Errorf("log-likelihood %v, want %v", got[0], want)
	}
}

func deviation(x []float64) float64 { _, sd := numeral.Spread(x); return sd }
