package starling

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// Notes leave out what only pages show, which so many healthy runs have that nobody would read the others.
func TestNotesLeaveOutWhatPagesShow(t *testing.T) {
	got := notes([]Finding{finding.Of(finding.SingleAncestor{}), finding.Of(finding.AsIs{}), finding.Of(finding.ChainsUntold{Why: "they are few"})})
	if want := []string{finding.Of(finding.AsIs{}).Words()}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
