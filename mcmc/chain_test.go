package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// chainOf runs a chain of a budget to its end and returns its outcomes' steps, lengths and acceptances by progress.
type made struct {
	progress, step, accepted float64
	leapfrogs                int
}

func chainOf(t *testing.T, move HMC, target *Target, p *Population, budget int, seed uint64) (moves []made, tuning []float64) {
	t.Helper()
	tuning, err := move.Tuning(target, p.J)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	spent := 0
	now := at(seed, 0)
	now.Left = budget
	trials, err := move.Begin(context.Background(), &w, target, p, []float64{1}, tuning, now)
	if err != nil {
		t.Fatal(err)
	}
	spent += trials.Gradients
	for k := 0; spent < budget; k++ {
		now := at(seed, k)
		now.Progress, now.Left = float64(spent)/float64(budget), budget-spent
		out, err := move.Mutate(context.Background(), &w, target, p, tuning, now)
		if err != nil {
			t.Fatal(err)
		}
		spent += out.Gradients[0]
		moves = append(moves, made{now.Progress, out.Step, out.Probability[0], out.Leapfrogs})
	}
	return moves, tuning
}

// A step that is written stays, whatever scale the chain learns.
func TestWrittenStepStays(t *testing.T) {
	m := pairs{slices.Repeat([]float64{0.1, 3}, 3), 0.5}
	target := nearlyFlat(m)
	target.Prior = normal{make([]float64, 6), slices.Repeat([]float64{5}, 6)}
	p := NewPopulation(1, 6, Needs{Gradient: true})
	m.draws(t, target, &p, 3)
	moves, tuning := chainOf(t, HMC{Steps: 5, Step: 0.02, Scale: Diagonal}, target, &p, 2000, 4)
	for i, x := range moves {
		if !golden.Near(x.step, 0.02, 1e-12, 0) {
			t.Fatalf("move %d, at %v, has step %v", i, x.progress, x.step)
		}
	}
	if sd := view(tuning, Diagonal, 6).scales[0].sd; sd[0] == 5 {
		t.Errorf("no scale was learned: %v", sd)
	}
}

// The course of a chain: brief moves first, then moves of full length, and after the half nothing changes. The step of the
// second half is accepted as aimed at, within .08, in the mean of 20 chains; the standard error of that mean, from the scatter of
// the chains, is below .015 (5 standard errors).
func TestChainsLearnInTheirFirstHalf(t *testing.T) {
	m := pairs{slices.Repeat([]float64{0.1, 3}, 10), 0.5}
	target := nearlyFlat(m)
	target.Prior = normal{make([]float64, 20), slices.Repeat([]float64{5}, 20)}
	for _, scaling := range []Scaling{None, Diagonal, Dense} {
		move := HMC{Steps: 10, Scale: scaling}.ForChains().(HMC)
		mean := 0.0
		for seed := range 20 {
			p := NewPopulation(1, 20, Needs{Gradient: true})
			m.draws(t, target, &p, uint64(seed))
			moves, _ := chainOf(t, move, target, &p, 4000, uint64(seed))
			late := 0.0
			n := 0.0
			for i, x := range moves {
				switch {
				case x.progress < windows[0] && x.leapfrogs != briefMoves:
					t.Fatalf("%s: move %d, at %v, makes %d leapfrogs", scaling, i, x.progress, x.leapfrogs)
				case x.progress >= windows[0] && x.leapfrogs != 10 && i < len(moves)-1:
					t.Fatalf("%s: move %d, at %v, makes %d leapfrogs", scaling, i, x.progress, x.leapfrogs)
				case x.progress >= WarmUp:
					if x.step != moves[len(moves)-1].step {
						t.Fatalf("%s: move %d, at %v, has another step", scaling, i, x.progress)
					}
					late += x.accepted
					n++
				}
			}
			mean += late / n / 20
		}
		if !(math.Abs(mean-0.75) < 0.08) {
			t.Errorf("%s: acceptance %v in the second halves, want .75", scaling, mean)
		}
	}
}

// A dense scale and the length by rule make the chain of an ill-conditioned target move as far as on N(0, I): the lag-1
// autocorrelation of the second half is below .5 in each coordinate, where trajectories of as many evaluations without a scale
// leave more than .9 in the wide ones. Exact independence would give 0 ± .05; the bound is ten times that.
func TestChainsLearnTheirScale(t *testing.T) {
	m := pairs{[]float64{0.01, 3, 0.2, 40}, 0.95}
	target := nearlyFlat(m)
	target.Prior = normal{make([]float64, 4), slices.Repeat([]float64{100}, 4)}
	correlation := func(scaling Scaling) (worst float64) {
		p := NewPopulation(1, 4, Needs{Gradient: true})
		m.draws(t, target, &p, 7)
		move := HMC{Scale: scaling}.ForChains().(HMC)
		if scaling == None {
			move.Length, move.Steps = 0, 4
		}
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		const budget = 8000
		var states [4][]float64
		for spent, k := 0, 0; spent < budget; k++ {
			now := at(9, k)
			now.Progress, now.Left = float64(spent)/budget, budget-spent
			if k == 0 {
				trials, err := move.Begin(context.Background(), &w, target, &p, []float64{1}, tuning, now)
				if err != nil {
					t.Fatal(err)
				}
				spent += trials.Gradients
			}
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, now)
			if err != nil {
				t.Fatal(err)
			}
			spent += out.Gradients[0]
			if now.Progress > WarmUp {
				for i := range states {
					states[i] = append(states[i], p.Theta[i])
				}
			}
		}
		for _, x := range states {
			worst = max(worst, Autocorrelation(x, 1)[1])
		}
		return worst
	}
	if r := correlation(""); !(r < 0.5) {
		t.Errorf("lag-1 autocorrelation %v", r)
	}
	if r := correlation(None); !(r > 0.9) {
		t.Errorf("lag-1 autocorrelation %v without a scale: the test has no power", r)
	}
}
