package smc

import "github.com/starling-smc/starling/internal/config"

// Automated is the rule of a batch that grows, in multiples of κ examples, so that it holds all examples after nine tenths of
// the iterations (data-annealing-smc, eq. 18).
type Automated struct {
	Batch int `yaml:"batch"` // C, examples of the first batch; 0: 500
	Grow  int `yaml:"grow"`  // κ, examples by which a batch grows; 0: C
}

func (Automated) String() string { return "data annealing (automated)" }

// Defaults sets C and κ.
func (a *Automated) Defaults() { a.Batch, a.Grow = BatchSizes(a.Batch, a.Grow) }

// Check notes impossible settings.
func (a Automated) Check(f *config.Faults) {
	checkSize(f, "batch", a.Batch)
	checkSize(f, "grow", a.Grow)
}

// Rows returns the first C + ⌊(N−C)/R⌋·k examples, rounded to the nearest multiple of κ.
func (a Automated) Rows(k, iterations, n int) Rows {
	if refines(k, iterations) {
		return Rows{0, n}
	}
	first, grow := BatchSizes(a.Batch, a.Grow)
	first, grow = min(first, n), min(grow, 4*n) // 4n gives the same rounding, and nothing overflows
	size := first + 10*(n-first)/(9*iterations)*k
	return cumulative((2*size+grow)/(2*grow)*grow, first, n)
}

// Evidence is the model's if there is a last tenth.
func (Automated) Evidence(iterations int) Evidence { return refined(iterations) }
