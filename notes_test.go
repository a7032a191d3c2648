package starling

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// Notes leave out what only pages show, which so many healthy runs have that nobody would read the others.
func TestNotesLeaveOutWhatPagesShow(t *testing.T) {
	got := notes([]Finding{finding.SingleAncestor(1, 1), finding.AsIs(), finding.ChainsUntold(8, "they are few", true)})
	if want := []string{finding.AsIs().Words()}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
