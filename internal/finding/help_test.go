package finding

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryWarningHasACure: a warning says what was found, what to do about it, and which section of the docs tells more. That
// section is there.
func TestEveryWarningHasACure(t *testing.T) {
	for _, f := range all() {
		if f.Warning() && (f.Cure() == "" || f.Help() == "") {
			t.Errorf("%s: cure %q, help %q", f.Kind, f.Cure(), f.Help())
		}
		if f.Cure() != "" && (!strings.HasSuffix(f.Sentence(), f.Cure()) || !strings.HasPrefix(f.Sentence(), strings.TrimSuffix(f.Brief(), "."))) {
			t.Errorf("%s: %q does not begin with %q and end with %q", f.Kind, f.Sentence(), f.Brief(), f.Cure())
		}
	}
	for _, h := range helps[1:] {
		page, err := os.ReadFile("../../" + h.page)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(strings.Split(string(page), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "#") && strings.TrimLeft(line, "# ") == h.section
		}) {
			t.Errorf("%s has no section %q", h.page, h.section)
		}
	}
}

// TestFirst: a failed run comes first, then causes before their consequences, then what only pages show; one finding of a section.
func TestFirst(t *testing.T) {
	const step = "method.mcmc.move.hmc.step"
	var found []Finding
	for _, k := range []Kind{
		ChainsUnsure{}, SingleAncestor{3, 3}, EvidenceScatters{LogEvidence: -20, SD: 7, Effective: 1.2, Islands: 8}, Underconfident{}, EnsembleBetter{}, ChainsApart{},
		UnevenWeights{80, 3}, AsIs{}, ChainStuck{Step: step}, ChainsStill{Step: step}, UnseenClasses{},
		SamplingFailed{}, ChainsUntold{3, "they are equal", false},
	} {
		found = append(found, Of(k))
	}
	const want = "sampling-failed unseen-classes uneven-weights chains-apart ensemble-better underconfident evidence-scatters"
	var got []string
	for _, f := range First(found, 100) {
		got = append(got, f.Kind)
	}
	if said := strings.Join(got, " "); said != want {
		t.Errorf("%s\nwant %s", said, want)
	}
	if two := First(found[:11], 2); len(two) != 2 || two[0].Kind != "unseen-classes" || !Is(two[1], ChainStuck{}) {
		t.Errorf("%v, want two, and the first of the chains", two)
	}
	if got, want := More(found[:6]), "what to do about it: docs/choosing.md, “Chains that do not mix”, “Something simpler is better”, “Over- and under-confidence”"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := More([]Finding{Of(AsIs{}), Of(SingleAncestor{1, 1})}); got != "" {
		t.Errorf("%q, where a terminal shows no warning", got)
	}
}
