package smc

import (
	"cmp"
	"slices"
)

// Schedule is data annealing by a rule for the batch size (data-annealing-smc, eqs. 13–18): the target of iteration
// k = 0 … K−1 sees n_k of the N examples, their likelihood scaled to N,
//
//	log π_k(θ) = (N/n_k) Σ_{i ∈ B_k} log p(y_i|x_i, θ) + log p(θ).
//
// With C = Batch, κ = Grow and R = 0.9 K:
//
//	rule              n_k for k < R                                     n_k from R on   members of B_k
//	Constant          C                                                 C               fresh
//	Full              N                                                 N               all
//	ConstantToRefine  C                                                 N               fresh, then all
//	Linear            κ·k + C                                           N               the first n_k of one order
//	Automated         C + ⌊(N−C)/R⌋·k, to the nearest multiple of κ     N               the first n_k of one order
//
// and all of it clipped to [C, N]. Fresh batches follow one another in a shuffled order of all examples, then in another
// (A2); a cumulative batch contains the one before, so that only the block which is new needs to be evaluated where the
// particles stand. First particles are draws from the prior, weighted for π_0, which is also the target of the first
// move.
type Schedule struct {
	Rule       Rule
	Iterations int // K
	Batch      int // C; 0: as BatchSizes says
	Grow       int // κ; 0: likewise
}

// Rule says how many examples an iteration of a Schedule sees.
type Rule int

const (
	Constant Rule = iota
	Full
	ConstantToRefine
	Linear
	Automated
)

var rules = [...]string{"constant", "full", "ctr", "linear", "automated"}

func (r Rule) String() string { return rules[r] }

// ParseRule returns the rule whose String is name; ok is false if there is none.
func ParseRule(name string) (r Rule, ok bool) {
	i := slices.Index(rules[:], name)
	return Rule(i), i >= 0
}

// BatchSizes fills in what was left out, as 0, of a path's first batch and of what follows it: the first has the paper's
// 500 examples, and the others grow by as many as the first has.
func BatchSizes(batch, grow int) (first, growth int) {
	first = cmp.Or(batch, 500)
	return first, cmp.Or(grow, first)
}

// Start is π_0.
func (s Schedule) Start(n int) (Stage, bool) { return s.stage(0, n), true }

// Next is π_k.
func (s Schedule) Next(st *State) (Stage, error) { return s.stage(st.K-st.Warmed, st.Examples), nil }

// Done is true after K iterations.
func (s Schedule) Done(st *State) bool { return st.K-st.Warmed >= s.Iterations }

// Progress is the share of the iterations that are made.
func (s Schedule) Progress(st *State) float64 {
	return float64(st.K-st.Warmed) / float64(s.Iterations)
}

// Budget is 0.
func (Schedule) Budget(*State) int { return 0 }

// Settles is false.
func (Schedule) Settles() bool { return false }

func (s Schedule) check(int) error {
	var f faults
	f.add(s.Rule < Constant || s.Rule > Automated, "path: unknown rule %d", int(s.Rule))
	f.sizes(s.Iterations, s.Batch, s.Grow)
	return f.err()
}

// stage is the target of iteration k for n examples.
func (s Schedule) stage(k, n int) Stage {
	size := s.Size(k, n)
	stage := Stage{Lambda: float64(n) / float64(size)}
	switch {
	case s.Rule == Linear || s.Rule == Automated:
		stage.Rows = Rows{0, size}
	case size < n:
		stage.Rows = Rows{k * size, (k + 1) * size}
	}
	return stage
}

// Size is n_k for n examples.
func (s Schedule) Size(k, n int) int {
	first, grow := BatchSizes(s.Batch, s.Grow)
	first, grow = min(first, n), min(grow, 4*n) // 4n: changes nothing, and nothing overflows
	refine := 10*k >= 9*s.Iterations            // k ≥ R, exactly
	size := first
	switch {
	case s.Rule == Full || refine && s.Rule != Constant:
		size = n
	case s.Rule == Linear:
		size = first + grow*k
	case s.Rule == Automated:
		size = first + 10*(n-first)/(9*s.Iterations)*k
		size = (2*size + grow) / (2 * grow) * grow
	}
	return min(max(size, first), n)
}
