package smc

// Full is the rule of all examples in every iteration (data-annealing-smc, eq. 15).
type Full struct{}

func (Full) String() string { return "SMC on full batches" }

// Rows returns all examples.
func (Full) Rows(int, int, int) Rows { return Rows{} }

// PerEpoch is 1.
func (Full) PerEpoch(int) int { return 1 }

// Evidence is the model's: every target is the posterior.
func (Full) Evidence(int) Evidence { return Evidence{Every: true, Scaled: true} }
