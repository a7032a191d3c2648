package bayes

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// regression is y = a + b x with normal errors of learned size, on n examples.
func regression(t *testing.T, n int, slope Prior) *Model {
	t.Helper()
	x, y := make([]float64, n), make([]float64, n)
	s := rng.Key{Purpose: rng.Synthetic}.Stream()
	s.Normals(x)
	s.Normals(y)
	m, err := New([]Parameter{{Name: "a", Prior: Normal{0, 2}}, {Name: "b", Prior: slope}, {Name: "sigma", Prior: HalfCauchy{1}}},
		n, func(i int, p, grad []float64) float64 {
			z := (y[i] - p[0] - p[1]*x[i]) / p[2]
			grad[0] += z / p[2]
			grad[1] += z / p[2] * x[i]
			grad[2] += (z*z - 1) / p[2]
			return -0.5*z*z - math.Log(p[2]) - 0.5*log2Pi
		})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Gradients pass through every transform: all of them are in this model.
func TestChainRule(t *testing.T) {
	var parameters []Parameter
	names := []string{}
	for name := range priors {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parameters = append(parameters, Parameter{Name: name, Size: 2, Prior: priors[name]})
	}
	m, err := New(parameters, 1, func(_ int, p, grad []float64) (l float64) {
		for i, x := range p { // every value and every pair of neighbours counts
			y := p[(i+1)%len(p)]
			l += math.Cos(x) * math.Sin(y)
			grad[i] -= math.Sin(x) * math.Sin(y)
			grad[(i+1)%len(p)] += math.Cos(x) * math.Cos(y)
		}
		return l
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mcmc.CheckGradient(t.Context(), m, m.Prior()); err != nil {
		t.Error(err)
	}
}

// The bits do not depend on threads, and a batch's log-likelihoods add up to that of all examples.
func TestThreadsAndBatches(t *testing.T) {
	const n, j = 1000, 5
	m := regression(t, n, Flat{Normal{0, 10}})
	theta := make([]float64, 3*j)
	rng.Key{Purpose: rng.Synthetic, Island: 1}.Stream().Normals(theta)
	evaluate := func(threads int, rows []int32) (ll, grad []float64) {
		m.Pool = nil
		if threads > 0 {
			m.Pool = mcmc.NewPool(threads)
		}
		ll, grad = make([]float64, j), make([]float64, 3*j)
		if err := m.LogLik(t.Context(), rows, theta, ll, grad); err != nil {
			t.Fatal(err)
		}
		return ll, grad
	}
	ll, grad := evaluate(0, nil)
	for _, threads := range []int{1, 2, 7} {
		l, g := evaluate(threads, nil)
		if !slices.Equal(l, ll) || !slices.Equal(g, grad) {
			t.Errorf("%d threads: other bits", threads)
		}
	}
	rows := make([]int32, n)
	rng.Key{Purpose: rng.Synthetic, Island: 2}.Stream().Perm(rows)
	first, g1 := evaluate(2, rows[:300])
	second, g2 := evaluate(2, rows[300:])
	for i, l := range ll {
		if !(math.Abs(first[i]+second[i]-l) < 1e-9*math.Abs(l)) {
			t.Errorf("particle %d: %v and %v of two batches, %v of all", i, first[i], second[i], l)
		}
	}
	for i, g := range grad {
		if !(math.Abs(g1[i]+g2[i]-g) < 1e-9*(1+math.Abs(g))) {
			t.Errorf("gradients %v and %v of two batches, %v of all", g1[i], g2[i], g)
		}
	}
}

// At λ = 1 a flat prior's start cancels: the target is the likelihood, with the Jacobians of Stan's transforms.
func TestFlatIsFlat(t *testing.T) {
	for _, start := range []Prior{Normal{0, 1}, Normal{7, 30}} {
		m := regression(t, 10, Flat{start})
		proper := regression(t, 10, Normal{0, 1})
		for _, theta := range [][]float64{{0.3, -2, 0.1}, {-1, 5, -0.7}} {
			ll, want := make([]float64, 1), make([]float64, 1)
			if err := m.LogLik(context.Background(), nil, theta, ll, nil); err != nil {
				t.Fatal(err)
			}
			if err := proper.LogLik(context.Background(), nil, theta, want, nil); err != nil {
				t.Fatal(err)
			}
			target := ll[0] + m.Prior().LogDensity(theta, nil)
			// The same with log N(b; 0, 1) in the prior, taken out again.
			flat := want[0] + proper.Prior().LogDensity(theta, nil) + 0.5*theta[1]*theta[1] + 0.5*log2Pi
			if !(math.Abs(target-flat) < 1e-9*math.Abs(flat)) {
				t.Errorf("start %v: log density %v at %v, want %v", start, target, theta, flat)
			}
		}
	}
}

// A place so far from a flat prior's start that its density would swallow the likelihood is refused, and no other: at 10⁵ of its standard deviations
// the sum is the likelihood still, within rounding.
func TestFlatFarFromItsStart(t *testing.T) {
	m := regression(t, 10, Flat{Normal{0, 1}})
	target := func(b float64) float64 {
		theta, ll := []float64{0.3, b, 0.1}, make([]float64, 1)
		if err := m.LogLik(context.Background(), nil, theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		return ll[0] + m.Prior().LogDensity(theta, nil)
	}
	wide := regression(t, 10, Flat{Normal{0, 1e9}})
	theta, want := []float64{0.3, 1e5, 0.1}, make([]float64, 1)
	if err := wide.LogLik(context.Background(), nil, theta, want, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := target(1e5), want[0]+wide.Prior().LogDensity(theta, nil); !(math.Abs(got-want) < 1e-5*math.Abs(want)) {
		t.Errorf("log density %v at 10⁵, want %v", got, want)
	}
	for _, b := range []float64{1e9, -1e150, 1e200} {
		if l := target(b); !math.IsNaN(l) {
			t.Errorf("log density %v at %v, want NaN", l, b)
		}
	}
}

// Moments are those of the parameters' values, by weight.
func TestMoments(t *testing.T) {
	m := regression(t, 10, Flat{Normal{0, 1}})
	theta := []float64{1, 2, 0, 3, -2, math.Log(5)}
	for i, want := range []Moment{{"a", 1.5, math.Sqrt(0.75)}, {"b", 1, math.Sqrt(3)}, {"sigma", 2, math.Sqrt(3)}} {
		got := m.Moments(theta, []float64{math.Log(0.75), math.Log(0.25)})[i]
		if got.Name != want.Name || !(math.Abs(got.Mean-want.Mean) < 1e-12 && math.Abs(got.SD-want.SD) < 1e-12) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	equal := m.Moments(theta, nil)[2]
	if !(math.Abs(equal.Mean-3) < 1e-12 && math.Abs(equal.SD-2) < 1e-12) {
		t.Errorf("with equal weights %+v", equal)
	}
	// A dead particle may lie anywhere.
	theta[3] = math.Inf(1)
	if dead := m.Moments(theta, []float64{0, math.Inf(-1)})[0]; dead != (Moment{"a", 1, 0}) {
		t.Errorf("with a dead particle %+v", dead)
	}
}

// Wrong settings are all named at once.
func TestNewRefuses(t *testing.T) {
	good := Parameter{Name: "good", Prior: Normal{0, 1}}
	for want, parameters := range map[string][]Parameter{
		`there are no parameters`:              nil,
		`it has no name`:                       {{Prior: Normal{0, 1}}},
		`"good": there are two of this name`:   {good, good},
		`"a": size -1`:                         {{Name: "a", Size: -1, Prior: Normal{0, 1}}},
		`"a": it has no prior`:                 {{Name: "a"}},
		`"a": SD is 0; want a number above 0`:  {good, {Name: "a", Prior: Normal{}}},
		`"b": Scale is -1`:                     {{Name: "a", Prior: HalfNormal{}}, {Name: "b", Prior: HalfCauchy{-1}}},
		`Rate is NaN`:                          {{Name: "a", Prior: Gamma{0, math.NaN()}}},
		`the interval from 1 to 1 is empty`:    {{Name: "a", Prior: Uniform{1, 1}}},
		`wider than the largest number`:        {{Name: "a", Prior: Uniform{-1e308, 1e308}}},
		`there is no number between 1 and`:     {{Name: "a", Prior: Uniform{1, math.Nextafter(1, 2)}}},
		`Mean is -4, more than three SD`:       {{Name: "a", Prior: PositiveNormal{-4, 1}}},
		`Mean is +Inf`:                         {{Name: "a", Prior: LogNormal{math.Inf(1), 1}}},
		`a flat prior needs a Start`:           {{Name: "a", Prior: Flat{}}},
		`Start of a flat prior must be proper`: {{Name: "a", Prior: Flat{Flat{Normal{0, 1}}}}},
		`"a": SD is -1`:                        {{Name: "a", Prior: Flat{Normal{0, -1}}}},
		`must not depend on other`:             {{Name: "a", Prior: Flat{HierarchicalNormal{"b", "c"}}}},
		`depends on "tau", which is not a number among the parameters before it`:                    {good, {Name: "a", Prior: HierarchicalNormal{"good", "tau"}}},
		`takes "good" for a standard deviation, and that may be negative: give it a positive prior`: {good, {Name: "a", Prior: HierarchicalNormal{"good", "good"}}},
		`Shape is 0.001: draws of less than 0.05 are 0`:                                             {{Name: "a", Prior: Gamma{0.001, 0.001}}},
		`|Mean| + 8 SD may be 700 at most`:                                                          {{Name: "a", Prior: LogNormal{0, 400}}},
		`depends on "v", which is not a number`:                                                     {{Name: "v", Size: 1, Prior: Normal{0, 1}}, {Name: "a", Prior: HierarchicalNormal{"v", "v"}}},
	} {
		_, err := New(parameters, 1, noLikelihood)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := New([]Parameter{good}, 0, nil); err == nil || !strings.Contains(err.Error(), "0 examples") || !strings.Contains(err.Error(), "no log-likelihood") {
		t.Errorf("error %v", err)
	}
	m, err := New([]Parameter{good, {Name: "v", Size: 2, Prior: Normal{0, 1}}}, 1, noLikelihood)
	if err != nil || m.Name(0) != "good" || m.Name(2) != "v[2]" {
		t.Errorf("%v: names %q and %q", err, m.Name(0), m.Name(2))
	}
}
