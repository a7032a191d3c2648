package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// line is a transition of one number, x ~ N(from, q).
type line float64

func (l line) Sample(s *ssm.Stream, from, x []float64) {
	x[0] = from[0] + math.Sqrt(float64(l))*s.Normal()
}

func (l line) LogDensity(from, x []float64) float64 {
	return -0.5*(x[0]-from[0])*(x[0]-from[0])/float64(l) - 0.5*math.Log(2*math.Pi*float64(l))
}

func (l line) Gaussian() (a, q []float64) { return []float64{1}, []float64{float64(l)} }

// The normaliser and the law of a tilt are those of quadrature, wherever the factor's origin is. For m = .2 and −1, Q = .3, Λ = 2 and r = 1.1
// the logarithms of the normalisers differ by 1.425.
func TestTilt(t *testing.T) {
	const variance, precision, slope = 0.3, 2.0, 1.1
	means := []float64{0.2, -1}
	var logs []float64
	for _, m := range means {
		sum, first := 0.0, 0.0
		const step = 1e-4
		for x := -8.0; x < 8; x += step {
			p := math.Exp(line(variance).LogDensity([]float64{m}, []float64{x}) + slope*x - 0.5*precision*x*x)
			sum, first = sum+p*step, first+x*p*step
		}
		logs = append(logs, math.Log(sum))
		for _, origin := range []float64{0, 3} {
			// exp(r x − Λ x²/2) about an origin o is exp((r − Λ o)(x − o) − Λ (x − o)²/2 + r o − Λ o²/2).
			q := &quadratic{[]float64{origin}, []float64{slope - precision*origin}, []float64{precision}}
			tilt, ok := newTilt(line(variance), q, []ssm.Block{{From: 0, To: 1}})
			if !ok {
				t.Fatal("no tilt")
			}
			got := tilt.at(0, []float64{m}, []float64{99}) + slope*origin - 0.5*precision*origin*origin
			if !golden.Near(got, logs[len(logs)-1], 1e-9, 1e-9) {
				t.Errorf("mean %v, origin %v: log c = %v, want %v", m, origin, got, logs[len(logs)-1])
			}
			s, mean, y := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream(), 0.0, []float64{0}
			const draws = 100_000
			for range draws {
				tilt.at(0, []float64{m}, []float64{99})
				tilt.sample(s, 0, y)
				mean += y[0] / draws
			}
			sd := math.Sqrt(1 / (1/variance + precision))
			if want := first / sum; !(math.Abs(mean-want) < 4.9*sd/math.Sqrt(draws)) { // false once in 1e6
				t.Errorf("mean %v, origin %v: draws have the mean %v, want %v", m, origin, mean, want)
			}
		}
	}
	if d := logs[0] - logs[1]; math.Abs(d-1.425) > 1e-3 {
		t.Errorf("the normalisers differ by %v", d)
	}
}

// twoPlanes is a transition of two independent targets of two numbers each, with a singular covariance.
type twoPlanes struct{}

func (twoPlanes) Sample(*ssm.Stream, []float64, []float64) {}
func (twoPlanes) LogDensity(_, _ []float64) float64        { return 0 }
func (twoPlanes) Gaussian() (a, q []float64) {
	return []float64{1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1}, []float64{.25, .5, 0, 0, .5, 1, 0, 0, 0, 0, .25, .5, 0, 0, .5, 1}
}

// Given the others, a block's law is that of the whole: with singular noise, c(a) is the integral over the number that drives each target.
func TestTiltOfBlocks(t *testing.T) {
	q := &quadratic{[]float64{1, 0, -1, .5}, []float64{.3, -.2, .8, .1}, []float64{
		2, .1, .7, 0, .1, 1, 0, .2, .7, 0, 1.5, -.3, 0, .2, -.3, .8}}
	blocks := []ssm.Block{{From: 0, To: 2}, {From: 2, To: 4}}
	before, x := []float64{.5, 1, -.2, .4}, []float64{1.7, 1.2, .3, .9}
	tilt, ok := newTilt(twoPlanes{}, q, blocks)
	if !ok {
		t.Fatal("no tilt")
	}
	for g, b := range blocks {
		y, rest := slices.Clone(x), slices.Clone(x)
		for i := b.From; i < b.To; i++ { // the rest alone
			rest[i] = q.origin[i]
		}
		sum, first := 0.0, 0.0
		const step = 1e-3
		for u := -9.0; u < 9; u += step { // x = A f(a) + (1/2, 1) u
			y[b.From], y[b.From+1] = before[b.From]+before[b.From+1]+u/2, before[b.From+1]+u
			p := math.Exp(-u*u/2+q.at(y)-q.at(rest)) / math.Sqrt(2*math.Pi)
			sum, first = sum+p*step, first+u*p*step
		}
		if got, want := tilt.at(g, before, x), math.Log(sum); !golden.Near(got, want, 1e-9, 1e-9) {
			t.Errorf("block %d: log c = %v, want %v", g, got, want)
		}
		s, mean := rng.Key{Seed: 4, Purpose: rng.Synthetic, Particle: g}.Stream(), 0.0
		const draws = 50_000
		for range draws {
			tilt.at(g, before, x)
			tilt.sample(s, g, y)
			u := y[b.From+1] - before[b.From+1]
			mean += u / draws
			if d := y[b.From] - before[b.From] - before[b.From+1] - u/2; !(math.Abs(d) < 1e-9) {
				t.Fatalf("block %d: a draw leaves the range of the noise by %v", g, d)
			}
		}
		if want := first / sum; !(math.Abs(mean-want) < 4.9/math.Sqrt(draws)) {
			t.Errorf("block %d: mean %v, want %v", g, mean, want)
		}
	}
}
