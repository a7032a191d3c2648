package starling

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
)

// TestChainsLost: a run of which one chain in four is lost is a run of three, whoever reads it, and says so. Its folder keeps the chain.
func TestChainsLost(t *testing.T) {
	result, dir := kept(t, lostOf(t, "40", "0.0045"))
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Evaluate(t.Context(), On{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := finding.IslandsLost{Unit: "chain", Islands: finding.Numbered([]int{1}), Of: 4, Step: "method.mcmc.move.sghmc.step"}
	for what, m := range map[string]*eval.Metrics{"fitted": result.Metrics, "evaluated": again.Metrics} {
		if got := finding.All[finding.IslandsLost](m.Findings); len(got) != 1 || got[0] != want {
			t.Errorf("%s: found %+v", what, got)
		}
		if m.Chains.Chains != 3 || m.Chains.States != 2 {
			t.Errorf("%s: %d chains of %d states", what, m.Chains.Chains, m.Chains.States)
		}
	}
	if method.Islands(run.Trace) != 3 || run.Posterior.Size() != 6 || !slices.Equal(run.Posterior.Theta, result.Posterior.Theta) {
		t.Errorf("read back: %d chains, %d networks", method.Islands(run.Trace), run.Posterior.Size())
	}
	if text, err := os.ReadFile(filepath.Join(dir, "trace.jsonl")); err != nil || !strings.Contains(string(text), `"lost":"chain 1, iteration 35: SGHMC diverged in epoch 35`) {
		t.Error("the trace in the folder does not say what became of the chain")
	}
}

// TestTooManyChainsLost: where three of four are, the run ends with an error, and its folder is a run that is not done. To go on with it
// gives the same error.
func TestTooManyChainsLost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for range 2 {
		_, err := resume(t.Context(), dir, lostOf(t, "24", "0.0053"), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "3 of the 4 chains were lost, and at least half must remain: take a smaller step (method.mcmc.move.sghmc.step). The first of them: chain 0, iteration 21") {
			t.Fatal(err)
		}
		if m := readManifest(t, dir); m.Status != runs.Failed {
			t.Errorf("the run is %s", m.Status)
		}
		if v, err := VerifyRun(dir); err != nil || v.Count(runs.OK) != len(v.Files) {
			t.Errorf("%+v, %v", v, err)
		}
	}
}
