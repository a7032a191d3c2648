package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// oscillator is N(0, sd²) by coordinates as a likelihood, beside a prior that says next to nothing.
func oscillator(sd ...float64) *Target {
	precision, zero, wide := make([][]float64, len(sd)), make([]float64, len(sd)), make([]float64, len(sd))
	for i, s := range sd {
		precision[i], wide[i] = make([]float64, len(sd)), 1e9
		precision[i][i] = 1 / (s * s)
	}
	return &Target{Model: &model{d: len(sd), log: gaussian(precision, zero), factor: 1}, Prior: normal{zero, wide}, Lambda: 1}
}

// orbit is the states of an oscillator on both sides of a start, −reach … reach leapfrogs away, in scaled coordinates z = θ/scale.
type orbit struct {
	reach  int
	z, p   [][2]float64
	weight []float64 // e^−H
}

func newOrbit(z, p, sd, scale [2]float64, h float64, reach int) orbit {
	o := orbit{reach: reach, z: make([][2]float64, 2*reach+1), p: make([][2]float64, 2*reach+1), weight: make([]float64, 2*reach+1)}
	for _, sign := range []float64{1, -1} {
		z, p := z, p
		for n := range reach + 1 {
			i, energy := reach+int(sign)*n, 0.0
			o.z[i], o.p[i] = z, p
			for k := range z {
				stiffness := scale[k] * scale[k] / (sd[k] * sd[k])
				energy += 0.5*p[k]*p[k] + 0.5*stiffness*z[k]*z[k]
				p[k] -= sign * h / 2 * stiffness * z[k]
				z[k] += sign * h * p[k]
				p[k] -= sign * h / 2 * stiffness * z[k]
			}
			o.weight[i] = math.Exp(-energy)
		}
	}
	return o
}

// turns reports whether the path from state lo to state hi turns back: by the definition, from the list of its momenta.
func (o orbit) turns(lo, hi int) bool {
	var rho [2]float64
	for _, p := range o.p[lo : hi+1] {
		rho[0], rho[1] = rho[0]+p[0], rho[1]+p[1]
	}
	at := func(i int) float64 { return o.p[i][0]*rho[0] + o.p[i][1]*rho[1] }
	return !(at(lo) > 0 && at(hi) > 0)
}

// joined reports whether the union of the states lo … mid and mid+1 … hi is a tree that may grow.
func (o orbit) joined(lo, mid, hi int) bool {
	return !o.turns(lo, hi) && !o.turns(lo, mid+1) && !o.turns(mid, hi)
}

// grown reports whether lo … hi can be a new half.
func (o orbit) grown(lo, hi int) bool {
	mid := (lo + hi) / 2
	return lo == hi || o.grown(lo, mid) && o.grown(mid+1, hi) && o.joined(lo, mid, hi)
}

// from adds, to out, share times the distribution of the state that NUTS takes from a tree lo … hi in which its choice has the
// distribution chosen: summed over all directions, of at most so many doublings.
func (o orbit) from(lo, hi, doublings int, chosen []float64, share float64, out []float64) {
	if doublings == 0 {
		for i, c := range chosen {
			out[i] += share * c
		}
		return
	}
	n := hi - lo + 1
	for _, half := range [][2]int{{lo - n, lo - 1}, {hi + 1, hi + n}} {
		if !o.grown(half[0], half[1]) {
			o.from(lo, hi, 0, chosen, share/2, out)
			continue
		}
		var before, after float64
		for i := range n {
			before, after = before+o.weight[lo+i], after+o.weight[half[0]+i]
		}
		taken, next := min(1, after/before), make([]float64, len(chosen))
		for i, c := range chosen {
			next[i] = (1 - taken) * c
			if half[0] <= i && i <= half[1] {
				next[i] = taken * o.weight[i] / after
			}
		}
		first, last := min(lo, half[0]), max(hi, half[1])
		left := doublings - 1
		if !o.joined(first, first+n-1, last) {
			left = 0
		}
		o.from(first, last, left, next, share/2, out)
	}
}

// transition is the distribution of the state that NUTS takes from state i, over all states.
func (o orbit) transition(i, doublings int) []float64 {
	out, here := make([]float64, len(o.z)), make([]float64, len(o.z))
	here[i] = 1
	o.from(i, i, doublings, here, 1, out)
	return out
}

// On the orbit of a harmonic oscillator the tree has a second road: all states are listed, and the rules of the paper are read
// off the list. By that road the kernel is invariant: Σ_i π_i T(i → j) = π_j, which tests the rules. And the code takes each
// state as often as T says: 40,000 moves from one start, whose frequencies lie within Bernstein's bound, √(2 q L/N) + 2L/(3N)
// for a probability q, exceeded with probability 1e-6 in all. A frequency that is wrong by .02 is found. Coordinates are scaled
// and differ, so that a U-turn in θ is another one than in z; the step is long, so that energies differ.
func TestTreeOfAnOscillator(t *testing.T) {
	testkit.Statistics(t)
	const doublings, n = 4, 40000
	sd, in := [2]float64{1, 5}, [2]float64{0.7, 9}
	reach := 2 * (1<<doublings - 1)
	target := oscillator(sd[:]...)
	p := NewPopulation(1, 2, Needs{Gradient: true})
	seen := map[int]bool{} // numbers of leapfrogs
	starts := []struct {   // the checks across subtrees matter at most of them
		h     float64
		theta [2]float64
	}{
		{0.9, [2]float64{1.2, -3}}, {0.82, [2]float64{1.05, -9.34}}, {0.6, [2]float64{0.4, 0.5}}, {0.415, [2]float64{1.68, 4.39}},
		{0.34, [2]float64{-1.64, -6.39}}, {0.3, [2]float64{1.51, 9.6}}, {0.25, [2]float64{-0.25, -4.9}}, {0.2, [2]float64{0.3, 5}}, {0.1, [2]float64{1, -6}},
	}
	for _, c := range starts {
		h, theta := c.h, c.theta
		copy(p.Theta, theta[:])
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		var w Work
		r := w.trajectoryOf(&p, target)
		r.in, r.size = scales{{sd: in[:]}}, h
		begin := func() { r.begin(&p, 0, rng.Key{Purpose: rng.Momentum}.Stream()) }
		begin()
		o := newOrbit([2]float64{theta[0] / in[0], theta[1] / in[1]}, [2]float64(r.whole.momentum), sd, in, h, reach)
		want := o.transition(reach, doublings)
		arrived := 0.0
		for i := reach / 2; i <= reach+reach/2; i++ {
			arrived += o.weight[i] * o.transition(i, doublings)[reach]
		}
		if !golden.Near(arrived, o.weight[reach], 1e-12, 0) {
			t.Errorf("%v: the rules bring %v to a state of weight %v", theta, arrived, o.weight[reach])
		}
		got := make([]float64, len(want))
		for k := range n {
			begin()
			if err := r.double(context.Background(), rng.Key{Purpose: rng.Tree, Iteration: k}.Stream(), doublings); err != nil {
				t.Fatal(err)
			}
			seen[r.leapfrogs] = true
			at := slices.IndexFunc(o.z, func(z [2]float64) bool {
				x := r.whole.state.Theta
				return golden.Near(z[0]*in[0], x[0], 1e-6, 1e-9) && golden.Near(z[1]*in[1], x[1], 1e-6, 1e-9)
			})
			if at < 0 {
				t.Fatalf("%v: %v is not on the orbit", theta, r.whole.state.Theta)
			}
			if energy := -math.Log(o.weight[at]); !golden.Near(r.whole.energy-r.start, energy+math.Log(o.weight[reach]), 1e-6, 1e-6) {
				t.Fatalf("energy %v of state %d, want %v", r.whole.energy, at, energy)
			}
			got[at] += 1.0 / n
		}
		limit := math.Log(2 * float64(len(starts)*len(want)) / 1e-6)
		for i, q := range want {
			if !(math.Abs(got[i]-q) <= math.Sqrt(2*q*limit/n)+2*limit/(3*n)) {
				t.Errorf("%v: state %d is taken with frequency %v, want %v", theta, i-reach, got[i], q)
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("trajectories of %v leapfrogs only: the test asks for more kinds", seen)
	}
}

// Dual averaging by its definition (Hoffman and Gelman 2014, eq. 6 and algorithm 5), as sums over all moves.
func TestDualAveragingIsThePapers(t *testing.T) {
	u := dualAveraging(make([]float64, averagingNumbers))
	u.restart(math.Log(0.3), math.Log(3))
	if u[logStep] != math.Log(0.3) || u[logStepMean] != math.Log(0.3) {
		t.Errorf("begins at %v, and averaged %v", u[logStep], u[logStepMean])
	}
	var errors, mean float64
	for k := 1; k <= 50; k++ {
		a := 0.5 + 0.5*math.Sin(float64(k))
		u.learn(a, 0.8, 0.05)
		errors += 0.8 - a
		x := math.Log(3) - math.Sqrt(float64(k))/0.05*errors/float64(k+10)
		eta := math.Pow(float64(k), -0.75)
		mean = eta*x + (1-eta)*mean
		if !golden.Near(u[logStep], x, 1e-12, 1e-12) || !golden.Near(u[logStepMean], mean, 1e-12, 1e-12) {
			t.Fatalf("after %d moves log h is %v and its average %v, want %v and %v", k, u[logStep], u[logStepMean], x, mean)
		}
	}
	if u.size(true) != rng.Exp(u[logStep]) || u.size(false) != rng.Exp(u[logStepMean]) {
		t.Error("the warm-up moves by the last step, the rest by the average")
	}
}

// Windows end after the moves that Stan has for as long a warm-up, except for the last buffer: a tenth of the warm-up, or 50 moves if
// that is more, but not more than three tenths. The scale is that of the window's states alone and, of n of them, shrunk in its logarithm by 5/(n+5)
// towards the scale before, times what is common to the coordinates: of one coordinate it is the states' own.
func TestWindowsOfTheWarmUp(t *testing.T) {
	for _, c := range []struct {
		moves  int // of the warm-up
		buffer int
		want   []int
	}{
		{1000, 75, []int{100, 150, 250, 450, 900}},
		{400, 60, []int{85, 135, 350}},
		{90, 14, []int{63}},
		{40, 6, []int{28}},
		{20, 3, []int{14}},
		{14, 3, nil}, // too few states
	} {
		target, stream := oscillator(1), rng.Key{Purpose: rng.Synthetic}.Stream()
		u := warmUpOf(newWarmUp(target, Dense, 1), Dense, 1)
		p := NewPopulation(1, 1, Needs{})
		var w Work
		w.Fit(&p)
		var got []int
		var window []float64
		for k := 1; k <= c.moves; k++ {
			p.Theta[0] = 3 + 100*stream.Normal()
			if before := u.stages[stage]; before != firstBuffer && before != lastBuffer {
				window = append(window, p.Theta[0])
			} else if len(window) > 0 && before == firstBuffer {
				t.Fatalf("%d moves: a window before the end of the buffer", c.moves)
			}
			if k <= c.buffer && !u.buffering() || k == c.buffer+1 && u.buffering() {
				t.Errorf("%d moves: stage %v at move %d, want a buffer of %d", c.moves, u.stages[stage], k, c.buffer)
			}
			progress := 0.5 * float64(k) / float64(c.moves)
			if !u.observe(&w, &p, progress) {
				continue
			}
			changed := !u.buffering() && u.fromWindow(target)
			u.next(progress, progress)
			if changed {
				got = append(got, k)
				n, s := float64(len(window)), 0.0
				for _, x := range window {
					s += (x - averageOf(window)) * (x - averageOf(window)) / (n - 1)
				}
				if got, want := u.scales[0].factor[0], math.Sqrt(s); !golden.Near(got, want, 1e-12, 0) {
					t.Errorf("%d moves: scale %v after move %d, want %v", c.moves, got, k, want)
				}
				window = nil
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d moves: windows end after moves %v, want %v", c.moves, got, c.want)
		}
		if u.stages[stage] != lastBuffer {
			t.Errorf("%d moves: the last buffer did not begin", c.moves)
		}
	}
}

// The search brings the step to where a leapfrog's acceptance crosses .8. For one leapfrog of an oscillator of sd 1 that lies
// between .5 and 2, whatever the momentum; a target 2²⁰ times as wide has a step exactly 2²⁰ times as long. Where no step is
// good enough, the step stays as it was, and the trials are counted.
func TestSearchFindsAStep(t *testing.T) {
	found := func(target *Target, theta, first float64, most int) (size float64, trials int) {
		t.Helper()
		p := NewPopulation(1, 1, Needs{Gradient: true})
		p.Theta[0] = theta
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		u := warmUpOf(newWarmUp(target, None, first), None, 1)
		var w Work
		r := w.trajectoryOf(&p, target)
		r.in = u.scales
		target.Model.(*model).calls = 0
		trials, err := r.search(context.Background(), &p, u, rng.Key{Seed: 1}, most)
		if err != nil || trials != target.Model.(*model).calls {
			t.Errorf("%d trials, %d evaluations, error %v", trials, target.Model.(*model).calls, err)
		}
		if u.tuning[movesLearned] != 0 || !golden.Near(u.tuning[centre], u.tuning[logStep]+math.Log(10), 1e-14, 1e-14) {
			t.Errorf("adaptation begins at %v around %v", u.tuning[logStep], u.tuning[centre])
		}
		return math.Exp(u.tuning[logStep]), trials
	}
	for _, first := range []float64{1, 1. / 1024, 1024} {
		narrow, n := found(oscillator(1), 0.5, first, 100)
		wide, m := found(oscillator(1<<20), 0.5*(1<<20), first*(1<<20), 100)
		if !(narrow >= 0.4 && narrow <= 4) || !golden.Near(wide, narrow*(1<<20), 1e-12, 0) || n != m {
			t.Errorf("from %v: %v after %d trials, and %v after %d", first, narrow, n, wide, m)
		}
	}
	broken := oscillator(1)
	good := broken.Model.(*model).log
	broken.Model.(*model).log = func(theta, grad []float64) float64 {
		if l := good(theta, grad); theta[0] == 0.5 {
			return l
		}
		return math.NaN()
	}
	if size, trials := found(broken, 0.5, 1, 100); !golden.Near(size, 1, 1e-14, 0) || trials != 32 {
		t.Errorf("where nothing is accepted: %v after %d trials", size, trials)
	}
	if size, trials := found(oscillator(1), 0.5, 1./1024, 3); !golden.Near(size, 1./1024, 1e-12, 0) || trials != 3 {
		t.Errorf("with 3 trials: %v after %d", size, trials)
	}
}

// A move takes no more evaluations than the budget has left, and says how many it took. After the warm-up nothing is learned,
// and the step is the averaged one.
func TestTrajectoriesFitTheBudget(t *testing.T) {
	for _, left := range []int{1, 2, 3, 6, 7, 8, 40, 2000} {
		for _, progress := range []float64{0.2, 0.5} {
			target := oscillator(100, 100)
			p := NewPopulation(1, 2, Needs{Gradient: true})
			p.Theta[0] = 150
			if err := target.Evaluate(context.Background(), &p); err != nil {
				t.Fatal(err)
			}
			tuning, err := NUTS{}.Tuning(target, 1)
			if err != nil {
				t.Fatal(err)
			}
			tuning[logStepMean] = -2 - math.Log(1e9) // in units of the prior's scale
			before := slices.Clone(tuning)
			calls := target.Model.(*model).calls
			now := at(1, 0)
			now.Left, now.Progress = left, progress
			var w Work
			out, err := NUTS{}.Mutate(context.Background(), &w, target, &p, tuning, now)
			if err != nil {
				t.Fatal(err)
			}
			took := target.Model.(*model).calls - calls
			if out.Gradients[0] != took || took > left || took < 1 {
				t.Errorf("%d evaluations left: %d made, %d said", left, took, out.Gradients[0])
			}
			if progress < 0.5 {
				continue
			}
			if !slices.Equal(tuning, before) || out.Step != rng.Exp(before[logStepMean]) {
				t.Errorf("after the warm-up: step %v, tuning %v", out.Step, tuning)
			}
			if want := 1<<min(10, int(math.Log2(float64(left+1)))) - 1; took != want { // the step is too short for a turn
				t.Errorf("%d evaluations left: %d made, want %d", left, took, want)
			}
		}
	}
}

// A rise of the energy by more than 1,000 ends a trajectory, which is counted, and the particle stays.
func TestSteepTrajectoriesDiverge(t *testing.T) {
	target := oscillator(0.01)
	p := NewPopulation(3, 1, Needs{Gradient: true})
	copy(p.Theta, []float64{0.01, 0.02, -0.01})
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(p.Theta)
	var w Work
	out, err := NUTS{Step: 1}.Mutate(context.Background(), &w, target, &p, newWarmUp(target, None, 1), at(1, 0))
	if err != nil || out.Divergent != 3 || !slices.Equal(p.Theta, before) || !slices.Equal(out.Probability, []float64{0, 0, 0}) {
		t.Errorf("%d of 3 diverge, at %v, %+v, %v", out.Divergent, p.Theta, out, err)
	}
}

// A window begins when the ascent and the search after it are over, so their evaluations are no cost of the window's moves: from a start that
// is far off the window begins at the share of the budget that all calls have spent, to rounding.
func TestWindowsBeginAfterTheAscent(t *testing.T) {
	const budget = 3000
	target := oscillator(1, 0.01)
	p := NewPopulation(1, 2, Needs{Gradient: true})
	copy(p.Theta, []float64{1e5, 1e5})
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	move := NUTS{}
	tuning, err := move.Tuning(target, p.J)
	if err != nil {
		t.Fatal(err)
	}
	u := warmUpOf(tuning, Dense, 2)
	var w Work
	first := target.Model.(*model).calls
	for k := 0; u.buffering(); k++ {
		spent := target.Model.(*model).calls - first
		now := at(1, k)
		now.Progress, now.Left = float64(spent)/budget, budget-spent
		if _, err := move.Mutate(context.Background(), &w, target, &p, tuning, now); err != nil {
			t.Fatal(err)
		}
	}
	spent := target.Model.(*model).calls - first
	if !golden.Near(u.stages[stageBegan]*budget, float64(spent), 1e-9, 0) {
		t.Errorf("the window begins at %v evaluations, when %d were made", u.stages[stageBegan]*budget, spent)
	}
	if !(math.Abs(p.Theta[0]) < 10) {
		t.Errorf("no ascent: the chain is at %v", p.Theta)
	}
}
