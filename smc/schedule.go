package smc

import (
	"cmp"
	"fmt"
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
	Batch      int // C; 0: 500
	Grow       int // κ; 0: Batch
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

func (r Rule) String() string {
	return [...]string{"constant", "full", "ctr", "linear", "automated"}[r]
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

func (s Schedule) check() error {
	if s.Rule < Constant || s.Rule > Automated || s.Iterations < 1 || s.Batch < 0 || s.Grow < 0 {
		return fmt.Errorf("path: schedule %d of %d iterations, batches of %d that grow by %d", int(s.Rule), s.Iterations, s.Batch, s.Grow)
	}
	return nil
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
	first, grow := min(cmp.Or(s.Batch, usual), n), cmp.Or(s.Grow, s.Batch, usual)
	refine := 10*k >= 9*s.Iterations // k ≥ R, exactly
	size := first
	grow = min(grow, 4*n) // changes nothing, and nothing overflows
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

// usual is the paper's C and κ.
const usual = 500
