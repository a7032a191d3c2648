package mcmc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
)

// course is a chain of a budget: for every move, the share of the budget before it, its step, and what the move had learned before it.
type course struct {
	progress, step []float64
	tuning         [][]float64
	end            Population
}

// chained makes a chain of a move, of a budget in evaluations of all examples.
func chained(t *testing.T, m Move, target *Target, budget int, seed uint64) (c course) {
	t.Helper()
	p, tuning := ready(t, m, target, 1)
	var w Work
	n, spent := target.Examples(), 0
	for k := 0; spent < budget; k++ {
		now := at(seed, k)
		now.Progress, now.Left = float64(spent)/float64(budget), budget-spent
		if k == 0 {
			trials := begins(t, m, &w, target, &p, tuning, now)
			spent += (trials.Gradients + trials.Values) / n
			now.Progress, now.Left = float64(spent)/float64(budget), budget-spent
		}
		c.progress, c.tuning = append(c.progress, now.Progress), append(c.tuning, slices.Clone(tuning))
		out, err := m.Mutate(t.Context(), &w, target, &p, tuning, now)
		if err != nil {
			t.Fatal(err)
		}
		c.step = append(c.step, out.Step)
		spent += (out.Gradients[0] + out.Values[0] - out.Shown) / n
	}
	c.tuning, c.end = append(c.tuning, tuning), p
	return c
}

// late is the number of the first move of the second half.
func (c course) late() int {
	return slices.IndexFunc(c.progress, func(p float64) bool { return p >= WarmUp })
}

// adapted are the moves that a chain may have and that learn, as chains have them.
func adapted(t *testing.T) map[string]Move {
	all := map[string]Move{}
	for name, m := range someMoves(t) {
		faults := config.NewFaults()
		CheckForChains(m, faults)
		if m.Traits().Aim != 0 && len(faults.All()) == 0 {
			all[name] = m.ForChains()
		}
	}
	all["hmc, given step, scale"] = HMC{Steps: 4, Step: 0.05, Scale: Dense}
	for _, s := range scalings {
		all["hmc, "+string(s)] = HMC{Steps: 4, Scale: s}.ForChains()
	}
	return all
}

// A chain learns in its first half, to the end of it, and no longer: with what it knows at the first move of the second half, nine moves
// from one place with the same random numbers lead to the same bits as with what it knows at the end.
func TestChainsLearnInTheFirstHalfAlone(t *testing.T) {
	target := &Target{Model: examples(17), Prior: prior3(), Lambda: 1}
	for name, m := range adapted(t) {
		c := chained(t, m, target, 4000, 5)
		late := c.late()
		for i := late; i < len(c.step); i++ {
			if c.step[i] != c.step[late] {
				t.Errorf("%s: move %d of the second half has step %v, the first %v", name, i-late, c.step[i], c.step[late])
				break
			}
		}
		for from, until := 0, 1; until <= 4; from, until = until, until+1 { // quarters of the first half
			first, last := c.after(float64(from)/8), c.after(float64(until)/8)
			if m.Traits().Aim != 0 && until < 4 && slices.Equal(c.tuning[first], c.tuning[last]) {
				t.Errorf("%s learns nothing from %d/8 to %d/8 of its budget", name, from, until)
			}
		}
		if slices.Equal(c.tuning[0], c.tuning[late]) {
			t.Errorf("%s learns nothing", name)
		}
		var ends [2]Population
		for k, tuning := range [][]float64{c.tuning[late+1], c.tuning[len(c.tuning)-1]} { // the first frozen move may take averages
			p, w, tuning := c.end.Blank(), Work{}, slices.Clone(tuning)
			p.Copy(&c.end)
			for i := range 9 {
				now := at(99, i)
				now.Progress, now.Left = 0.9, 400
				if _, err := m.Mutate(t.Context(), &w, target, &p, tuning, now); err != nil {
					t.Fatal(err)
				}
			}
			ends[k] = p
		}
		if !same(ends[0].Theta, ends[1].Theta) || same(ends[0].Theta, c.end.Theta) {
			t.Errorf("%s: from %v nine moves lead to %v as learned in the first half, and to %v as learned at the end", name, c.end.Theta, ends[0].Theta, ends[1].Theta)
		}
	}
}

// after is the number of the first move that begins at or after a share of the budget.
func (c course) after(share float64) int {
	return slices.IndexFunc(c.progress, func(p float64) bool { return p >= share })
}

// The step of the second half is the average that dual averaging has made of those that it tried since its last beginning, x̄ ← t^−.75 x +
// (1 − t^−.75) x̄ after move t, and not the last one tried.
func TestFrozenStepsAreAverages(t *testing.T) {
	target := &Target{Model: examples(17), Prior: prior3(), Lambda: 1}
	for name, m := range adapted(t) {
		if m.Traits().Aim == 0 {
			continue
		}
		c := chained(t, m, target, 1200, 3)
		scale := math.Log // the scale on which the step is averaged
		if logit := func(b float64) float64 { return math.Log(b / (1 - b)) }; golden.Near(logit(c.step[1]), c.tuning[1][logStep], 1e-9, 1e-9) {
			scale = logit
		}
		late, average := c.late(), 0.0
		for _, now := range c.tuning[1 : late+1] {
			average += math.Pow(max(1, now[movesLearned]), -0.75) * (now[logStep] - average)
		}
		if got, last := scale(c.step[late]), c.tuning[late][logStep]; !golden.Near(got, average, 1e-9, 1e-9) || golden.Near(last, average, 1e-3, 0) {
			t.Errorf("%s: the frozen step is %v on its scale, want the average %v; the last one tried is %v", name, got, average, last)
		}
	}
}

// The trials by which a chain finds its step take at most a sixteenth of its budget, however small that is.
func TestTrialsTakeTheirShareOfTheBudget(t *testing.T) {
	target := &Target{Model: examples(17), Prior: prior3(), Lambda: 1}
	tried := 0
	for name, m := range adapted(t) {
		for _, budget := range []int{100, 300, 900, 5000} {
			p, tuning := ready(t, m, target, 1)
			now := at(3, 0)
			now.Left = budget
			trials := begins(t, m, new(Work), target, &p, tuning, now)
			took := (trials.Gradients + trials.Values) / 17
			if tried += took; !(float64(took) <= trialShare*float64(budget)) {
				t.Errorf("%s: trials take %d evaluations of a budget of %d", name, took, budget)
			}
		}
	}
	if tried == 0 {
		t.Error("no move makes trials")
	}
}
