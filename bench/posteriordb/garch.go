package main

import (
	"math"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/internal/numeral"
)

// garch is the GARCH(1, 1) model: y_t ~ N(mu, h_t) with
//
//	h_t = alpha0 + alpha1 (y_(t−1) − mu)² + beta1 h_(t−1).
//
// In Stan beta1 is flat on (0, 1 − alpha1). Here it is (1 − alpha1) share, and share is flat on (0, 1): the coordinates are
// those of Stan, and the factor 1 − alpha1 of the density belongs to the change from beta1 to share.
func garch(d dataset) (*bayes.Model, error) {
	y, first := d.column("y"), d.number("sigma1")
	mean, sd := numeral.Spread(y)
	return bayes.New([]bayes.Parameter{
		{Name: "mu", Prior: d.flat(bayes.Normal{Mean: mean, SD: 10 * sd})},
		{Name: "alpha0", Prior: d.flat(bayes.LogNormal{Mean: 2 * math.Log(sd), SD: 1})},
		{Name: "alpha1", Prior: bayes.Uniform{Upper: 1}},
		{Name: "share", Prior: bayes.Uniform{Upper: 1}},
	}, 1, func(_ int, p, grad []float64) float64 {
		const mu, alpha0, alpha1, beta1 = 0, 1, 2, 3
		beta := (1 - p[alpha1]) * p[3]
		h := first * first
		var slopes, byH [4]float64 // derivatives of the log-likelihood and of h by mu, alpha0, alpha1, beta1
		l := math.Log(1 - p[alpha1])
		for t, v := range y {
			if t > 0 {
				e := y[t-1] - p[mu]
				byH = [4]float64{float64(beta*byH[mu]) - float64(2*p[alpha1]*e), float64(beta*byH[alpha0]) + 1, float64(beta*byH[alpha1]) + float64(e*e), float64(beta*byH[beta1]) + h}
				h = p[alpha0] + float64(p[alpha1]*e*e) + float64(beta*h)
			}
			e := v - p[mu]
			l += float64(-0.5*math.Log(h)) - 0.5*e*e/h - halfLog2Pi
			slopes[mu] += e / h
			for k := range slopes {
				slopes[k] += float64(0.5 * (e*e/h - 1) / h * byH[k])
			}
		}
		grad[mu] += slopes[mu]
		grad[alpha0] += slopes[alpha0]
		grad[alpha1] += slopes[alpha1] - float64(slopes[beta1]*p[3]) - 1/(1-p[alpha1])
		grad[3] += float64(slopes[beta1] * (1 - p[alpha1]))
		return l
	})
}

// garchQuantities turns share into beta1.
func garchQuantities(p []float64) { p[3] *= 1 - p[2] }
