package uq

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// Draws of a calibrated network's errors are different ones, by streams of their own: the errors of 200 draws of 60 answers are hardly
// ever the same.
func TestDrawsByChanceDiffer(t *testing.T) {
	var confidence []float64
	for i := range 60 {
		confidence = append(confidence, 0.5+float64(i%37)/80)
	}
	var errors []float64
	keys := rng.Opened(func() { errors = ECEByChance(confidence, 10, 200) })
	slices.SortFunc(keys, func(a, b rng.Key) int { return a.Iteration - b.Iteration })
	if n := len(slices.Compact(keys)); n != 200 {
		t.Errorf("%d streams for 200 draws", n)
	}
	if n := len(slices.Compact(errors)); n < 100 {
		t.Errorf("200 draws have %d different errors", n)
	}
}
