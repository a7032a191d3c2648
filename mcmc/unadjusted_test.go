package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// unadjustedMove makes one move from p and returns where it began.
func unadjustedMove(t *testing.T, move Unadjusted, target *Target, p *Population) (Population, Outcome) {
	t.Helper()
	before := p.Blank()
	before.Copy(p)
	out, err := move.Mutate(context.Background(), new(Work), target, p, nil, StepContext{Key: rng.Key{Seed: 5, Iteration: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return before, out
}

// Check 2 of data annealing: for one leapfrog, −ΔH is the logarithm of the Metropolis ratio of Langevin moves,
// log π(θ')q(θ|θ') − log π(θ)q(θ'|θ) with q(θ'|θ) = N(θ'; θ + h²/2 ∇log π(θ), h² I). It is an
// identity, to rounding: the false-failure rate is 0.
func TestAnnealingCheck2OneLeapfrogIsLangevin(t *testing.T) {
	const d, particles, h = 3, 20, 0.3
	target := &Target{Model: &model{d: d, log: quartic, factor: 1}, Prior: unit(d), Lambda: 1}
	p := NewPopulation(particles, d, Needs{Gradient: true})
	rng.Key{Seed: 1}.Stream().Normals(p.Theta)
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	before, out := unadjustedMove(t, Unadjusted{Step: h}, target, &p)
	q := func(from, to *Population, j int) (l float64) {
		gradLP := make([]float64, d)
		target.Prior.LogDensity(from.row(from.Theta, j), gradLP)
		for i := j * d; i < (j+1)*d; i++ {
			r := to.Theta[i] - from.Theta[i] - h*h/2*(from.GradLL[i]+gradLP[i-j*d])
			l -= r * r / (2 * h * h)
		}
		return l
	}
	for j := range particles {
		want := target.LogDensity(&p, j) + q(&p, &before, j) - target.LogDensity(&before, j) - q(&before, &p, j)
		if diff := math.Abs(-out.Energy[j] - want); !(diff <= 1e-12) {
			t.Errorf("particle %d: log-weight %v, the Langevin ratio is %v", j, -out.Energy[j], want)
		}
	}
}

// Check 3: from equilibrium N(0, I), one leapfrog has E ΔH = D h⁶/32, Var ΔH = D(h⁶/16 + h¹²/512), E e^−ΔH = 1 and
// E e^−2ΔH = (1 − h⁶/8)^(−D/2). With h = 1, D = 1: .03125, .064453, 1, 1.06904. Means of 400,000 particles, with
// bounds of 7 standard deviations, for a false-failure rate below 10⁻⁶. Normal means would need 5.3 for all 8. Squared weights
// are far from normal: at h = 1 their tail falls as x^−2.3, so that they have a variance but no third moment. The standard
// deviation is the sample's own: a large value that takes the mean up widens the bound as well, but where none came both are
// small, and the mean in units of it is skewed to the left: over 1000 seeds it had mean −.07, standard deviation .99 and
// skewness −.23, which puts the quantile (Cornish and Fisher's, not a proof) at −6.4.
func TestAnnealingCheck3EnergyErrorFromEquilibrium(t *testing.T) {
	testkit.Statistics(t)
	const particles, deviations = 400_000, 7
	for _, c := range []struct{ d, h float64 }{{1, 1}, {4, 0.9}} {
		d := int(c.d)
		target := &Target{Model: nothing{d}, Prior: unit(d), Lambda: 1}
		p := NewPopulation(particles, d, Needs{Gradient: true})
		rng.Key{Seed: 2}.Stream().Normals(p.Theta)
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		_, out := unadjustedMove(t, Unadjusted{Step: c.h}, target, &p)
		h6 := math.Pow(c.h, 6)
		mean, variance := c.d*h6/32, c.d*(h6/16+h6*h6/512)
		for _, m := range []struct {
			what string
			f    func(e float64) float64
			want float64
		}{
			{"mean of ΔH", func(e float64) float64 { return e }, mean},
			{"variance of ΔH", func(e float64) float64 { return (e - mean) * (e - mean) }, variance},
			{"mean weight", func(e float64) float64 { return math.Exp(-e) }, 1},
			{"mean squared weight", func(e float64) float64 { return math.Exp(-2 * e) }, math.Pow(1-h6/8, -c.d/2)},
		} {
			var sum, square float64
			for _, e := range out.Energy {
				sum += m.f(e)
				square += m.f(e) * m.f(e)
			}
			got := sum / particles
			bound := deviations * math.Sqrt((square/particles-got*got)/particles)
			if diff := math.Abs(got - m.want); !(diff <= bound) {
				t.Errorf("D = %d, h = %v: %s is %.6f, want %.6f ± %.6f", d, c.h, m.what, got, m.want, bound)
			}
		}
	}
}

// unit is N(0, I).
func unit(d int) normal { return normal{make([]float64, d), slices.Repeat([]float64{1}, d)} }

// nothing has no likelihood: the target is the prior.
type nothing struct{ d int }

func (m nothing) Dim() int      { return m.d }
func (m nothing) Examples() int { return 1 }
func (m nothing) LogLik(_ context.Context, _ []int32, _, ll, grad []float64) error {
	clear(ll)
	clear(grad)
	return nil
}

// rowsModel is a Gaussian location model whose example i pulls toward i.
type rowsModel struct{ n int }

func (m rowsModel) Dim() int      { return 1 }
func (m rowsModel) Examples() int { return m.n }
func (m rowsModel) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	clear(ll)
	clear(grad)
	for j, x := range theta {
		for i := range m.n {
			if rows != nil && !slices.Contains(rows, int32(i)) {
				continue
			}
			r := float64(i)/float64(m.n) - x
			ll[j] -= r * r / 2
			if grad != nil {
				grad[j] += r
			}
		}
	}
	return nil
}

// With a gradient of all examples in its own batch, a cheap trajectory is the exact one; with fewer, it goes elsewhere,
// and its weight is still taken with the exact density. The same where the target sees twelve of thirty examples: the batch is
// one of those.
func TestCheapGradientsAreAFixedField(t *testing.T) {
	for name, target := range map[string]*Target{
		"all examples": {Model: rowsModel{12}, Prior: unit(1), Lambda: 1},
		"some of them": {Model: rowsModel{30}, Prior: unit(1), Lambda: 0.4, Rows: []int32{29, 3, 17, 22, 8, 13, 27, 5, 11, 24, 19, 1}},
	} {
		t.Run(name, func(t *testing.T) { cheapGradients(t, target) })
	}
}

// cheapGradients follows trajectories by hand on a target of twelve examples.
func cheapGradients(t *testing.T, target *Target) {
	const particles, h, steps = 30, 0.2, 4
	start := func(needs Needs) Population {
		p := NewPopulation(particles, 1, needs)
		rng.Key{Seed: 9}.Stream().Normals(p.Theta)
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	exact, whole, few := start(Needs{Gradient: true}), start(Needs{}), start(Needs{})
	_, want := unadjustedMove(t, Unadjusted{Steps: steps, Step: h}, target, &exact)
	_, got := unadjustedMove(t, Unadjusted{Steps: steps, Step: h, Gradient: &MiniBatch{12}}, target, &whole)
	before, cheap := unadjustedMove(t, Unadjusted{Steps: steps, Step: h, Gradient: &MiniBatch{3}}, target, &few)
	if !all(want.Gradients, steps*12) || !all(want.Values, 0) || !all(cheap.Gradients, (steps+1)*3) || !all(cheap.Values, 12) {
		t.Errorf("examples counted: %d, %d and %d, %d", want.Gradients[0], want.Values[0], cheap.Gradients[0], cheap.Values[0])
	}
	// The batch is drawn anew for the same key: it and the momenta are those of the move.
	batch := rng.Key{Seed: 5, Iteration: 3, Purpose: rng.Subset}.Stream().Subset(nil, 12, 3)
	anew := few.Blank() // what stands there, evaluated by all examples
	copy(anew.Theta, few.Theta)
	if err := target.Evaluate(context.Background(), &anew); err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, at := range batch {
		i := at
		if target.Rows != nil {
			i = target.Rows[at]
		}
		mean += float64(i) / float64(target.Model.Examples()) / 3
	}
	for j := range particles {
		if !(math.Abs(exact.Theta[j]-whole.Theta[j]) <= 1e-12) || !(math.Abs(want.Energy[j]-got.Energy[j]) <= 1e-12) {
			t.Fatalf("particle %d: %v and %v, energy errors %v and %v", j, exact.Theta[j], whole.Theta[j], want.Energy[j], got.Energy[j])
		}
		x, p := before.Theta[j], rng.Key{Seed: 5, Iteration: 3, Purpose: rng.Momentum, Particle: j}.Stream().Normal()
		energy := -p * p / 2
		field := func() float64 { return target.Lambda*12*(mean-x) - x }
		for range steps {
			p += h / 2 * field()
			x += h * p
			p += h / 2 * field()
		}
		energy += p*p/2 - target.LogDensity(&anew, j) + target.LogDensity(&before, j)
		if !(math.Abs(x-few.Theta[j]) <= 1e-12) || !(math.Abs(energy-cheap.Energy[j]) <= 1e-11) {
			t.Fatalf("particle %d: at %v with energy error %v, want %v and %v", j, few.Theta[j], cheap.Energy[j], x, energy)
		}
	}
}

// A step by rule is 1/√N or 1/N, N being the examples of the model, not of the batch that a target has: the same bits as with that
// number written, with mini-batch gradients too. The tuned value, which is kept, is its logarithm, and the outcome has it.
func TestStepsByRule(t *testing.T) {
	const d, particles = 3, 5
	for _, gradient := range []*MiniBatch{nil, {Batch: 2}} {
		for rule, number := range map[float64]float64{AutoStep: 0.25, LiteralStep: 1. / 16} {
			target := &Target{Model: counted{&model{d: d, log: quartic, factor: 1}, 16}, Prior: unit(d), Lambda: 4, Rows: []int32{1, 2, 3, 4}}
			var ends [2]Population
			for i, h := range []float64{rule, number} {
				move := Unadjusted{Steps: 2, Step: h, Gradient: gradient}
				p := NewPopulation(particles, d, move.Traits().Needs)
				rng.Key{Seed: 1}.Stream().Normals(p.Theta)
				if err := target.Evaluate(context.Background(), &p); err != nil {
					t.Fatal(err)
				}
				tuning, err := move.Tuning(target, p.J)
				if _, out := unadjustedMove(t, move, target, &p); err != nil || out.Step != number || tuning[0] != rng.Log(number) {
					t.Errorf("step %v: %v, tuned to e^%v, %v; want %v", h, out.Step, tuning, err, number)
				}
				ends[i] = p
			}
			if !slices.Equal(ends[0].Theta, ends[1].Theta) || !slices.Equal(ends[0].LL, ends[1].LL) {
				t.Errorf("step %v moves otherwise than %v", rule, number)
			}
		}
	}
}

// Where nothing is learned a step by rule is refused, and a number is not.
func TestStepsByRuleAreForLearning(t *testing.T) {
	for _, step := range []float64{AutoStep, LiteralStep, 0.1} {
		for _, learns := range []bool{false, true} {
			f := config.NewFaults()
			CheckForPopulation(Unadjusted{Step: step}, learns, f)
			if refused := len(f.All()) > 0; refused != (step < 0 && !learns) {
				t.Errorf("step %v, learned %v: %v", step, learns, f.All())
			}
		}
	}
}

// counted is a model of n examples.
type counted struct {
	*model
	n int
}

func (c counted) Examples() int { return c.n }
