package starling

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// Moves that are refused, and moves that are accepted and lead nowhere, give a log evidence as any others do. The run says
// that it is not to be trusted: in its notes, in the manifest and in metrics.json, also where it is evaluated again.
func TestMovesThatDoNotMove(t *testing.T) {
	const islands, long = "method.smc={islands: 2, particles: 20, move: ", "method={mcmc: {chains: 2, start: prior, epochs: 40, keep: last, move: "
	for set, want := range map[string][]string{
		islands + "{hmc: {steps: 2, step: 1e6}}}":                                        {"sampling-failed", "smaller step (method.smc.move.hmc.step)"},
		islands + "{hmc: {steps: 2, step: 1e6, jitter: 0.5, mutations: 10}}}":            {"sampling-failed", "smaller step (method.smc.move.hmc.step)"},
		islands + "{pcn: {step: 1e-300}}}":                                               {"sampling-failed", "larger step (method.smc.move.pcn.step)"},
		islands + "{pcn: {step: 1e-4}}}":                                                 {"sampling-failed", "larger step (method.smc.move.pcn.step)"},
		islands + "{pcn: {step: 1e-300, mutations: 10}}}":                                {"islands-still", "larger step (method.smc.move.pcn.step)"},
		islands + "{pcn: {step: 1e-4, mutations: 10}}}":                                  {"islands-still", "larger step (method.smc.move.pcn.step)"},
		islands + "{pcn: {step: 1e-6}}, start: tempered, path: {full: {iterations: 5}}}": {"islands-still", "larger step (method.smc.move.pcn.step)"},
		islands + "{leapfrog: {step: 1e-9}}, path: {full: {iterations: 5}}}":             {"islands-still", "larger step (method.smc.move.leapfrog.step)"},
		islands + "{hmc: {steps: 2}}}":                                                   nil,
		islands + "{pcn: {mutations: 40}}}":                                              nil,
		long + "{pcn: {step: 1e-300}}}}":                                                 {"chains-still", "failed, as chains 0 and 1 stood still. Take a larger step (method.mcmc.move.pcn.step)"},
		long + "{hmc: {steps: 2, step: 1e6}}}}":                                          {"chain-stuck", "failed, as chains 0 and 1 are stuck. Take a smaller step (method.mcmc.move.hmc.step)"},
		long + "{hmc: {steps: 2}}}}":                                                     nil,
	} {
		r, dir := kept(t, trees(t, "prior.anchor=null", set))
		at := slices.IndexFunc(r.Findings, unmoved)
		if want == nil {
			if at >= 0 {
				t.Errorf("%s: found %q", set, r.Findings[at].Words())
			}
			continue
		}
		if at < 0 || r.Findings[at].Kind != want[0] || !strings.Contains(strings.Join(r.Notes(), "\n"), want[1]) {
			t.Errorf("%s: notes %q", set, r.Notes())
			continue
		}
		if trusted := finding.Beside(r.Findings) == ""; trusted != (r.Metrics.LogEvidence == nil) {
			t.Errorf("%s: a log evidence of %v without a word", set, r.Metrics.LogEvidence)
		}
		var metrics struct{ Findings []Finding }
		if err := json.Unmarshal(read(t, dir, metricsFile), &metrics); err != nil || !reflect.DeepEqual(metrics.Findings, r.Findings) {
			t.Errorf("%s: metrics.json has %v, %v", set, metrics.Findings, err)
		}
		run, err := OpenRun(dir)
		if err != nil || !reflect.DeepEqual(run.Findings, r.Findings) {
			t.Fatalf("%s: the manifest has %v, %v", set, run.Findings, err)
		}
		again, err := run.Evaluate(t.Context(), On{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := again.Metrics.WriteJSON(&b); err != nil || !bytes.Equal(b.Bytes(), read(t, dir, metricsFile)) {
			t.Errorf("%s: evaluated again, the metrics are %s, %v", set, b.Bytes(), err)
		}
	}
}

// unmoved reports whether a finding says that moves did not move.
func unmoved(f Finding) bool {
	return finding.Is(f, finding.IslandsStuck{}, finding.IslandsStill{}, finding.MovesStuck{}, finding.SamplingFailed{}, finding.ChainStuck{}, finding.ChainsStill{})
}

// On real data: presets move, and the same presets with steps that are far off do not. Without a word these steps would give
// log evidences of about −650, where −391.5 is known.
func TestPresetsMove(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" || testing.Short() {
		t.Skip("set STARLING_DATA, and not -short: skips moves on the Pima data")
	}
	for _, c := range []struct{ preset, set, want string }{
		{"pima", "name=pima", ""},
		{"concrete", "map.epochs=60", ""},
		{"pima", "method.smc.move.hmc.step=1e6", "sampling-failed"},
		{"pima", "method.smc.move={hmc: {step: 1e6, jitter: 0.5}}", "sampling-failed"},
		{"pima", "method.smc.move={pcn: {step: 1e-300, mutations: 10}}", "islands-still"},
		{"pima", "method.smc.move.hmc.step=0.001", "islands-still"},
	} {
		r := fitted(t, preset(t, c.preset, c.set), Options{DataDir: dir})
		got := ""
		if at := slices.IndexFunc(r.Findings, unmoved); at >= 0 {
			got = r.Findings[at].Kind
		}
		if got != c.want {
			t.Errorf("%s with %s: found %q, want %q", c.preset, c.set, got, c.want)
		}
	}
}
