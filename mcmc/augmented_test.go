package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// changed is a regression whose examples change with the seed of an augmented gradient, and that notes who asks for what.
type changed struct {
	linear
	seeds  *[]uint64 // of augmented gradients
	plain  *int      // plain gradients
	values *int      // plain values
}

func (m changed) Augments() bool { return true }

func (m changed) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if grad == nil {
		*m.values++
	} else {
		*m.plain++
	}
	return m.linear.LogLik(ctx, rows, theta, ll, grad)
}

// LogLikAugmented shifts y by a number of the seed's and the example's.
func (m changed) LogLikAugmented(ctx context.Context, seed uint64, rows []int32, theta, ll, grad []float64) error {
	*m.seeds = append(*m.seeds, seed)
	m.y = slices.Clone(m.y)
	for i := range m.y {
		m.y[i] += 3 * rng.Key{Seed: seed, Purpose: rng.Augment, Island: i}.Stream().Normal()
	}
	return m.linear.LogLik(ctx, rows, theta, ll, grad)
}

// A move takes augmented gradients if its traits say that it Augments, and only then. It takes no plain ones beside them. Values, and so
// weights, are those of the examples as they are: the energy that it reports is that of the places where particles went.
func TestMovesAugmentAsTheySay(t *testing.T) {
	for name, m := range someMoves(t) {
		model := changed{examples(17), new([]uint64), new(int), new(int)}
		target := &Target{Model: model, Prior: prior3(), Lambda: 0.05}
		p, tuning := ready(t, m, target, 5)
		var w Work
		begins(t, m, &w, target, &p, tuning, at(6, 2))
		*model.seeds, *model.plain = nil, 0
		if _, err := m.Mutate(t.Context(), &w, target, &p, tuning, at(6, 2)); err != nil {
			t.Fatal(err)
		}
		if says := m.Traits().Augments; says != (len(*model.seeds) > 0) || says && *model.plain > 0 {
			t.Errorf("%s says that its gradients may be augmented: %v; it takes %d that are, and %d others", name, says, len(*model.seeds), *model.plain)
		}
		after := NewPopulation(p.J, p.D, m.Traits().Needs)
		copy(after.Theta, p.Theta)
		if err := (&Target{Model: model.linear, Prior: prior3(), Lambda: 0.05}).Evaluate(t.Context(), &after); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.LL, after.LL) {
			t.Errorf("%s: log-likelihoods %v, of the examples as they are %v", name, p.LL, after.LL)
		}
	}
}

// TestEpochAugments: all steps of a trajectory see one change of an example, another iteration, island or mutation sees another one. Particles
// of an iteration share it, or each has its own where it has its own order.
func TestEpochAugments(t *testing.T) {
	run := func(m Epoch, now StepContext, few int) (seeds []uint64, p Population) {
		model := changed{examples(17), new([]uint64), new(int), new(int)}
		target := &Target{Model: model, Prior: prior3(), Lambda: 1}
		p, _ = ready(t, m, target, 3)
		if _, err := m.mutate(t.Context(), new(Work), target, &p, now, few); err != nil {
			t.Fatal(err)
		}
		return *model.seeds, p
	}
	same := func(seeds []uint64) bool {
		return !slices.ContainsFunc(seeds, func(s uint64) bool { return s != seeds[0] })
	}
	shared, own := Epoch{Batch: 4, Step: 0.01}, Epoch{Batch: 4, Step: 0.01, Order: ownOrder}
	seeds, p := run(shared, at(6, 2), 3)
	if len(seeds) != 6 || !same(seeds) {
		t.Errorf("a trajectory of all particles sees %v", seeds)
	}
	apart, q := run(shared, at(6, 2), 1)
	if len(apart) != 18 || !same(append(apart, seeds...)) || !slices.Equal(p.Theta, q.Theta) {
		t.Errorf("particles that walk one after another see %v, together %v", apart, seeds)
	}
	each, _ := run(own, at(6, 2), 1)
	if len(each) != 18 || !same(each[:6]) || !same(each[6:12]) || !same(each[12:]) || each[0] == each[6] || each[6] == each[12] || each[0] == each[12] {
		t.Errorf("particles with own orders see %v", each)
	}
	for what, now := range map[string]StepContext{
		"iteration": at(6, 3), "seed": at(7, 2), "island": {Key: rng.Key{Seed: 6, Iteration: 2, Island: 1}}, "mutation": {Key: rng.Key{Seed: 6, Iteration: 2, Mutation: 1}},
	} {
		if other, _ := run(shared, now, 3); other[0] == seeds[0] {
			t.Errorf("another %s sees the same", what)
		}
	}
}

// astray is a model whose augmented gradients are those of other examples: they are off by 4 in each coordinate.
type astray struct{ Model }

func (m astray) Augments() bool { return true }

func (m astray) LogLikAugmented(ctx context.Context, _ uint64, rows []int32, theta, ll, grad []float64) error {
	err := m.LogLik(ctx, rows, theta, ll, grad)
	for i := range grad {
		grad[i] += 4
	}
	return err
}

// The weight exp(−ΔH) corrects augmented trajectories: from exact draws, weighted means after a move are those of the target as it is, and plain
// ones are not. 20,000 independent particles and a bound of 6 standard errors, exceeded with probability 4e-9.
func TestWeightsCorrectAugmentedEpochs(t *testing.T) {
	target, mean, variance := conjugate(2)
	target.Model = astray{target.Model}
	p := NewPopulation(20000, 2, Needs{})
	exact(t, target, &p, mean, variance)
	out, err := (Epoch{Batch: 1, Step: 0.3}).Mutate(t.Context(), new(Work), target, &p, nil, at(5, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.D {
		off := func(weight func(j int) float64) float64 {
			sum, square := 0.0, 0.0
			for j := range p.J {
				x := weight(j) * (p.Theta[j*p.D+i] - mean[i])
				sum += x
				square += x * x
			}
			return math.Abs(sum) / math.Sqrt(square)
		}
		plain, weighted := off(func(int) float64 { return 1 }), off(func(j int) float64 { return math.Exp(-out.Energy[j]) })
		if !(weighted <= 6 && plain > 6) {
			t.Errorf("coordinate %d is off by %.1f standard errors with weights, by %.1f without", i, weighted, plain)
		}
	}
}
