package decide

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
)

// Cutoff says where the threshold of a score is.
type Cutoff interface {
	// judges reports a rule that asks which answers are wrong.
	judges() bool
	// needs is the least number of labelled examples, and for what; foreign reports a rule that needs foreign inputs.
	needs() (least int, what string)
	foreign() bool
	// choose returns the threshold of the doubt; kept is false where no threshold does what was asked.
	choose(by Signal, x *Examples) (threshold float64, kept bool, err error)
}

// Cutoffs lists the ways to choose a threshold, by their names in a config.
var Cutoffs = config.Table[Cutoff]{
	{Name: "threshold", Part: Threshold(0)},
	{Name: "f1", Part: F1{}},
	{Name: "pass", Part: Pass(0)},
	{Name: "coverage", Part: Coverage(0)},
	{Name: "risk", Part: Risk(0)},
}

// Threshold is a number that the user gives, in the score's own unit. A config may give the number alone, at: 0.5.
type Threshold float64

// Alone implements config.Alone.
func (Threshold) Alone() {}

// Check implements config.Checker.
func (t Threshold) Check(f *config.Faults) {
	f.If(math.IsNaN(float64(t)) || math.IsInf(float64(t), 0), "", "want a number, have %v", float64(t))
}

func (Threshold) judges() bool         { return false }
func (Threshold) needs() (int, string) { return 0, "" }
func (Threshold) foreign() bool        { return false }

func (t Threshold) choose(by Signal, _ *Examples) (float64, bool, error) {
	return by.sign() * float64(t), true, nil
}

// F1 is the threshold of the best F1 of finding wrong answers and foreign inputs: the least doubtful of the best on a grid of 101 thresholds, 0 to 1
// for scores between 0 and 1, else from the least to the largest doubt.
type F1 struct{}

func (F1) judges() bool         { return true }
func (F1) needs() (int, string) { return 1, "a threshold at f1" }
func (F1) foreign() bool        { return true }

func (F1) choose(by Signal, x *Examples) (float64, bool, error) {
	if len(x.Foreign) == 0 {
		return 0, false, fmt.Errorf("at f1 needs foreign inputs to calibrate with, there is none: give inputs that are unlike the examples")
	}
	scores, z := x.joined()
	grid := gridOf(scores)
	if by.bounded() {
		grid = unitGrid(by.sign())
	}
	best, at := math.Inf(-1), math.Inf(-1)
	for _, t := range grid {
		if f := f1(scores, z, t); f > best {
			best, at = f, t
		}
	}
	return at, true, nil
}

// unitGrid are the doubts of a score between 0 and 1 in steps of .01, in ascending order.
func unitGrid(sign float64) (grid []float64) {
	for i := range 101 {
		if sign > 0 {
			grid = append(grid, float64(i)/100)
		} else {
			grid = append(grid, -float64(100-i)/100)
		}
	}
	return grid
}

// gridOf are 101 numbers of equal distance from the least to the largest finite doubt.
func gridOf(doubts []float64) (grid []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, d := range doubts {
		if !math.IsInf(d, 0) {
			low, high = min(low, d), max(high, d)
		}
	}
	if low > high {
		return nil
	}
	for i := range 101 {
		grid = append(grid, low+float64(float64(high-low)*float64(i)/100))
	}
	return grid
}

// Pass answers at least this share of the labelled examples, be they right or wrong: what is above is foreign
// (smc-sghmc-ensembles, section 2.6). The threshold is the ⌈share·n⌉-th smallest doubt.
type Pass float64

// Check implements config.Checker.
func (p Pass) Check(f *config.Faults) { checkShare(f, float64(p)) }

// Examples implements config.Exampler.
func (Pass) Examples() []string { return []string{"0.95"} }

func (Pass) judges() bool         { return false }
func (Pass) needs() (int, string) { return 1, "a share" }
func (Pass) foreign() bool        { return false }

func (p Pass) choose(_ Signal, x *Examples) (float64, bool, error) {
	return answering(x.Doubts, float64(p))
}

// Coverage answers this share of rows that are like the labelled examples. The threshold is the ⌈share·n⌉-th smallest doubt.
type Coverage float64

// Check implements config.Checker.
func (c Coverage) Check(f *config.Faults) { checkShare(f, float64(c)) }

// Examples implements config.Exampler.
func (Coverage) Examples() []string { return []string{"0.9"} }

func (Coverage) judges() bool         { return false }
func (Coverage) needs() (int, string) { return 1, "a share" }
func (Coverage) foreign() bool        { return false }

func (c Coverage) choose(_ Signal, x *Examples) (float64, bool, error) {
	return answering(x.Doubts, float64(c))
}

func checkShare(f *config.Faults, share float64) {
	f.If(!(share > 0 && share < 1), "", "want a number above 0, below 1, have %.12g", share)
}

// answering is the threshold that answers a share of the doubts.
func answering(doubts []float64, share float64) (float64, bool, error) {
	if err := checkRate(share); err != nil {
		return 0, false, err
	}
	n := len(doubts)
	if n == 0 {
		return 0, false, &NeedError{What: fmt.Sprintf("a share of %v", share), Need: 1}
	}
	k := max(int(math.Ceil(float64(share*float64(n))-1e-9)), 1)
	return slices.Sorted(slices.Values(doubts))[k-1], true, nil // +∞: all rows whose score is a number answer
}

// Risk answers as many rows as possible while the upper 95 % bound of the error rate among them stays at most this number (Clopper and
// Pearson 1934, as Learn-then-Test: Angelopoulos et al. 2021). Thresholds are tried in a fixed sequence, from the strictest that could
// pass without an error, in steps of a hundredth of the examples, until one fails: so all that pass keep the risk
// together with a chance of 95 %.
type Risk float64

// Check implements config.Checker.
func (r Risk) Check(f *config.Faults) { checkShare(f, float64(r)) }

// Examples implements config.Exampler.
func (Risk) Examples() []string { return []string{"0.02"} }

func (Risk) judges() bool { return true }
func (r Risk) needs() (int, string) {
	return faultless(float64(r)), fmt.Sprintf("a risk of %v", float64(r))
}
func (Risk) foreign() bool { return false }

func (r Risk) choose(_ Signal, x *Examples) (float64, bool, error) {
	if err := checkRate(float64(r)); err != nil {
		return 0, false, err
	}
	n, need := len(x.Doubts), faultless(float64(r))
	if n < need {
		return 0, false, &NeedError{What: fmt.Sprintf("a risk of %v", float64(r)), Have: n, Need: need}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch da, db := x.Doubts[a], x.Doubts[b]; {
		case da < db:
			return -1
		case da > db:
			return 1
		}
		return 0
	})
	threshold, kept := math.Inf(-1), false
	answered, errors := 0, 0
	for step := 1; step <= 100; step++ {
		m := (n*step + 99) / 100
		if m < need {
			continue
		}
		t := x.Doubts[order[m-1]]
		if math.IsInf(t, 1) { // never answered
			break
		}
		for answered < n && x.Doubts[order[answered]] <= t { // equal doubts are answered together
			if x.Wrong[order[answered]] {
				errors++
			}
			answered++
		}
		if !(atMost(errors, answered, float64(r)) <= 1-Sure) {
			break
		}
		threshold, kept = t, true
	}
	return threshold, kept, nil
}
