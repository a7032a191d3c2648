package mcmc

import (
	"context"
	"slices"
	"testing"
)

// moved is what a move leaves behind: positions, energies and costs.
type moved struct {
	theta, energy, probability []float64
	step                       float64
	leapfrogs                  int
	gradients, values          []int
}

// moves lets a move begin, and makes it three times.
func moves(t *testing.T, m Move, target *Target) (all []moved, trials Trials) {
	t.Helper()
	p, tuning := ready(t, m, target, 5)
	var w Work
	trials = begins(t, m, &w, target, &p, tuning, at(6, 2))
	for k := range 3 {
		out, err := m.Mutate(t.Context(), &w, target, &p, tuning, at(6, 2+k))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, moved{
			slices.Clone(p.Theta), slices.Clone(out.Energy), slices.Clone(out.Probability), out.Step, out.Leapfrogs,
			slices.Clone(out.Gradients), slices.Clone(out.Values),
		})
	}
	return all, trials
}

// alikeWithin compares two moves number by number.
func alikeWithin(t *testing.T, what string, got, want []moved, tol float64) {
	t.Helper()
	for k := range want {
		near(t, what+", θ", got[k].theta, want[k].theta, tol)
		near(t, what+", ΔH", got[k].energy, want[k].energy, tol)
	}
}

// of is the model of some examples alone.
func (m linear) of(rows []int32) linear {
	some := linear{noise: m.noise}
	for _, i := range rows {
		some.x, some.y = append(some.x, m.x[i]), append(some.y, m.y[i])
	}
	return some
}

// same reports whether two lists have the same bits; NaN, which moves without ΔH have as probability, is itself.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

// A batch is a data set of its own: on a target of 11 of 29 examples, to a power, every move makes the steps, and counts the
// evaluations, that it would make if there were no other examples. So the N of a move is that of its target.
func TestABatchIsADataSet(t *testing.T) {
	whole := examples(29)
	rows := []int32{28, 3, 17, 0, 9, 11, 4, 26, 8, 21, 13}
	for name, m := range someMoves(t) {
		got, trials := moves(t, m, &Target{Model: whole, Prior: prior3(), Rows: rows, Lambda: 0.37})
		want, alone := moves(t, m, &Target{Model: whole.of(rows), Prior: prior3(), Lambda: 0.37})
		if trials != alone {
			t.Errorf("%s: trials %+v, alone %+v", name, trials, alone)
		}
		for k := range want {
			g, w := got[k], want[k]
			if !same(g.theta, w.theta) || !same(g.energy, w.energy) || !same(g.probability, w.probability) || g.step != w.step ||
				g.leapfrogs != w.leapfrogs || !slices.Equal(g.gradients, w.gradients) || !slices.Equal(g.values, w.values) {
				t.Errorf("%s, move %d on a batch: %+v, on its examples alone %+v", name, k, g, w)
				break
			}
		}
	}
}

// halved is a model of half the log-likelihood.
type halved struct{ linear }

func (m halved) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	err := m.linear.LogLik(ctx, rows, theta, ll, grad)
	for i := range ll {
		ll[i] /= 2
	}
	for i := range grad {
		grad[i] /= 2
	}
	return err
}

// Only the product of power and log-likelihood counts: twice the power of half the likelihood makes the same bits, for every move.
func TestPowerAndLikelihoodAreOneProduct(t *testing.T) {
	m := examples(13)
	for name, move := range someMoves(t) {
		got, _ := moves(t, move, &Target{Model: halved{m}, Prior: prior3(), Lambda: 0.6})
		want, _ := moves(t, move, &Target{Model: m, Prior: prior3(), Lambda: 0.3})
		other, _ := moves(t, move, &Target{Model: m, Prior: prior3(), Lambda: 0.6})
		for k := range want {
			if !same(got[k].theta, want[k].theta) || !same(got[k].energy, want[k].energy) {
				t.Errorf("%s, move %d: %v, want %v", name, k, got[k], want[k])
				break
			}
		}
		if last := len(want) - 1; same(other[last].theta, want[last].theta) && same(other[last].energy, want[last].energy) && !move.Traits().Biased() {
			t.Errorf("%s: the power makes no difference: the test has no power", name)
		}
	}
}

// level is a model whose examples all have one score, the same everywhere: log p(y_i | θ) = Σ_k θ_k.
type level struct{ d, n int }

func (m level) Dim() int      { return m.d }
func (m level) Examples() int { return m.n }
func (m level) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	n := float64(m.n)
	if rows != nil {
		n = float64(len(rows))
	}
	for j := range ll {
		ll[j] = 0
		for _, x := range theta[j*m.d : (j+1)*m.d] {
			ll[j] += n * x
		}
	}
	for i := range grad {
		grad[i] = n
	}
	return nil
}

// Where all examples have one score, every mini-batch has the score of the target, whatever its size: a move of as many steps by other
// mini-batches goes the same way. 11 of 29 examples divide into 4, 4 and 3, or into 5, 5 and 1. So a mini-batch is scaled by its own
// number to that of the target, with the target's power.
func TestMiniBatchesAreScaledToTheTarget(t *testing.T) {
	rows := []int32{28, 3, 17, 0, 9, 11, 4, 26, 8, 21, 13}
	for name, by := range map[string]func(batch int) Move{
		"leapfrog": func(n int) Move { return Unadjusted{Steps: 3, Step: 0.05, Gradient: &MiniBatch{n}} },
		"epoch":    func(n int) Move { return Epoch{Batch: n, Step: 0.05, Order: sharedOrder} },
		"own":      func(n int) Move { return Epoch{Batch: n, Step: 0.05, Order: ownOrder} },
		"sghmc":    func(n int) Move { return SGHMC{Batch: n, Step: 0.01, Friction: 0.2} },
	} {
		target := &Target{Model: level{3, 29}, Prior: prior3(), Rows: rows, Lambda: 0.37}
		want, _ := moves(t, by(4), target)
		got, _ := moves(t, by(5), target)
		alikeWithin(t, name, got, want, 1e-11)
	}
	// By gradients of all examples leapfrogs go the same way too.
	target := &Target{Model: level{3, 29}, Prior: prior3(), Rows: rows, Lambda: 0.37}
	want, _ := moves(t, Unadjusted{Steps: 3, Step: 0.05}, target)
	got, _ := moves(t, Unadjusted{Steps: 3, Step: 0.05, Gradient: &MiniBatch{4}}, target)
	alikeWithin(t, "leapfrog of all", got, want, 1e-11)
}
