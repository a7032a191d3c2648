package main

import (
	"math"

	"github.com/starling-smc/starling/bayes"
)

// rungeKutta advances y by the classical method of order 4 for the given number of steps of size h from time t. slope sets d to dy/dt.
// scratch holds five vectors of the length of y.
func rungeKutta(slope func(t float64, y, d []float64), t, h float64, steps int, y, scratch []float64) {
	n := len(y)
	at, d1, d2, d3, d4 := scratch[:n], scratch[n:2*n], scratch[2*n:3*n], scratch[3*n:4*n], scratch[4*n:5*n]
	along := func(d []float64, h float64) []float64 {
		for i, v := range y {
			at[i] = v + float64(h*d[i])
		}
		return at
	}
	half := float64(h / 2)
	for range steps {
		slope(t, y, d1)
		slope(t+half, along(d1, half), d2)
		slope(t+half, along(d2, half), d3)
		slope(t+h, along(d3, h), d4)
		for i := range y {
			y[i] += float64(h / 6 * (d1[i] + 2*d2[i] + 2*d3[i] + d4[i]))
		}
		t += h
	}
}

// lognormal returns the log density of y at the median m, whose derivatives by parameters are slopes, and adds the gradient.
func lognormal(y, m float64, slopes []float64, p, grad []float64, sigma int) float64 {
	l, byMean, bySD := normal(math.Log(y), math.Log(m), p[sigma])
	for i, v := range slopes {
		grad[i] += float64(byMean / m * v)
	}
	grad[sigma] += bySD
	return l - math.Log(y)
}

// lotkaVolterra is the predator and prey model of lynxes v and hares u:
//
//	du/dt = (alpha − beta v) u,   dv/dt = (delta u − gamma) v,
//
// measured with lognormal errors. The derivatives S of u and v by the six parameters alpha, beta, gamma, delta, u(0), v(0) follow
// dS/dt = J S + ∂f. Where the solution is not a positive number the likelihood is 0.
func lotkaVolterra(d dataset) (*bayes.Model, error) {
	const steps = 5 // a year; their error is .001 in the log-likelihood
	first, y := d.column("y_init"), as[[][2]float64](d, "y")
	return bayes.New([]bayes.Parameter{
		{Name: "theta[1]", Prior: bayes.PositiveNormal{Mean: 1, SD: 0.5}},
		{Name: "theta[2]", Prior: bayes.PositiveNormal{Mean: 0.05, SD: 0.05}},
		{Name: "theta[3]", Prior: bayes.PositiveNormal{Mean: 1, SD: 0.5}},
		{Name: "theta[4]", Prior: bayes.PositiveNormal{Mean: 0.05, SD: 0.05}},
		{Name: "z_init", Size: 2, Prior: bayes.LogNormal{Mean: math.Log(10), SD: 1}},
		{Name: "sigma", Size: 2, Prior: bayes.LogNormal{Mean: -1, SD: 1}},
	}, 1, func(_ int, p, grad []float64) (l float64) {
		slope := func(_ float64, z, d []float64) {
			u, v, byU, byV := z[0], z[1], z[2:8], z[8:14]
			uu, uv, vu, vv := p[0]-float64(p[1]*v), -p[1]*u, p[3]*v, float64(p[3]*u)-p[2]
			d[0], d[1] = uu*u, vv*v
			for i := range byU {
				d[2+i] = float64(uu*byU[i]) + float64(uv*byV[i])
				d[8+i] = float64(vu*byU[i]) + float64(vv*byV[i])
			}
			d[2] += u
			d[3] -= float64(u * v)
			d[10] -= v
			d[11] += float64(u * v)
		}
		var scratch [70]float64
		z := [14]float64{0: p[4], 1: p[5], 6: 1, 13: 1}
		for k := range 2 {
			l += lognormal(first[k], z[k], z[2+6*k:8+6*k], p, grad, 6+k)
		}
		for t, row := range y {
			rungeKutta(slope, float64(t), 1.0/steps, steps, z[:], scratch[:])
			for k := range 2 {
				if !(z[k] > 0) || math.IsInf(z[k], 1) {
					return math.Inf(-1)
				}
				l += lognormal(row[k], z[k], z[2+6*k:8+6*k], p, grad, 6+k)
			}
		}
		return l
	})
}

// oneCompartment is a compartment that absorbs a dose at the rate k_a and eliminates it by Michaelis and Menten's law:
//
//	dC/dt = D k_a e^(−k_a t)/V − V_m/V · C/(K_m + C),   C(0) = 0,
//
// measured with lognormal errors. The derivatives of C by k_a, K_m and V_m are solved with it.
func oneCompartment(d dataset) (*bayes.Model, error) {
	const steps = 10 // between two measurements
	dose, volume, times, measured := d.number("D"), d.number("V"), d.column("times"), d.column("C_hat")
	cauchy := bayes.HalfCauchy{Scale: 1}
	return bayes.New([]bayes.Parameter{
		{Name: "k_a", Prior: cauchy}, {Name: "K_m", Prior: cauchy}, {Name: "V_m", Prior: cauchy}, {Name: "sigma", Prior: cauchy},
	}, 1, func(_ int, p, grad []float64) (l float64) {
		ka, km, vm := p[0], p[1], p[2]
		slope := func(t float64, z, d []float64) {
			in := dose / volume * math.Exp(-ka*t)
			share := z[0] / (km + z[0])
			by := -vm / volume * km / ((km + z[0]) * (km + z[0]))
			d[0] = float64(in*ka) - float64(vm/volume*share)
			d[1] = float64(by*z[1]) + float64(in*(1-float64(ka*t)))
			d[2] = float64(by*z[2]) + vm/volume*share/(km+z[0])
			d[3] = float64(by*z[3]) - share/volume
		}
		var z [4]float64
		var scratch [20]float64
		from := 0.0
		for i, t := range times {
			rungeKutta(slope, from, (t-from)/steps, steps, z[:], scratch[:])
			from = t
			if !(z[0] > 0) || math.IsInf(z[0], 1) {
				return math.Inf(-1)
			}
			l += lognormal(measured[i], z[0], z[1:4], p, grad, 3)
		}
		return l
	})
}

// logs takes the logarithms.
func logs(p []float64) {
	for i, v := range p {
		p[i] = math.Log(v)
	}
}
