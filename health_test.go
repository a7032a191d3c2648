package starling

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// The metrics have an evidence where the config alone says that it is the model's. Else the trace has it. A note says what it
// is of under every schedule.
func TestEvidenceOfAPart(t *testing.T) {
	const whole, all, batch, part = "the model's evidence: the last target", "the model's evidence: every target", "the last batch's evidence", "has not taken in"
	for path, c := range map[string]struct {
		of string
		in bool // the metrics
	}{
		"constant: {iterations: 3, batch: 9}":                     {batch, false},
		"sda: {iterations: 3, batch: 9}":                          {part, false},
		"ctr: {iterations: 5, batch: 9}":                          {part, false}, // nine tenths of 5 iterations are all of them
		"sda: {iterations: 60, batch: 50, grow: 50}":              {whole, false},
		"sda: {iterations: 60, batch: 50, grow: 50, scale: true}": {whole, false},
		"linear: {iterations: 9, batch: 500}":                     {whole, false},
		"ctr: {iterations: 10, batch: 9}":                         {whole, true},
		"full: {iterations: 2}":                                   {all, true},
	} {
		in := c.in
		method := func(combine string) string {
			return "method.smc={particles: 6, islands: 2, combine: " + combine + ", path: {" + path + "}, move: {leapfrog: {step: 0.02}}}"
		}
		r := fit(t, trees(t, method("equal")), Options{Threads: 2})
		notes := strings.Join(r.Notes, "\n")
		for _, of := range []string{whole, all, batch, part} {
			if strings.Contains(notes, of) != (of == c.of) {
				t.Errorf("%s: notes %q", path, r.Notes)
			}
		}
		if strings.Contains(notes, "the log evidence in the trace ") == in {
			t.Errorf("%s: notes %q", path, r.Notes)
		}
		if m := r.Metrics; (m.LogEvidence != nil) != in || (m.LogEvidenceSD != nil) != in || (m.Combined != nil) != in {
			t.Errorf("%s: log evidence %v, sd %v, combined %v", path, m.LogEvidence, m.LogEvidenceSD, m.Combined)
		}
		if r.Trace[len(r.Trace)-1].LogEvidence == 0 {
			t.Errorf("%s: no log evidence in the trace", path)
		}
		text, err := os.ReadFile("testdata/trees.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSpec("trees.yaml", text, method("evidence")); (err == nil) != in {
			t.Errorf("%s: islands weighed by evidence: %v", path, err)
		}
	}
}

// The last targets of all islands count: with all examples, and all of them in full.
func TestEndsAtPosterior(t *testing.T) {
	end := func(examples int, power float64) TraceLine {
		return TraceLine{Progress: 1, Examples: examples, Temperature: power}
	}
	way := TraceLine{Progress: .5, Examples: 10, Temperature: .1}
	for _, c := range []struct {
		what  string
		trace []TraceLine
		want  bool
	}{
		{"all of them", []TraceLine{way, end(60, 1), way, end(60, 1)}, true},
		{"a block with a tenth of its power", []TraceLine{way, end(60, .1)}, false},
		{"some not yet in", []TraceLine{way, end(50, 1)}, false},
		{"some not yet in on one island", []TraceLine{way, end(60, 1), way, end(50, 1)}, false},
		{"scaled", []TraceLine{end(10, 6)}, false},
	} {
		if got := endsAtPosterior(c.trace, 60); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// What tells an optimiser from a sampler is the population, however small, in most iterations: two particles of nearly equal
// weight are well, ten carry a variance of log 10 = 2.30, and a straggler leaves the others what they are. Resampling
// merges lines of healthy particles, too: one line alone has a note of its own.
func TestHealthOfFew(t *testing.T) {
	const well, optimiser, line = "", "as an optimiser", "descend from one start"
	for _, c := range []struct {
		particles, ancestors int
		ess, variance        float64
		want                 string
	}{
		{2, 2, 1.9, 0.05, well}, {2, 2, 1.36, 0.7, well}, {2, 2, 1, 0, optimiser}, {2, 2, 1, 9, optimiser},
		{10, 4, 5, 0.7, well}, {10, 4, 4.9, 2.3, well}, {10, 4, 4.9, 2.31, optimiser}, {10, 4, 9, 90, well}, {10, 4, 1.5, 0.8, optimiser},
		{10, 1, 7.5, 0.37, line}, {10, 1, 1.5, 0.8, optimiser}, {2, 1, 1.9, 0.05, line},
		{1000, 400, 12, 6.9, well}, {1000, 400, 12, 6.91, optimiser},
	} {
		r := &run{}
		r.Data = &data.Problem{Train: &data.Set{}}
		r.Spec.Method.SMC = &SMC{Particles: c.particles, Path: Path{Full: &Schedule{}}}
		last := TraceLine{Progress: .5, ESS: c.ess, LogWeightVar: uq.Number(c.variance), Ancestors: c.ancestors}
		healthy := TraceLine{Progress: .5, ESS: float64(c.particles), Ancestors: c.particles}
		for n, want := range map[int]string{0: c.want, 1: c.want, 3: well} {
			r.Trace = append([]TraceLine{last, last}, slices.Repeat([]TraceLine{healthy}, n)...)
			said := strings.Join(r.health(), "")
			if strings.Contains(said, optimiser) != (want == optimiser) || strings.Contains(said, line) != (want == line) {
				t.Errorf("%+v, then %d iterations that are well: %q", c, n, said)
			}
			optimised, merged := r.Spec.Optimised(r.Trace)
			if optimised != (want == optimiser) || (optimised || merged) != (want != well) ||
				strings.Contains(said, "the log evidence is no estimate") != (want == optimiser) || strings.Contains(said, "rests on one draw") != (want == line) {
				t.Errorf("%+v, then %d iterations that are well: evidence: %q", c, n, said)
			}
		}
	}
}

// Iterations of tempering to the first batch tell nothing of the path, well or not; nor does no iteration at all.
func TestTemperingIsNotJudged(t *testing.T) {
	spec := Spec{Method: Method{SMC: &SMC{Particles: 10, Path: Path{Full: &Schedule{}}}}}
	well, collapsed := TraceLine{ESS: 10, Ancestors: 10}, TraceLine{ESS: 1, Ancestors: 1}
	for name, c := range map[string]struct {
		tempering, path TraceLine
		of              int
		want            bool
	}{
		"well before it collapses": {well, collapsed, 2, true}, "collapsed, then well": {collapsed, well, 2, false},
		"stopped before the path": {collapsed, well, 0, false},
	} {
		c.path.Progress = .5
		trace := append(slices.Repeat([]TraceLine{c.tempering}, 5), slices.Repeat([]TraceLine{c.path}, c.of)...)
		if optimised, merged := spec.Optimised(trace); optimised != c.want || merged != c.want {
			t.Errorf("%s: optimised %v, merged %v", name, optimised, merged)
		}
	}
	if optimised, merged := spec.Optimised(nil); optimised || merged {
		t.Error("a run of no iterations behaved as an optimiser")
	}
}

// Iterations are counted over all islands, and particles on each of them. Of an even number the median is between two.
func TestHealthOfIslands(t *testing.T) {
	r := &run{}
	r.Data = &data.Problem{Train: &data.Set{}}
	r.Spec.Method.SMC = &SMC{Particles: 10, Islands: 2, Path: Path{Full: &Schedule{}}}
	r.Trace = []TraceLine{{ESS: 1}, {ESS: 1.4}, {Island: 1, ESS: 1.8}, {Island: 1, ESS: 10}}
	for i := range r.Trace {
		r.Trace[i].Progress = .5
	}
	said := strings.Join(r.health(), "")
	for _, want := range []string{"best of 10 noisy descents on each island;", "Of 4 iterations of 2 islands together 0 had", "of at most 1.6 of 10"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
}

// Every reason why there is no evidence is told.
func TestNoEvidence(t *testing.T) {
	for _, c := range []struct {
		start, weight string
		want          []string
	}{
		{"prior", "literal", []string{"weight literal"}},
		{"map", "momentum", []string{"no evidence: start map"}},
		{"sgd", "literal", []string{"no evidence: start sgd", "weight literal"}},
	} {
		r := &run{}
		r.Data = &data.Problem{Train: &data.Set{}}
		r.Spec.Method.SMC = &SMC{Particles: 9, Start: c.start, Weight: c.weight, Path: Path{Constant: &Schedule{}}}
		r.Trace = []TraceLine{{ESS: 1, Ancestors: 1, Progress: 1}}
		said := r.health()
		if len(said) != 1+len(c.want) || strings.Contains(said[0], "evidence") {
			t.Errorf("start %s, weight %s: %q", c.start, c.weight, said)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(said[1+i], want) {
				t.Errorf("start %s, weight %s: %q, want %q", c.start, c.weight, said[1+i], want)
			}
		}
	}
}
