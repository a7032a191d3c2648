package smc

import "github.com/starling-smc/starling/internal/config"

// Linear is the rule of a batch that grows by κ examples in every iteration and holds all examples in the last tenth
// (data-annealing-smc, eq. 17).
type Linear struct {
	Batch int `yaml:"batch"` // C, examples of the first batch; 0: 500
	Grow  int `yaml:"grow"`  // κ, examples by which a batch grows; 0: C
}

func (Linear) String() string { return "data annealing (linear)" }

// Defaults sets C and κ.
func (l *Linear) Defaults() { l.Batch, l.Grow = BatchSizes(l.Batch, l.Grow) }

// Check notes impossible settings.
func (l Linear) Check(f *config.Faults) {
	checkSize(f, "batch", l.Batch)
	checkSize(f, "grow", l.Grow)
}

// Rows returns the first C + κ·k examples.
func (l Linear) Rows(k, iterations, n int) Rows {
	if refines(k, iterations) {
		return Rows{0, n}
	}
	first, grow := BatchSizes(l.Batch, l.Grow)
	first, grow = min(first, n), min(grow, n) // a bound of n changes nothing, and nothing overflows
	return cumulative(first+grow*k, first, n)
}

// Evidence is the model's if there is a last tenth.
func (Linear) Evidence(iterations int) Evidence { return refined(iterations) }
