package smc

import "github.com/starling-smc/starling/internal/config"

// Constant is the rule of a fresh batch of C examples in every iteration (data-annealing-smc, eq. 14).
type Constant struct {
	Batch int `yaml:"batch"` // C; 0: 500
}

func (Constant) String() string { return "SMC on constant batches" }

// Defaults sets C.
func (c *Constant) Defaults() { c.Batch, _ = BatchSizes(c.Batch, 0) }

// Check notes impossible settings.
func (c Constant) Check(f *config.Faults) { checkSize(f, "batch", c.Batch) }

// Rows returns a fresh batch.
func (c Constant) Rows(k, _, n int) Rows {
	first, _ := BatchSizes(c.Batch, 0)
	return fresh(k, first, n)
}

// PerEpoch is ⌈n/C⌉.
func (c Constant) PerEpoch(n int) int {
	first, _ := BatchSizes(c.Batch, 0)
	first = min(max(1, first), n)
	return (n + first - 1) / first
}

// Evidence is none: that of the last batch is not the model's.
func (c Constant) Evidence(int) Evidence {
	first, _ := BatchSizes(c.Batch, 0)
	return Evidence{Batch: first, Scaled: true, Fresh: true, Unsure: throughFresh}
}
