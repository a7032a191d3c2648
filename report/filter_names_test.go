package report

import (
	"testing"

	"github.com/starling-smc/starling/internal/chart"
)

// TestNearestAbove: of two names that are near each other, the lower one stands below its place; a name by itself stands above.
func TestNearestAbove(t *testing.T) {
	names := []chart.Label{{X: 0, Y: 0}, {X: 1, Y: 2}, {X: 50, Y: -9}, {X: 51, Y: -12}}
	for i, want := range []bool{true, false, false, true} {
		if got := nearestAbove(names, i); got != want {
			t.Errorf("name %d stands below its place: %v", i, got)
		}
	}
	if nearestAbove(names[:1], 0) {
		t.Error("a name by itself stands below its place")
	}
}
