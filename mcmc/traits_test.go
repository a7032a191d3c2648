package mcmc

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// A move is corrected as it says, and not otherwise. From exact draws, the moments after one move are those of the target: of the particles
// themselves where accept or reject corrects it, of particles weighted by exp(−ΔH) where a weight does. By the other rule one of them is off.
// 20,000 independent particles and bounds of 6 standard errors, each exceeded with probability 2e-9; .042 standard deviations of a mean are
// found.
func TestMovesAreCorrectedAsTheySay(t *testing.T) {
	testkit.Statistics(t)
	far := map[string]Move{"leapfrog": Unadjusted{Steps: 2, Step: 1}, "epoch": Epoch{Batch: 1, Step: 1}} // steps whose error shows
	for _, row := range Moves {
		move, ok := far[row.Name]
		if !ok {
			c, _ := caseOf(t, row.Name)
			move = c.bold
		}
		target, mean, variance := conjugate(2)
		p := NewPopulation(20000, 2, move.Traits().Needs)
		exact(t, target, &p, mean, variance)
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(5, 1))
		if err != nil {
			t.Fatal(err)
		}
		off := func(weight func(j int) float64) (most float64) {
			for i := range p.D {
				for _, f := range []func(z float64) float64{func(z float64) float64 { return z }, func(z float64) float64 { return z*z - 1 }} {
					var sum, square float64
					for j := range p.J {
						x := weight(j) * f((p.Theta[j*p.D+i]-mean[i])/math.Sqrt(variance[i]))
						sum += x
						square += x * x
					}
					most = max(most, math.Abs(sum)/math.Sqrt(square))
				}
			}
			return most
		}
		plain := off(func(int) float64 { return 1 })
		weighted := off(func(j int) float64 { return math.Exp(-out.Energy[j]) })
		switch says := move.Traits().Corrected; {
		case says == ByAcceptance && !(plain <= 6 && weighted > 6), says == ByWeight && !(weighted <= 6 && plain > 6):
			t.Errorf("%s says %d: it is off by %.1f standard errors, and by %.1f with weights", row.Name, says, plain, weighted)
		}
	}
}

// watched notes the numbers of examples whose gradient is asked for.
type watched struct {
	linear
	rows *[]int
}

func (m watched) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if grad != nil && rows == nil {
		*m.rows = append(*m.rows, m.Examples())
	} else if grad != nil {
		*m.rows = append(*m.rows, len(rows))
	}
	return m.linear.LogLik(ctx, rows, theta, ll, grad)
}

// The other traits hold of what moves do on a regression of 17 examples: those of every row, and of SVGD. One that is left out is found as
// well as one too many. But a move may keep it to itself that it is blind: it is then asked for values that nobody reads.
func TestTraitsHold(t *testing.T) {
	all := someMoves(t)
	all["svgd"] = SVGD{Rate: 0.001}
	for name, m := range all {
		says := m.Traits()
		var rows []int
		target := &Target{Model: watched{examples(17), &rows}, Prior: prior3(), Lambda: 0.05}
		// once makes move k of particles that change changes first, and returns them, and what they took.
		once := func(k int, change func(p *Population)) (p Population, out Outcome) {
			p, tuning := ready(t, m, target, 5)
			var w Work
			begins(t, m, &w, target, &p, tuning, at(6, k))
			change(&p)
			rows = rows[:0]
			before := slices.Clone(tuning)
			out, err := m.Mutate(t.Context(), &w, target, &p, tuning, at(6, k))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if math.IsNaN(out.Probability[0]) != says.Biased() {
				t.Errorf("%s says that nothing corrects it: %v; its acceptance is %v", name, says.Biased(), out.Probability[0])
			}
			if !says.Biased() && slices.Equal(before, tuning) != (says.Aim == 0) {
				t.Errorf("%s aims at %v and tunes %v, then %v", name, says.Aim, before, tuning)
			}
			return p, out
		}
		plain, _ := once(0, func(*Population) {})

		other, _ := once(0, func(p *Population) {
			for j := range p.J {
				p.LL[j], p.LP[j] = p.LL[j]-float64(40*j), p.LP[j]-3
			}
			for i := range p.GradLL {
				p.GradLL[i]++
			}
		})
		if blind := slices.Equal(other.Theta, plain.Theta); says.Blind && !blind || says.Needs.Gradient && blind {
			t.Errorf("%s says it is blind: %v, and needs %+v; with other values at the particles it goes to the same places: %v", name, says.Blind, says.Needs, blind)
		}
		other, _ = once(0, func(p *Population) {
			p.Theta[len(p.Theta)-1] += 0.25
			if err := target.Evaluate(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		})
		if together := !slices.Equal(other.Theta[:3], plain.Theta[:3]); together != says.Together {
			t.Errorf("%s says that particles move together: %v; where one stands decides where others go: %v", name, says.Together, together)
		}

		_, epoch := m.(Epoch)
		var took []int // evaluations of each particle, as a budget counts them
		selects, parts := false, false
		for k := range 20 {
			_, out := once(k, func(*Population) {})
			for _, n := range rows {
				parts = parts || n != 17
				if says.Subsample > 0 && n > says.Subsample || says.Subsample == 0 && n != 17 && !epoch { // whose mini-batches are the move itself
					t.Errorf("%s says that its gradients are of %d examples (0: all), and one is of %d", name, says.Subsample, n)
				}
			}
			for j := range out.Gradients {
				n := out.Gradients[j] + out.Values[j] - out.Shown
				took = append(took, (n+16)/17)
				selects = selects || took[len(took)-1] != took[len(took)-1-j]
			}
		}
		if selects != says.Selects {
			t.Errorf("%s says that its cost depends on the state: %v; particles took %v", name, says.Selects, took)
		}
		if least, most := slices.Min(took), slices.Max(took); !(parts && says.Corrected == ByWeight) && (most > says.Evaluations() || !says.Varies && least != says.Evaluations()) {
			t.Errorf("%s says that it makes %d evaluations, and varies: %v; particles took %v", name, says.Evaluations(), says.Varies, took)
		}
	}
}

// TestMovesNameTheirSize: the setting of a move's size is one that a config has, since advice to change it names it.
func TestMovesNameTheirSize(t *testing.T) {
	for _, row := range Moves {
		want, of := cmp.Or(row.Part.Traits().Size, "step"), reflect.TypeOf(row.Part)
		if !slices.ContainsFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return name == want
		}) {
			t.Errorf("%s names the setting %s, which it does not have", row.Name, want)
		}
	}
}
