package starling

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The metrics have an evidence where the config alone says that it is the model's. Else the trace has it. A note says what it
// is of under every schedule.
func TestEvidenceOfAPart(t *testing.T) {
	const whole, all, none, part = "the model's evidence, as the last target", "the model's evidence, as every target", "No evidence: path", "do not count in full yet"
	for path, c := range map[string]struct {
		of string
		in bool // the metrics
	}{
		"constant: {iterations: 3, batch: 9}":                     {none, false},
		"sda: {iterations: 3, batch: 9}":                          {part, false},
		"automated: {iterations: 5, batch: 9}":                    {part, false}, // nine tenths of 5 iterations are all of them
		"sda: {iterations: 60, batch: 50, grow: 50}":              {whole, false},
		"sda: {iterations: 60, batch: 50, grow: 50, scale: true}": {whole, false},
		"linear: {iterations: 9, batch: 500}":                     {whole, false},
		"ctr: {iterations: 5, batch: 9}":                          {none, false},
		"ctr: {iterations: 10, batch: 9}":                         {none, false},
		"automated: {iterations: 10, batch: 9}":                   {whole, true},
		"full: {iterations: 2}":                                   {all, true},
	} {
		in := c.in
		method := func(combine string) string {
			return "method.smc={particles: 6, islands: 2, combine: " + combine + ", path: {" + path + "}, move: {leapfrog: {step: 0.02}}}"
		}
		r := fitted(t, trees(t, method("equal")), Options{Threads: 2})
		notes := ""
		for _, f := range r.Findings {
			notes += f.Sentence() + "\n"
		}
		for _, of := range []string{whole, all, none, part} {
			if strings.Contains(notes, of) != (of == c.of) {
				t.Errorf("%s: notes %q", path, notes)
			}
		}
		if strings.Contains(notes, "The log evidence in the trace ") == (in || c.of == none) {
			t.Errorf("%s: notes %q", path, r.Notes())
		}
		if m := r.Metrics; (m.LogEvidence != nil) != in || (m.LogEvidenceSD != nil) != in || (m.Combined != nil) != in {
			t.Errorf("%s: log evidence %v, sd %v, combined %v", path, m.LogEvidence, m.LogEvidenceSD, m.Combined)
		}
		if z := r.Trace[len(r.Trace)-1].LogZ; (z == 0) != (c.of == none) {
			t.Errorf("%s: log evidence %v in the trace", path, z)
		}
		text, err := os.ReadFile("testdata/trees.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSpec("trees.yaml", text, method("evidence")); (err == nil) != in {
			t.Errorf("%s: islands weighted by evidence: %v", path, err)
		}
	}
}

// Islands that begin at point estimates have no evidence: none is shown, and none is used.
func TestStartsWithoutEvidence(t *testing.T) {
	for _, start := range []string{"map", "sgd"} {
		method := "method.smc={particles: 3, islands: 2, start: " + start + ", path: {constant: {iterations: 3, batch: 9}}, move: {leapfrog: {step: 0.05}}}"
		r := fitted(t, trees(t, method, "map={restarts: 6, epochs: 2}"), Options{Threads: 2})
		if r.Metrics.LogEvidence != nil || r.Metrics.Combined != nil || r.Trace[2].LogZ != 0 {
			t.Errorf("start %s: evidence %v, combined %v, in the trace %v", start, r.Metrics.LogEvidence, r.Metrics.Combined, r.Trace[2].LogZ)
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

// Where layers are learned while the particles move, the model changes, and no log evidence is anybody's: the posterior has 0, as for
// chains, the metrics and the trace have none, and a note says why. Where they stay as they are, the model has one.
func TestLearnedHasNoEvidence(t *testing.T) {
	for name, want := range map[string]string{
		"partly-smc": "the layers that are not random change", "partly-metropolis": "the layers that are not random change",
		"partly-full": "the layers that are not random change", "partly-svgd": "SVGD gives its particles no weights", "partly-sghmc": "", "partly-hmc": "",
	} {
		r := fitted(t, partlyRandom(t)[name], Options{Threads: 2})
		if s := r.Spec.Method.Sampling(); s.Comparable {
			t.Errorf("%s: islands can be weighted by evidence", name)
		}
		if r.Metrics.LogEvidence != nil || r.Metrics.Combined != nil {
			t.Errorf("%s: evidence %v, combined %v", name, r.Metrics.LogEvidence, r.Metrics.Combined)
		}
		for _, l := range r.Posterior.LogEvidence {
			if l != 0 {
				t.Errorf("%s: the posterior has the log evidence %v", name, l)
			}
		}
		for _, l := range r.Trace {
			if l.LogZ != 0 {
				t.Fatalf("%s: the trace has a log evidence in iteration %d", name, l.K)
			}
		}
		if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, want) || strings.Contains(notes, "no evidence") != (want != "") {
			t.Errorf("%s: notes %q, want %q", name, r.Notes(), want)
		}
	}
	r := fitted(t, partlyRandom(t)["partly-tempering"], Options{Threads: 2})
	if r.Metrics.LogEvidence == nil || r.Metrics.Combined == nil || r.Posterior.LogEvidence[0] == 0 {
		t.Errorf("nothing is learned: evidence %v, combined %v, in the posterior %v", r.Metrics.LogEvidence, r.Metrics.Combined, r.Posterior.LogEvidence)
	}
	_, init := fitInit(t, partlyRandom(t)["partly-tempering"])
	if _, phi := r.Net.Split(init); !slices.EqualFunc(r.Posterior.Shared[:len(phi)], phi, func(a float32, b float64) bool { return a == float32(b) }) {
		t.Error("the layers that are not random are not those of model.init")
	}
}
