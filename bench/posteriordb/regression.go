package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/internal/numeral"
)

const halfLog2Pi = 0.91893853320467274178032973640562

// normal returns log N(y; mean, sd²) and its derivatives by the mean and by the standard deviation.
func normal(y, mean, sd float64) (l, byMean, bySD float64) {
	z := (y - mean) / sd
	return float64(-0.5*z*z) - math.Log(sd) - halfLog2Pi, z / sd, (float64(z*z) - 1) / sd
}

// regression is y ~ normal(X β, sigma). The parameters are the coefficients of the columns of X and sigma, in this order. With
// X = Q R and z = Q'y, the sum of squares is |z − R β|² and a constant, so a gradient costs the same for any number of examples.
func regression(y []float64, columns [][]float64, parameters []bayes.Parameter) (*bayes.Model, error) {
	k, n := len(columns), float64(len(y))
	r, z, rest := reduce(y, columns)
	return bayes.New(parameters, 1, func(_ int, p, grad []float64) float64 {
		sigma, square := p[k], rest
		for i, row := range r {
			e := z[i]
			for c := i; c < k; c++ {
				e -= float64(row[c] * p[c])
			}
			square += float64(e * e)
			for c := i; c < k; c++ {
				grad[c] += float64(e / (sigma * sigma) * row[c])
			}
		}
		square /= sigma * sigma
		grad[k] += (square - n) / sigma
		return float64(-0.5*square) - float64(n*(math.Log(sigma)+halfLog2Pi))
	})
}

// reduce returns R, z and |y − Q z|² by the modified method of Gram and Schmidt, which is as exact as any for these three (Björck
// 1967).
func reduce(y []float64, columns [][]float64) (r [][]float64, z []float64, rest float64) {
	k := len(columns)
	var left [][]float64 // what is orthogonal to the columns before
	for _, c := range append(columns[:k:k], y) {
		left = append(left, slices.Clone(c))
	}
	for i := range k {
		row := make([]float64, k+1)
		row[i] = math.Sqrt(dot(left[i], left[i]))
		for c := i + 1; c <= k; c++ {
			row[c] = dot(left[i], left[c]) / row[i]
			for m, v := range left[i] {
				left[c][m] -= float64(row[c] / row[i] * v)
			}
		}
		r, z = append(r, row[:k]), append(z, row[k])
	}
	return r, z, dot(left[k], left[k])
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// flats are flat coefficients beta[1], beta[2], … and sigma with the given prior; nil: flat. The starts are as wide as the
// weakly informative priors of rstanarm, which knows the units of the data: N(0, (2.5 sd(y)/sd(x))²) for a slope,
// N(mean y, (10 sd(y))²) for the intercept, the first column.
func (d dataset) flats(y []float64, x [][]float64, sigma bayes.Prior) (parameters []bayes.Parameter) {
	mean, sd := numeral.Spread(y)
	for c, column := range x {
		start := bayes.Normal{Mean: mean, SD: 10 * sd}
		if c > 0 {
			_, unit := numeral.Spread(column)
			start = bayes.Normal{SD: 2.5 * sd / unit}
		}
		parameters = append(parameters, bayes.Parameter{Name: fmt.Sprintf("beta[%d]", c+1), Prior: d.flat(start)})
	}
	if sigma == nil {
		sigma = d.flat(bayes.LogNormal{Mean: math.Log(sd), SD: 1})
	}
	return append(parameters, bayes.Parameter{Name: "sigma", Prior: sigma})
}

// of is a column computed from others.
func of(f func(i int) float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func ones(n int) []float64 { return of(func(int) float64 { return 1 }, n) }

func earnHeight(d dataset) (*bayes.Model, error) {
	y := d.column("earn")
	x := [][]float64{ones(len(y)), d.column("height")}
	return regression(y, x, d.flats(y, x, nil))
}

func logearnInteraction(d dataset) (*bayes.Model, error) {
	earn, height, male := d.column("earn"), d.column("height"), d.column("male")
	n := len(earn)
	y := of(func(i int) float64 { return math.Log(earn[i]) }, n)
	x := [][]float64{ones(n), height, male, of(func(i int) float64 { return height[i] * male[i] }, n)}
	return regression(y, x, d.flats(y, x, nil))
}

func kidscoreMomiq(d dataset) (*bayes.Model, error) {
	y := d.column("kid_score")
	x := [][]float64{ones(len(y)), d.column("mom_iq")}
	return regression(y, x, d.flats(y, x, bayes.HalfCauchy{Scale: 2.5}))
}

func kidscoreInteraction(d dataset) (*bayes.Model, error) {
	y, hs, iq := d.column("kid_score"), d.column("mom_hs"), d.column("mom_iq")
	x := [][]float64{ones(len(y)), hs, iq, of(func(i int) float64 { return hs[i] * iq[i] }, len(y))}
	return regression(y, x, d.flats(y, x, bayes.HalfCauchy{Scale: 2.5}))
}

func mesquite(d dataset) (*bayes.Model, error) {
	y := d.column("weight")
	x := [][]float64{ones(len(y)), d.column("diam1"), d.column("diam2"), d.column("canopy_height"), d.column("total_height"),
		d.column("density"), d.column("group")}
	return regression(y, x, d.flats(y, x, nil))
}

func nes(d dataset) (*bayes.Model, error) {
	y, age := d.column("partyid7"), d.column("age_discrete")
	n := len(y)
	x := [][]float64{ones(n), d.column("real_ideo"), d.column("race_adj")}
	for group := 2.0; group <= 4; group++ {
		x = append(x, of(func(i int) float64 {
			if age[i] == group {
				return 1
			}
			return 0
		}, n))
	}
	x = append(x, d.column("educ1"), d.column("gender"), d.column("income"))
	return regression(y, x, d.flats(y, x, nil))
}

func kilpisjarvi(d dataset) (*bayes.Model, error) {
	y := d.column("y")
	x := [][]float64{ones(len(y)), d.column("x")}
	_, sd := numeral.Spread(y)
	return regression(y, x, []bayes.Parameter{
		{Name: "alpha", Prior: bayes.Normal{Mean: d.number("pmualpha"), SD: d.number("psalpha")}},
		{Name: "beta", Prior: bayes.Normal{Mean: d.number("pmubeta"), SD: d.number("psbeta")}},
		{Name: "sigma", Prior: d.flat(bayes.LogNormal{Mean: math.Log(sd), SD: 1})},
	})
}

func blr(d dataset) (*bayes.Model, error) {
	y, rows := d.column("y"), as[[][]float64](d, "X")
	var x [][]float64
	for c := range rows[0] {
		x = append(x, of(func(i int) float64 { return rows[i][c] }, len(y)))
	}
	return regression(y, x, []bayes.Parameter{
		{Name: "beta", Size: len(x), Prior: bayes.Normal{SD: 10}},
		{Name: "sigma", Prior: bayes.HalfNormal{SD: 10}},
	})
}

// arK is an autoregression of order 5: a regression on the five values before.
func arK(d dataset) (*bayes.Model, error) {
	const k = 5
	y := d.column("y")
	x := [][]float64{ones(len(y) - k)}
	for lag := 1; lag <= k; lag++ {
		x = append(x, y[k-lag:len(y)-lag])
	}
	return regression(y[k:], x, []bayes.Parameter{
		{Name: "alpha", Prior: bayes.Normal{SD: 10}},
		{Name: "beta", Size: k, Prior: bayes.Normal{SD: 10}},
		{Name: "sigma", Prior: bayes.HalfCauchy{Scale: 2.5}},
	})
}
