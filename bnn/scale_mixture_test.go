package bnn

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// mixed are tensors of several sizes, and a learned log σ.
var mixed = []nn.Tensor{
	{Name: "0.weight", Shape: []int{3, 2}, Size: 6, FanIn: 2}, {Name: "0.bias", Shape: []int{3}, Offset: 6, Size: 3, FanIn: 2, Kind: nn.Biases},
	{Name: "2.weight", Shape: []int{1, 1}, Offset: 9, Size: 1, FanIn: 1}, {Name: "log_sd", Shape: []int{1}, Offset: 10, Size: 1, Kind: nn.Own},
}

func mixture(t testing.TB, tensors []nn.Tensor, shape, rate float64) *ScaleMixture {
	t.Helper()
	p, err := NewScaleMixture(tensors, shape, rate)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// integrated is log ∫ N(θ; 0, I/τ) Gamma(τ; a, b) dτ by the trapezoidal rule in log τ, whose error falls faster than any power of its
// step.
func integrated(theta []float64, a, b float64) float64 {
	lg, _ := math.Lgamma(a)
	const step = 0.02
	top, terms := math.Inf(-1), []float64(nil)
	for u := -60.0; u < 20; u += step {
		tau := math.Exp(u)
		l := a*math.Log(b) - lg + a*u - b*tau // with dτ = τ du
		for _, x := range theta {
			l += 0.5*(u-math.Log(2*math.Pi)) - 0.5*tau*x*x
		}
		terms, top = append(terms, l), max(top, l)
	}
	sum := 0.0
	for _, l := range terms {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum*step)
}

// The density is the integral over each tensor's own precision, with its constants, and N(0, 1) for log σ; the gradient is its finite
// difference.
func TestScaleMixtureDensity(t *testing.T) {
	for _, c := range []struct{ a, b, scale float64 }{{1, 1, 1}, {1, 1, 0.01}, {0.6, 3, 5}, {4, 0.2, 0.7}, {2, 1, 0}} {
		p := mixture(t, mixed, c.a, c.b)
		theta, grad := make([]float64, 11), make([]float64, 11)
		rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream().Normals(theta)
		for i := range theta {
			theta[i] *= c.scale
		}
		want := -0.5*theta[10]*theta[10] - 0.5*math.Log(2*math.Pi)
		for _, x := range mixed[:3] {
			want += integrated(theta[x.Offset:][:x.Size], c.a, c.b)
		}
		got := p.LogDensity(theta, grad)
		if !golden.Near(got, want, 1e-10, 1e-10) || p.LogDensity(theta, nil) != got {
			t.Errorf("%v: log density %v, want %v", c, got, want)
		}
		for i := range theta {
			const h = 1e-5
			at := slices.Clone(theta)
			at[i] += h
			up := p.LogDensity(at, nil)
			at[i] -= 2 * h
			if want := (up - p.LogDensity(at, nil)) / (2 * h); !golden.Near(grad[i], want, 1e-6, 1e-7) {
				t.Errorf("%v: slope %d is %v, want %v", c, i, grad[i], want)
			}
		}
	}
}

// Far away the density is −Inf and never NaN.
func TestScaleMixtureFarAway(t *testing.T) {
	p := mixture(t, mixed, 1, 1)
	theta, grad := make([]float64, 11), make([]float64, 11)
	theta[1] = 1e200
	if got := p.LogDensity(theta, grad); !math.IsInf(got, -1) || grad[1] != 0 {
		t.Errorf("log density %v, slope %v", got, grad[1])
	}
}

// Draws have the law of the closed form. For two components |θ|²/2 is Lomax(a, b), P(> s) = (b/(b+s))ᵃ; a single one has for a = 1 the
// t distribution of two degrees, scaled by √b. Precisions of two tensors are independent, and log σ is N(0, 1). Of n draws the distance
// of Kolmogorov and Smirnov is above 2.87/√n, and the correlation above 5.3/√n, with probability 1e-6 for all 7 together.
func TestScaleMixtureDraws(t *testing.T) {
	const n = 30000
	tensors := []nn.Tensor{{Name: "a", Size: 2, FanIn: 1}, {Name: "b", Size: 1, FanIn: 1}, {Name: "c", Size: 2, FanIn: 7}, {Name: "log_sd", Size: 1, Kind: nn.Own}}
	check := func(what string, x []float64, cdf func(float64) float64) {
		if far, _ := uq.KS(x, cdf); !(far <= 2.87/math.Sqrt(n)) {
			t.Errorf("%s: draws are %v from their law", what, far)
		}
	}
	for i, c := range []struct{ a, b float64 }{{1, 1.5}, {2.5, 0.3}} {
		p, theta := mixture(t, tensors, c.a, c.b), make([]float64, 6)
		var first, second, single, noise []float64
		for k := range n {
			p.Sample(rng.Key{Seed: uint64(i), Purpose: rng.Synthetic, Iteration: k}.Stream(), theta)
			first = append(first, (theta[0]*theta[0]+theta[1]*theta[1])/2)
			second = append(second, (theta[3]*theta[3]+theta[4]*theta[4])/2)
			single, noise = append(single, theta[2]), append(noise, theta[5])
		}
		lomax := func(s float64) float64 { return 1 - math.Pow(c.b/(c.b+s), c.a) }
		check("two components", first, lomax)
		check("two components of another tensor", second, lomax)
		if c.a == 1 {
			check("one component", single, func(x float64) float64 { return 0.5 + x/(2*math.Sqrt(2*c.b+x*x)) })
		}
		check("log σ", noise, func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) })
		together := 0.0
		for k := range first {
			together += 12 * (lomax(first[k]) - 0.5) * (lomax(second[k]) - 0.5) / n
		}
		if !(math.Abs(together) <= 5.3/math.Sqrt(n)) {
			t.Errorf("tensors have a correlation of %v", together)
		}
	}
}

// The standard deviations at θ are those of the mean precision given θ, (a + n/2)/(b + |θ|²/2), and 1 for log σ.
func TestScaleMixtureSDs(t *testing.T) {
	theta, sd := []float64{1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 9}, make([]float64, 11)
	mixture(t, mixed, 2, 3).SDs(theta, sd)
	for i, want := range map[int]float64{0: math.Sqrt(10. / 5), 5: math.Sqrt(10. / 5), 6: math.Sqrt(3 / 3.5), 9: math.Sqrt(11 / 2.5), 10: 1} {
		if !golden.Near(sd[i], want, 1e-14, 0) {
			t.Errorf("component %d: %v, want %v", i, sd[i], want)
		}
	}
}

// Point estimates are searched with N(0, 2/fan_in) in its place, also where a part of the network is random.
func TestScaleMixtureSearched(t *testing.T) {
	for _, net := range []*nn.Net{startNet(t), startNet(t).Whole()} {
		normal, err := FanIn(net.Random(), 2)
		if err != nil {
			t.Fatal(err)
		}
		learned, given := Whole(mixture(t, net.Random(), 1, 1), net), Whole(normal, net)
		at := make([]float64, net.Parameters())
		rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream().Normals(at)
		if a, b := learned.LogDensity(at, nil), given.LogDensity(at, nil); a != b {
			t.Errorf("log density %v, of N(0, 2/fan_in) %v", a, b)
		}
	}
}

// Impossible settings are errors in a Go program, too.
func TestScaleMixtureRefuses(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {1, math.Inf(1)}, {math.NaN(), 1}} {
		if _, err := NewScaleMixture(mixed, c[0], c[1]); err == nil {
			t.Errorf("shape and rate %v", c)
		}
	}
	var p mcmc.Prior = mixture(t, mixed, 1, 1)
	if _, gaussian := p.(mcmc.GaussianPrior); gaussian {
		t.Error("it is a Gaussian prior")
	}
}
