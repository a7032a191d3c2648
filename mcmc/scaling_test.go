package mcmc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// pairs is a model whose log-likelihood is that of N(0, Σ), Σ of sds and one correlation of neighbours; the prior is nearly
// flat.
type pairs struct {
	sd  []float64
	rho float64 // of coordinates 2i and 2i+1
}

func (m pairs) Dim() int      { return len(m.sd) }
func (m pairs) Examples() int { return 1 }

func (m pairs) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	d := len(m.sd)
	for j := range ll {
		ll[j] = 0
		for i := 0; i < d; i += 2 {
			x, y := theta[j*d+i]/m.sd[i], theta[j*d+i+1]/m.sd[i+1]
			c := 1 / (1 - m.rho*m.rho)
			ll[j] -= c / 2 * (x*x + y*y - 2*m.rho*x*y)
			if grad != nil {
				grad[j*d+i], grad[j*d+i+1] = -c*(x-m.rho*y)/m.sd[i], -c*(y-m.rho*x)/m.sd[i+1]
			}
		}
	}
	return nil
}

// draws fills p with exact draws.
func (m pairs) draws(t *testing.T, target *Target, p *Population, seed uint64) {
	t.Helper()
	stream := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	stream.Normals(p.Theta)
	for j := range p.J {
		x := p.row(p.Theta, j)
		for i := 0; i < len(x); i += 2 {
			x[i+1] = (m.rho*x[i] + math.Sqrt(1-m.rho*m.rho)*x[i+1]) * m.sd[i+1]
			x[i] *= m.sd[i]
		}
	}
	if err := target.Evaluate(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

func nearlyFlat(m pairs) *Target {
	d := len(m.sd)
	return &Target{Model: m, Prior: normal{make([]float64, d), slices.Repeat([]float64{1e4}, d)}, Lambda: 1}
}

// A scale from n exact draws: each scale's relative error is at most 5.5/√(2n) (1e-7 of normal errors for each of 4), and the
// factor has the covariance as its square, to 5.5 standard errors of a correlation.
func TestScaleIsLearnedFromAPopulation(t *testing.T) {
	m := pairs{[]float64{1e-3, 1, 30, 0.1}, 0.9}
	target := nearlyFlat(m)
	const n = 2000
	p := NewPopulation(n, 4, Needs{Gradient: true})
	m.draws(t, target, &p, 1)
	equal := slices.Repeat([]float64{1. / n}, n)
	for _, kind := range []Scaling{Diagonal, Dense} {
		l := newLearner(target, kind, Folds(n))
		if !l.fromPopulation(target, &p, equal, StepContext{}) {
			t.Fatalf("%s: nothing was learned", kind)
		}
		learned := l.scales[0]
		for i, sd := range m.sd {
			if !(math.Abs(learned.sd[i]/sd-1) < 5.5/math.Sqrt(2*n)+0.02) { // .02: five points of the block's change
				t.Errorf("%s: coordinate %d has scale %v, want %v", kind, i, learned.sd[i], sd)
			}
		}
		if kind != Dense {
			continue
		}
		f := learned.factor
		for i := range 4 {
			for k := range i {
				dot := 0.0
				for c := range k + 1 {
					dot += f[i*4+c] * f[k*4+c]
				}
				want := 0.0
				if i == k+1 && k%2 == 0 {
					want = m.rho
				}
				if r := dot / (learned.sd[i] * learned.sd[k]); !(math.Abs(r-want) < 5.5*(1-want*want)/math.Sqrt(n)+0.01) {
					t.Errorf("correlation of %d and %d is %v, want %v", i, k, r, want)
				}
			}
		}
	}
}

// Weights count: of draws of sd 1, weights that grow with the first coordinate leave the moments of the weighted draws.
func TestScaleIsWeighted(t *testing.T) {
	m := pairs{[]float64{1, 1}, 0}
	target := nearlyFlat(m)
	const n = 4000
	p := NewPopulation(n, 2, Needs{Gradient: true})
	m.draws(t, target, &p, 2)
	weights, sum := make([]float64, n), 0.0
	for j := range weights {
		weights[j] = math.Exp(-1.5 * p.Theta[2*j] * p.Theta[2*j]) // N(0, 1) becomes N(0, ¼)
		sum += weights[j]
	}
	for j := range weights {
		weights[j] /= sum
	}
	l := newLearner(target, Diagonal, 1)
	l.fromPopulation(target, &p, weights, StepContext{})
	if sd := l.scales[0].sd; !(math.Abs(sd[0]-0.5) < 0.06) || !(math.Abs(sd[1]-1) < 0.12) {
		t.Errorf("scales %v, want .5 and 1", sd)
	}
}

// With few particles a block changes as one: scales keep their proportions up to the share n/(n+5) of noise. Tensor shrinks all
// the way.
func TestScaleShrinksTowardsItsBlock(t *testing.T) {
	s := sample{n: 4, mean: make([]float64, 4), m2: []float64{4, 1, 100, 100}}
	sd := []float64{1, 1, 10, 10}
	if !s.learn(Diagonal, []int{2, 4}, sd, nil) {
		t.Fatal("nothing was learned")
	}
	want := []float64{math.Exp((4*math.Log(4) + 5*math.Log(2)) / 18), math.Exp(5 * math.Log(2) / 18), 10, 10}
	for i := range sd {
		if math.Abs(sd[i]-want[i]) > 1e-14*want[i] {
			t.Errorf("scale %d is %v, want %v", i, sd[i], want[i])
		}
	}
	sd = []float64{1, 1, 10, 10}
	s.learn(Tensor, []int{2, 4}, sd, nil)
	for i, want := range []float64{math.Sqrt(2), math.Sqrt(2), 10, 10} {
		if math.Abs(sd[i]-want) > 1e-14*want {
			t.Errorf("tensor: scale %d is %v, want %v", i, sd[i], want)
		}
	}
}

// Nothing is learned from particles that are copies of one or of two, or that descend from one: the last scale stays.
func TestScaleIsKept(t *testing.T) {
	m := pairs{[]float64{1, 1}, 0}
	target := nearlyFlat(m)
	p := NewPopulation(20, 2, Needs{Gradient: true})
	m.draws(t, target, &p, 3)
	equal := slices.Repeat([]float64{1. / 20}, 20)
	check := func(name string, related bool) {
		t.Helper()
		l := newLearner(target, Dense, Folds(20))
		before := slices.Clone(l.tuning)
		if l.fromPopulation(target, &p, equal, StepContext{Related: related}) || !slices.Equal(before, l.tuning) {
			t.Errorf("%s: a scale was learned", name)
		}
	}
	check("one ancestor", true)
	for j := range p.J {
		p.Set(j, &p, j%2)
	}
	check("two places", false)
}

// The bits of a scale of 1 are those of no scale, for HMC of given step.
func TestScaleOneChangesNoBit(t *testing.T) {
	target, mean, variance := conjugate(6)
	var want []float64
	for _, kind := range []Scaling{None, Tensor, Diagonal, Dense} {
		move := HMC{Steps: 4, Step: 0.3, Scale: kind}
		p := NewPopulation(9, 6, Needs{Gradient: true})
		exact(t, target, &p, mean, variance)
		l := newLearner(target, kind, 1)
		l.restart(rng.Log(0.3))
		one := l.scales[0]
		for i := range one.sd {
			one.sd[i] = 1
		}
		one.diagonal()
		var w Work
		for k := range 5 {
			if _, err := move.Mutate(context.Background(), &w, target, &p, l.tuning, at(1, k)); err != nil {
				t.Fatal(err)
			}
		}
		if want == nil {
			want = p.Theta
		}
		if !slices.Equal(want, p.Theta) {
			t.Errorf("%s: other bits", kind)
		}
	}
}

// Of a target whose coordinates differ by a factor of 1,000, moves in the scale of its standard deviations are accepted as on
// N(0, I), bit for bit nearly: positions are those of N(0, I) times the scale.
func TestScaleIsAChangeOfVariables(t *testing.T) {
	factors := []float64{1024, 1. / 1024, 4, 1} // powers of 2, so that products are exact
	run := func(sd []float64) (theta, probability []float64) {
		target := nearlyFlat(pairs{sd, 0})
		target.Prior = normal{make([]float64, 4), slices.Clone(sd)}
		p := NewPopulation(5, 4, Needs{Gradient: true})
		pairs{sd, 0}.draws(t, target, &p, 4)
		move := HMC{Steps: 3, Step: 0.9, Scale: Diagonal}
		tuning, err := move.Tuning(target, p.J) // the prior's scale
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		return p.Theta, slices.Clone(out.Probability)
	}
	plain, a := run([]float64{1, 1, 1, 1})
	scaled, b := run(factors)
	for i := range plain {
		if x := scaled[i] / factors[i%4]; !(math.Abs(x-plain[i]) <= 1e-12*(1+math.Abs(plain[i]))) {
			t.Fatalf("number %d is %v, want %v", i, x, plain[i])
		}
	}
	for j := range a {
		if !(math.Abs(a[j]-b[j]) < 1e-10) {
			t.Errorf("particle %d is accepted with probability %v, want %v", j, b[j], a[j])
		}
	}
}

func TestScalingsAreRefused(t *testing.T) {
	big := &Target{Model: freeModel{501}, Prior: normal{make([]float64, 501), slices.Repeat([]float64{1}, 501)}, Lambda: 1}
	if _, err := (HMC{Scale: Dense}).Tuning(big, 1); err == nil || !strings.Contains(err.Error(), "at most 500") || !strings.Contains(err.Error(), "MB") {
		t.Errorf("a dense scale of 501 coordinates: %v", err)
	}
	if err := config.Check(HMC{Scale: "sparse"}); err == nil || !strings.Contains(err.Error(), "none, tensor, diagonal") {
		t.Errorf("an unknown scale: %v", err)
	}
}

// local is a prior whose standard deviations depend on θ.
type local struct{ factorPrior }

func (p local) SDs(theta, sd []float64) {
	for i, x := range theta {
		sd[i] = 2 * math.Abs(x)
	}
}

// A chain begins with the scale that the prior has where it begins, and a population's is left to its particles. What the chain has
// learned is not lost when it goes on.
func TestScaleOfALocalPrior(t *testing.T) {
	flat := gaussian([][]float64{{0, 0}, {0, 0}}, make([]float64, 2))
	m := &model{d: 2, log: gaussian([][]float64{{1, 0}, {0, 1}}, make([]float64, 2)), factor: 1}
	target := &Target{Model: m, Prior: local{factorPrior{2, flat, 0}}, Lambda: 1}
	for _, kind := range []Scaling{Diagonal, Dense} {
		for progress, want := range map[float64][]float64{0: {6, 1}, 0.3: {1, 1}} {
			p := NewPopulation(1, 2, Needs{Gradient: true})
			copy(p.Theta, []float64{3, -0.5})
			if err := target.Evaluate(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
			move := HMC{Steps: 2, Scale: kind, Accept: 0.7}
			tuning, err := move.Tuning(target, p.J)
			if err != nil {
				t.Fatal(err)
			}
			now := at(3, 0)
			now.Left, now.Progress = 10000, progress
			if _, err := move.Begin(t.Context(), new(Work), target, &p, []float64{1}, tuning, now); err != nil {
				t.Fatal(err)
			}
			l := move.reads(target, tuning)
			if s := l.scales[0]; !slices.Equal(s.sd, want) || kind == Dense && (s.factor[0] != want[0] || s.factor[3] != want[1] || s.factor[2] != 0) {
				t.Errorf("%s at progress %v: scale %v, factor %v, want %v", kind, progress, s.sd, s.factor, want)
			}
		}
	}
}

// States of a chain come into the fold of its start, and chains from one start into one fold, or they would move by what they have taught.
func TestChainsComeIntoOneFold(t *testing.T) {
	p := NewPopulation(12, 1, Needs{})
	for j := range p.LL {
		p.LL[j] = float64(j)
	}
	p.LL[3] = p.LL[1] // of four chains the second and the fourth begin at one particle
	make(scales, 3).deal(&p, 4)
	for j, f := range p.Fold {
		if want := []int32{0, 1, 2, 1}[j%4]; f != want {
			t.Errorf("particle %d is in fold %d, want %d", j, f, want)
		}
	}
}
