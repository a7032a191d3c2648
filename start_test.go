package starling

import (
	"os"
	"strings"
	"testing"
)

// Islands that begin at point estimates have no evidence: none is shown, and none is used.
func TestStartsWithoutEvidence(t *testing.T) {
	for _, start := range []string{"map", "sgd"} {
		method := "method.smc={particles: 3, islands: 2, start: " + start + ", path: {constant: {iterations: 3, batch: 9}}, move: {leapfrog: {step: 0.05}}}"
		r := fit(t, trees(t, method, "map={restarts: 6, epochs: 2}"), Options{Threads: 2})
		if r.Metrics.LogEvidence != nil || r.Metrics.Combined != nil || r.Trace[2].LogEvidence != 0 {
			t.Errorf("start %s: evidence %v, combined %v, in the trace %v", start, r.Metrics.LogEvidence, r.Metrics.Combined, r.Trace[2].LogEvidence)
		}
	}
}

// Every particle of start sgd is the end of a restart of its own: fewer restarts are refused before any work.
func TestStartNeedsRestarts(t *testing.T) {
	const method = "method.smc={particles: 3, islands: 2, start: sgd, path: {constant: {iterations: 3, batch: 9}}, move: {leapfrog: {step: 0.05}}}"
	text, err := os.ReadFile("testdata/trees.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseSpec("trees.yaml", text, method, "map.restarts=5"); err == nil || !strings.Contains(err.Error(), "map.restarts") {
		t.Errorf("5 restarts for 6 particles: %v", err)
	}
	if _, err := ParseSpec("trees.yaml", text, method, "map.restarts=6"); err != nil {
		t.Error(err)
	}
}
