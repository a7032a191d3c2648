package bayes

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// priors are one of each family, in several shapes.
var priors = map[string]Prior{
	"normal":              Normal{3, 2},
	"half-normal":         HalfNormal{2},
	"positive normal":     PositiveNormal{1, 0.5},
	"positive normal < 0": PositiveNormal{-1, 2},
	"log-normal":          LogNormal{-1, 0.7},
	"half-cauchy":         HalfCauchy{2.5},
	"gamma":               Gamma{25, 4},
	"gamma < 1":           Gamma{0.5, 3},
	"uniform":             Uniform{-2, 5},
	"flat":                Flat{LogNormal{2, 1.5}},
	"below":               below{Gamma{2, 1}},
}

// below is the mirror image of a positive prior, shifted by 4: a program's own prior, with an upper bound.
type below struct{ of Prior }

func (below) Support() (lower, upper float64) { return math.Inf(-1), 4 }
func (p below) Draw(s *mcmc.Stream, given []float64) float64 {
	return 4 - p.of.Draw(s, given)
}
func (p below) LogDensity(x float64, given, slopes []float64) float64 {
	l := p.of.LogDensity(4-x, given, slopes)
	slopes[0] = -slopes[0]
	return l
}

func noLikelihood(int, []float64, []float64) float64 { return 0 }

func one(t *testing.T, p Prior) *Model {
	t.Helper()
	m, err := New([]Parameter{{Name: "x", Prior: p}}, 1, noLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// In the unconstrained coordinate every density integrates to 1, its derivative is that of finite differences, and draws have it:
// the greatest distance of their distribution function from the integral stays below Kolmogorov's bound for a false failure
// rate of 1e-6 each, √(ln(2·10⁶)/2n) = .0086 for n = 100,000 draws (Massart 1990). That finds a density whose distribution function
// is off by .018 anywhere.
func TestPriorsAreDistributions(t *testing.T) {
	const n, from, to, points = 100000, -60.0, 60.0, 240000
	for name, p := range priors {
		prior := one(t, p).Prior()
		h := (to - from) / points
		integral := make([]float64, points+1) // of the density up to the end of each interval, by Simpson's rule
		density := func(u float64) float64 { return math.Exp(prior.LogDensity([]float64{u}, nil)) }
		for i := range points {
			u := from + h*float64(i)
			integral[i+1] = integral[i] + h/6*(density(u)+4*density(u+h/2)+density(u+h))
		}
		if total := integral[points]; !(math.Abs(total-1) < 1e-6) {
			t.Errorf("%s: the density integrates to %v", name, total)
		}
		for _, u := range []float64{-3, -0.5, 0.1, 1.7, 300} {
			grad := make([]float64, 1)
			prior.LogDensity([]float64{u}, grad)
			diff := (prior.LogDensity([]float64{u + 1e-5}, nil) - prior.LogDensity([]float64{u - 1e-5}, nil)) / 2e-5
			if !(math.Abs(grad[0]-diff) < 1e-6*(1+math.Abs(diff))) {
				t.Errorf("%s: derivative %v at %v, differences %v", name, grad[0], u, diff)
			}
		}
		draws := make([]float64, n)
		stream := rng.Key{Purpose: rng.Synthetic}.Stream()
		for i := range draws {
			prior.Sample(stream, draws[i:i+1])
		}
		slices.Sort(draws)
		worst := 0.0
		for i, u := range draws {
			at := integral[min(points, max(0, int((u-from)/h+0.5)))]
			worst = max(worst, math.Abs(at-float64(i)/n))
		}
		if !(worst < 0.0086) {
			t.Errorf("%s: the distribution function of the draws is %.4f away", name, worst)
		}
	}
}

// The transforms are inverse to their inverses, and their derivatives and Jacobians are those of differences.
func TestTransforms(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []transform{{-inf, inf}, {2, inf}, {-inf, -3}, {-1, 4}} {
		for _, u := range []float64{-20, -2, 0, 0.3, 15} {
			x, slope := c.value(u)
			if back := c.coordinate(x); !(math.Abs(back-u) < 1e-6) {
				t.Errorf("%v: %v → %v → %v", c, u, x, back)
			}
			up, _ := c.value(u + 1e-6)
			down, _ := c.value(u - 1e-6)
			if diff := (up - down) / 2e-6; !(math.Abs(slope-diff) < 1e-6*(1+math.Abs(diff))) {
				t.Errorf("%v at %v: slope %v, differences %v", c, u, slope, diff)
			}
			if log, _ := c.jacobian(u); !(math.Abs(log-math.Log(math.Abs(slope))) < 1e-9) {
				t.Errorf("%v at %v: log |dx/du| %v, want %v", c, u, log, math.Log(math.Abs(slope)))
			}
			log, by := c.jacobian(u)
			up, _ = c.jacobian(u + 1e-6)
			if !(math.Abs(by-(up-log)/1e-6) < 1e-5) {
				t.Errorf("%v at %v: derivative of the Jacobian %v, differences %v", c, u, by, (up-log)/1e-6)
			}
		}
	}
}

// log Γ at integers and halves, by factorials.
func TestLogGamma(t *testing.T) {
	factorial, half := 1.0, math.Sqrt(math.Pi)
	for n := 1.0; n < 40; n++ {
		if got := logGamma(n); !(math.Abs(got-math.Log(factorial)) < 1e-13*(1+math.Log(factorial))) {
			t.Errorf("log Γ(%v) = %v, want %v", n, got, math.Log(factorial))
		}
		if got, want := logGamma(n-0.5), math.Log(half); !(math.Abs(got-want) < 1e-13*(1+math.Abs(want))) {
			t.Errorf("log Γ(%v) = %v, want %v", n-0.5, got, want)
		}
		factorial *= n
		half *= n - 0.5
	}
}

// A hierarchical prior is drawn in the order of the parameters: given the drawn mean and sd, components are standard normal.
func TestHierarchicalDraws(t *testing.T) {
	m, err := New([]Parameter{
		{Name: "mu", Prior: Normal{5, 1}}, {Name: "tau", Prior: Gamma{4, 1}},
		{Name: "theta", Size: 3, Prior: HierarchicalNormal{"mu", "tau"}},
	}, 1, noLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	const n = 30000
	var sum, square float64
	stream, theta := rng.Key{Purpose: rng.Synthetic}.Stream(), make([]float64, 5)
	for range n {
		m.Prior().Sample(stream, theta)
		x := m.Values(theta)
		for _, v := range x[2:] {
			z := (v - x[0]) / x[1]
			sum += z
			square += z * z
		}
	}
	// 90,000 standard normal numbers: 4.9 standard errors are .0163 for the mean and .0231 for the mean square.
	if mean, ms := sum/(3*n), square/(3*n); !(math.Abs(mean) < 0.0163 && math.Abs(ms-1) < 0.0231) {
		t.Errorf("mean %v and mean square %v of standardised components", mean, ms)
	}
	if err := mcmc.CheckGradient(t.Context(), m, m.Prior()); err != nil {
		t.Error(err)
	}
}

// A prior is Gaussian exactly if all coordinates are, and says their moments.
func TestGaussianPrior(t *testing.T) {
	m, err := New([]Parameter{{Name: "a", Prior: Normal{3, 2}}, {Name: "b", Size: 2, Prior: Flat{LogNormal{-1, 4}}}}, 1, noLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := m.Prior().(mcmc.GaussianPrior)
	if !ok || p.Mean(0) != 3 || p.SD(0) != 2 || p.Mean(2) != -1 || p.SD(2) != 4 {
		t.Errorf("the prior %T is not N(3, 4)·N(−1, 16)²", m.Prior())
	}
	if _, ok := one(t, HalfNormal{1}).Prior().(mcmc.GaussianPrior); ok {
		t.Error("log of a half-normal number passes for normal")
	}
}
