package main

import "github.com/starling-smc/starling/bayes"

// schoolsNoncentered has the effects theta = mu + tau theta_trans.
func schoolsNoncentered(d dataset) (*bayes.Model, error) {
	y, sigma := d.column("y"), d.column("sigma")
	return bayes.New([]bayes.Parameter{
		{Name: "theta_trans", Size: len(y), Prior: bayes.Normal{SD: 1}},
		{Name: "mu", Prior: bayes.Normal{SD: 5}},
		{Name: "tau", Prior: bayes.HalfCauchy{Scale: 5}},
	}, len(y), func(i int, p, grad []float64) float64 {
		mu, tau := len(y), len(y)+1
		l, slope, _ := normal(y[i], p[mu]+float64(p[tau]*p[i]), sigma[i])
		grad[i] += float64(slope * p[tau])
		grad[mu] += slope
		grad[tau] += float64(slope * p[i])
		return l
	})
}

// schoolsQuantities turns theta_trans, mu, tau into theta, mu, tau.
func schoolsQuantities(p []float64) {
	mu, tau := p[len(p)-2], p[len(p)-1]
	for i := range p[:len(p)-2] {
		p[i] = mu + float64(tau*p[i])
	}
}

// schoolsCentered has the effects as parameters. Their prior needs mu and tau before it.
func schoolsCentered(d dataset) (*bayes.Model, error) {
	y, sigma := d.column("y"), d.column("sigma")
	return bayes.New([]bayes.Parameter{
		{Name: "mu", Prior: bayes.Normal{SD: 5}},
		{Name: "tau", Prior: bayes.HalfCauchy{Scale: 5}},
		{Name: "theta", Size: len(y), Prior: bayes.HierarchicalNormal{Mean: "mu", SD: "tau"}},
	}, len(y), func(i int, p, grad []float64) float64 {
		l, slope, _ := normal(y[i], p[2+i], sigma[i])
		grad[2+i] += slope
		return l
	})
}

// centredQuantities turns mu, tau, theta into theta, mu, tau.
func centredQuantities(p []float64) {
	mu, tau := p[0], p[1]
	copy(p, p[2:])
	p[len(p)-2], p[len(p)-1] = mu, tau
}
