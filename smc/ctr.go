package smc

import "github.com/starling-smc/starling/internal/config"

// ConstantToRefine (CTR) is the rule of fresh batches of C examples, and of all examples in the last tenth of the iterations
// (data-annealing-smc, eq. 16).
type ConstantToRefine struct {
	Batch int `yaml:"batch"` // C; 0: 500
}

func (ConstantToRefine) String() string { return "data annealing (constant to refine)" }

// Defaults sets C.
func (c *ConstantToRefine) Defaults() { c.Batch, _ = BatchSizes(c.Batch, 0) }

// Check notes impossible settings.
func (c ConstantToRefine) Check(f *config.Faults) { checkSize(f, "batch", c.Batch) }

// Rows returns a fresh batch, or all examples.
func (c ConstantToRefine) Rows(k, iterations, n int) Rows {
	if refines(k, iterations) {
		return Rows{}
	}
	first, _ := BatchSizes(c.Batch, 0)
	return fresh(k, first, n)
}

// Evidence is none, although all examples are in the last target.
func (ConstantToRefine) Evidence(int) Evidence {
	return Evidence{Scaled: true, Fresh: true, Unsure: throughFresh}
}
