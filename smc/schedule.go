package smc

import (
	"cmp"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Schedule is data annealing by a rule for the batch (data-annealing-smc, eqs. 13–18): the target of iteration
// k = 0 … K−1 sees the n_k of N examples that the rule gives, their likelihood scaled to N,
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
// with all sizes clipped to [C, N]. Fresh batches are consecutive parts of one random order of all examples, then of the next
// order (A2). A cumulative batch contains the one before, so only the new block is evaluated at the particles. First
// particles are draws from the prior, weighted for π_0, which is also the target of the first move: Algorithm 1 of
// GOHSMC as it is printed moves first on B_1 (guided-open-horizon-smc, section 3.2).
//
// The product of the weights estimates the normaliser of the last target without bias, if steps are fixed. Its logarithm is another matter.
// From one fresh batch to the next the log-weights change by N/C times the difference of two batches, whose variance over the particles
// does not fall as they settle: log Z loses about half of it in every iteration, unless J is far above its exponential. On 41
// examples, 20 iterations and 1,000 particles, Constant and ConstantToRefine miss log Z by −.7 nats with batches of 38, −8 with 20 and
// −36 with 10, Linear and Automated from 10 on by .05 (docs/scores.md). So those two have no evidence, whatever the last target is.
//
// In place of K, Constant and Full take a number of epochs of ⌈N/C⌉ iterations each. The batches run on from one order of the examples
// into the next, so that an epoch does not begin with an order.
type Schedule[R Rule] struct {
	Iterations int `yaml:"iterations,omitempty,nonzero"` // K, the steps of the path; default 200, unless Epochs is given
	Epochs     int `yaml:"epochs,omitempty,nonzero"`     // length of the path in passes over all examples, in place of Iterations
	Rule       R   `yaml:",inline"`
}

// Rule gives the batches of a Schedule. Each rule has a type of its own, with its settings. It is Epochal, too, if batches are so alike that some
// of them make an epoch.
type Rule interface {
	// Rows returns the batch of an iteration k of a given number, among n examples. There are two kinds: fresh and
	// cumulative.
	Rows(k, iterations, n int) Rows
	// String is the title of the path.
	String() string
	// Evidence is PathTraits.Evidence for a given number of iterations.
	Evidence(iterations int) Evidence
}

// BatchSizes applies defaults: the first batch has the paper's 500 examples, and later blocks are as large as the first
// batch.
func BatchSizes(batch, grow int) (first, growth int) {
	first = cmp.Or(batch, 500)
	return first, cmp.Or(grow, first)
}

// fresh returns a batch of size examples. Batches of equal size in one pass over the examples do not overlap. If size is at
// least n, the batch holds all n examples.
func fresh(k, size, n int) Rows {
	if size >= n {
		return Rows{}
	}
	return Rows{k * size, (k + 1) * size}
}

// cumulative returns the first size examples of the order, at least first and at most n.
func cumulative(size, first, n int) Rows { return Rows{0, min(max(size, first), n)} }

// refines reports whether iteration k is in the last tenth, k ≥ R, where a batch holds all examples.
func refines(k, iterations int) bool { return 10*k >= 9*iterations }

// throughFresh is why a path of fresh batches has no log evidence.
const throughFresh = "goes from one fresh batch to another, and log Z would be far too low"

// refined describes the evidence of a path whose last tenth uses all examples. With fewer than 10 iterations there is no last
// tenth.
func refined(iterations int) Evidence {
	if iterations < 10 {
		return Evidence{Scaled: true, Unsure: "takes all examples in the last tenth of its iterations, and fewer than 10 iterations have none"}
	}
	return Evidence{Scaled: true}
}

func checkSize(f *config.Faults, field string, size int) {
	f.If(size < 0, field, "want at least 1, have %d", size)
}

func (s Schedule[R]) String() string { return s.Rule.String() }

// Defaults sets the number of iterations, unless there is one of epochs.
func (s *Schedule[R]) Defaults() {
	if s.Epochs == 0 {
		s.Iterations = cmp.Or(s.Iterations, 200)
	}
}

// Check notes impossible settings.
func (s Schedule[R]) Check(f *config.Faults) {
	if s.Epochs == 0 {
		f.Within("iterations", s.Iterations, 1, rng.MaxIterations)
		return
	}
	f.Within("epochs", s.Epochs, 1, rng.MaxIterations)
	f.If(s.Iterations != 0, "epochs", "%d epochs exclude %d iterations: want one of them", s.Epochs, s.Iterations)
	f.If(PerEpoch(s.Rule, 1) == 0, "epochs", "batches that grow or change in kind make no epochs: want iterations")
}

// iterations is K for n examples.
func (s Schedule[R]) iterations(n int) int {
	if s.Epochs > 0 {
		return s.Epochs * PerEpoch(s.Rule, n)
	}
	return s.Iterations
}

// PerEpoch is the number of iterations of an epoch of n examples; 0 if the path is not in epochs.
func (s Schedule[R]) PerEpoch(n int) int {
	if s.Epochs == 0 {
		return 0
	}
	return PerEpoch(s.Rule, n)
}

// Count is the number of iterations made, of how many.
func (s Schedule[R]) Count(st *State) (made, all int) { return st.K, s.iterations(st.Examples) }

// Start is π_0.
func (s Schedule[R]) Start(n int) (Stage, bool) { return s.stage(0, n), true }

// Next is π_k.
func (s Schedule[R]) Next(st *State) (Stage, error) { return s.stage(st.K, st.Examples), nil }

// Done is true after K iterations.
func (s Schedule[R]) Done(st *State) bool { return st.K >= s.iterations(st.Examples) }

// Progress is the share of the iterations that are made.
func (s Schedule[R]) Progress(st *State) float64 {
	return float64(st.K) / float64(s.iterations(st.Examples))
}

// Traits say that targets see batches, and which evidence the rule leads to.
func (s Schedule[R]) Traits() PathTraits {
	return PathTraits{Batches: true, Evidence: s.Rule.Evidence(s.Iterations)}
}

// Curves is the batch size.
func (Schedule[R]) Curves(int) []Curve { return []Curve{batchSize} }

// Work counts the examples of the batches, the cost of an iteration.
func (s Schedule[R]) Work(info Info, _ float64, n int) (done, all float64) {
	iterations := s.iterations(n)
	made := int(math.Round(info.Progress * float64(iterations)))
	for k := range iterations {
		if k == made {
			done = all
		}
		all += float64(s.Size(k, n))
	}
	if made >= iterations {
		return all, all
	}
	return done, all
}

// Size is n_k for n examples.
func (s Schedule[R]) Size(k, n int) int { return s.Rule.Rows(k, s.iterations(n), n).size(n) }

// stage is the target of iteration k for n examples.
func (s Schedule[R]) stage(k, n int) Stage {
	rows := s.Rule.Rows(k, s.iterations(n), n)
	return Stage{Lambda: float64(n) / float64(rows.size(n)), Rows: rows}
}
