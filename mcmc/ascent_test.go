package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/golden"
)

// climbed is what climb makes of a start, with the scale that begins at sd.
func climbed(t *testing.T, target *Target, start []float64, most int, sd float64) (p Population, made int, learned bool, scales, factor []float64) {
	t.Helper()
	d := len(start)
	p = NewPopulation(1, d, Needs{Gradient: true})
	copy(p.Theta, start)
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	scales, factor = slices.Repeat([]float64{sd}, d), make([]float64, d*d)
	calls := target.Model.(*model).calls
	made, learned, err := climb(context.Background(), target, &p, 0, most, scales, factor)
	if err != nil {
		t.Fatal(err)
	}
	if took := target.Model.(*model).calls - calls; took > made || made > most {
		t.Errorf("%d evaluations said, %d calls, %d allowed", made, took, most)
	}
	theta, l := slices.Clone(p.Theta), target.LogDensity(&p, 0)
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	if got := target.LogDensity(&p, 0); !slices.Equal(theta, p.Theta) || !golden.Near(got, l, 1e-12, 1e-12) {
		t.Errorf("the particle carries log π %v, and has %v", l, got)
	}
	return p, made, learned, scales, factor
}

// free is a target without a prior to speak of.
func free(d int, log func(theta, grad []float64) float64) *Target {
	return &Target{Model: &model{d: d, log: log, factor: 1}, Prior: normal{make([]float64, d), slices.Repeat([]float64{1e12}, d)}, Lambda: 1}
}

// On a normal target Newton's method is at the top after one step, and the scale is the covariance itself: from 10⁹ standard deviations away, with
// standard deviations that differ by 10⁷, and a correlation of .99999. So it takes 2·2D evaluations and one, and as many again where rounding has
// spoilt the first. It ends where at most D/2 nats are promised, so within √D standard deviations. Where the chain begins in the bulk it stays,
// and learns the same scale.
func TestAscentOfANormal(t *testing.T) {
	covariance := []float64{1e-6, 0, 0, 0, 1e8, 9.9999e4 * 3, 0, 9.9999e4 * 3, 9e2}
	covariance[5], covariance[7] = 0.99999*1e4*30, 0.99999*1e4*30
	precision := make([][]float64, 3)
	l := slices.Clone(covariance)
	if !dense.Cholesky(l, 3) {
		t.Fatal("no covariance")
	}
	for i := range precision {
		precision[i] = make([]float64, 3)
		precision[i][i] = 1
		dense.Solve(l, precision[i])
	}
	mean := []float64{5, -2000, 70}
	target := free(3, gaussian(precision, mean))
	for _, c := range []struct {
		start []float64
		most  int
		stays bool
	}{
		{[]float64{1e6, 3e5, -4e4}, 20, false},
		{[]float64{5.001, 3000, 70 + 5000*0.003}, 6, true},
	} {
		for _, sd := range []float64{1, 1000} {
			p, made, learned, sds, factor := climbed(t, target, c.start, 1000, sd)
			if !learned || made > c.most || c.stays != slices.Equal(p.Theta, c.start) {
				t.Errorf("from %v: %v after %d evaluations, %v", c.start, p.Theta, made, learned)
			}
			for i := range 3 {
				if !golden.Near(sds[i], math.Sqrt(covariance[4*i]), 1e-3, 0) {
					t.Errorf("from %v: sd %v of coordinate %d, want %v", c.start, sds[i], i, math.Sqrt(covariance[4*i]))
				}
				for k := range i + 1 {
					if want := l[3*i+k]; !golden.Near(factor[3*i+k], want, 1e-3, 1e-3*l[4*i]) {
						t.Errorf("from %v: factor %v at %d, %d, want %v", c.start, factor[3*i+k], i, k, want)
					}
				}
				if !c.stays && !(math.Abs(p.Theta[i]-mean[i]) <= math.Sqrt(3)*sds[i]) {
					t.Errorf("from %v: ends at %v", c.start, p.Theta)
				}
			}
		}
	}
}

// A regression in its units, with the logarithm of sigma: the likelihood is far from normal on the way, sigma follows the residuals, and the
// curvature changes by 10¹⁰. At the end the quadratic promises at most D/2 nats, so the coefficients are within √D standard deviations of least
// squares. A start where nothing is finite beside it is left as it is, and so is one with fewer than 2D evaluations to make.
func TestAscentOfARegression(t *testing.T) {
	x, y := make([]float64, 50), make([]float64, 50)
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		x[i] = 100 + 15*math.Sin(float64(7*i))
		y[i] = 26 + 0.6*x[i] + 18*math.Cos(float64(5*i))
		n, sx, sy, sxx, sxy = n+1, sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	b := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	log := func(theta, grad []float64) (l float64) {
		clear(grad)
		for i := range x {
			r := (y[i] - theta[0] - theta[1]*x[i]) * math.Exp(-theta[2])
			l -= r*r/2 + theta[2]
			grad[0] += r * math.Exp(-theta[2])
			grad[1] += r * math.Exp(-theta[2]) * x[i]
			grad[2] += r*r - 1
		}
		return l
	}
	for _, start := range [][]float64{{0, 0, 0}, {-12, 19, -3}, {300, -25, 4}, {5, 14, 9}} {
		p, made, learned, sd, _ := climbed(t, free(3, log), start, 2000, 10)
		if !learned || made > 300 || !(math.Abs(p.Theta[1]-b) <= 2*sd[1]) || !golden.Near(p.Theta[2], math.Log(18/math.Sqrt2), 0, 0.3) {
			t.Errorf("from %v: %v after %d evaluations; least squares has the slope %v, sd %v", start, p.Theta, made, b, sd[1])
		}
		if p, made, learned, _, _ = climbed(t, free(3, log), start, 5, 10); learned || made != 0 || !slices.Equal(p.Theta, start) {
			t.Errorf("with 5 evaluations: %d made, %v, %v", made, p.Theta, learned)
		}
		broken := func(theta, grad []float64) float64 {
			l := log(theta, grad)
			if !slices.Equal(theta, start) {
				return math.NaN()
			}
			return l
		}
		nan := func(theta, grad []float64) float64 {
			l := broken(theta, grad)
			if math.IsNaN(l) {
				grad[0] = l
			}
			return l
		}
		if p, _, learned, _, _ = climbed(t, free(3, nan), start, 2000, 10); learned || !slices.Equal(p.Theta, start) {
			t.Errorf("where nothing is finite: %v, %v", p.Theta, learned)
		}
	}
}

// A funnel, v ~ N(0, 3²) and nine x_i ~ N(0, e^v), is highest at v = −40.5, where it has no mass. The ascent begins above the mass and ends in
// it: |v| < 9, three standard deviations. The target is not concave there, so the scale stays as it was.
func TestAscentOfAFunnel(t *testing.T) {
	log := func(theta, grad []float64) float64 {
		v := theta[0]
		l := -v*v/18 - 4.5*v
		grad[0] = -v/9 - 4.5
		for i, x := range theta[1:] {
			l -= x * x / 2 * math.Exp(-v)
			grad[0] += x * x / 2 * math.Exp(-v)
			grad[1+i] = -x * math.Exp(-v)
		}
		return l
	}
	start := append([]float64{4}, slices.Repeat([]float64{300, -200, 100}, 3)...)
	p, made, learned, sd, _ := climbed(t, free(10, log), start, 5000, 10)
	if learned || sd[0] != 10 || made > 1000 || !(math.Abs(p.Theta[0]) < 9) {
		t.Errorf("v = %v after %d evaluations", p.Theta[0], made)
	}
}

// A scale that is right is left alone by few points, however narrow it is: of 40 draws the sample's variance along the narrow direction, (1, −1),
// is right within a factor of 4 (with 39 degrees of freedom it is not once in 10⁶), so the scale's must be as well. From a scale without
// correlations, towards which all are shrunk because most of them are noise, it is hundreds of times the target's.
func TestScalesAreShrunkTowardsTheLast(t *testing.T) {
	const r = 0.9999
	m := pairs{[]float64{1, 1, 1, 1}, r}
	target := nearlyFlat(m)
	p := NewPopulation(40, 4, Needs{Gradient: true})
	m.draws(t, target, &p, 5)
	narrow := func(factor []float64) float64 { // variance of (θ_1 − θ_0)/√2
		a, b := factor[4]-factor[0], factor[5]
		return (a*a + b*b) / 2
	}
	for _, c := range []struct {
		r    float64 // of the last scale
		low  float64 // in the variance of the target
		high float64
	}{{r, 0.25, 4}, {0, 40, 1e4}} {
		l := newLearner(target, Dense, 1)
		only := l.scales[0]
		copy(only.sd, []float64{1, 1, 1, 1})
		s := math.Sqrt(1 - c.r*c.r)
		copy(only.factor, []float64{1, 0, 0, 0, c.r, s, 0, 0, 0, 0, 1, 0, 0, 0, c.r, s})
		var w Work
		w.Fit(&p)
		l.visit(&w, &p)
		if !l.fromPoints(target, false) {
			t.Fatal("no scale is learned")
		}
		if got := narrow(only.factor) / (1 - r); !(got > c.low && got < c.high) {
			t.Errorf("from a correlation of %v: variance %v times the target's in the narrow direction", c.r, got)
		}
		if !golden.Near(only.sd[1], math.Hypot(only.factor[4], only.factor[5]), 1e-12, 0) {
			t.Errorf("sd %v, row %v", only.sd, only.factor)
		}
	}
}

// A chain ascends once, in its warm-up, and never after it: from a start that is far off, the first move at a progress of .6 makes its leapfrogs
// alone and changes nothing that was learned; at .2 it makes more, and the next move does not.
func TestChainsAscendInTheWarmUp(t *testing.T) {
	for _, progress := range []float64{0.2, 0.6} {
		target := oscillator(1, 0.01)
		p := NewPopulation(1, 2, Needs{Gradient: true})
		copy(p.Theta, []float64{1e5, 1e5})
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		move := HMC{Steps: 3}.ForChains().(HMC)
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		for k := range 2 {
			now, before := at(1, k), slices.Clone(tuning)
			now.Progress, now.Left = progress, 2000
			calls := target.Model.(*model).calls
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, now)
			if err != nil {
				t.Fatal(err)
			}
			if took := target.Model.(*model).calls - calls; took > out.Gradients[0] || (out.Gradients[0] > 3) != (progress == 0.2 && k == 0) {
				t.Errorf("move %d at %v: %d evaluations said, %d calls", k, progress, out.Gradients[0], took)
			}
			if progress > WarmUp && !slices.Equal(before[header:], tuning[header:]) {
				t.Errorf("move %d at %v changes the scale", k, progress)
			}
		}
		if far := math.Abs(p.Theta[0]) > 10; far != (progress > WarmUp) {
			t.Errorf("at %v the chain is at %v", progress, p.Theta)
		}
	}
}
