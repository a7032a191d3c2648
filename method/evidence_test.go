package method

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// TestEvidenceOfRecordedRuns judges weights by evidence by the last lines of the traces of real runs, of testdata/trees.csv without a map block and an
// anchor, 8 islands by tempering: right, of 200 particles and layers [{dense: 3}]; between, of 10 and [{dense: 6}, tanh, {dense: 3}];
// noise, of 6 and [{dense: 12}, tanh, {dense: 3}] with the prior N(0, 4).
func TestEvidenceOfRecordedRuns(t *testing.T) {
	for name, c := range map[string]struct {
		particles int
		combine   bnn.Combination
		anchored  bool
		want      string // a part of the sentence; empty: it says nothing of weights
		cure      string
	}{
		"right":   {200, bnn.Equal{}, false, "weights by evidence are right: they leave 7.9 of 8 islands effective", ""},
		"between": {10, bnn.Equal{}, false, "", ""},
		"noise": {6, bnn.Equal{}, false, "weights by evidence would be mostly noise, and leave 3.5 of 8 islands effective: so islands are weighted equally",
			"about 13 particles an island instead of 6 (there the scatter should fall to 1), more moves in an iteration or waste_free"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "evidence", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := runs.ReadTrace(text)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := ReadTrace(lines)
		if err != nil {
			t.Fatal(err)
		}
		var logZ []float64
		for _, l := range trace {
			logZ = append(logZ, float64(l.LogZ))
		}
		s := SMC{Islands: 8, Particles: c.particles, Path: smc.Tempering{}, Move: mcmc.HMC{}, Combine: c.combine}.Sampling()
		judged := s.evidenceOf(trace, logZ)[0]
		if !strings.Contains(judged.Sentence(), c.want) || c.want == "" && strings.Contains(judged.Sentence(), "weights by evidence") {
			t.Errorf("%s: %s", name, judged.Sentence())
		}
		if !strings.Contains(judged.Cure(), c.cure) {
			t.Errorf("%s: %s", name, judged.Cure())
		}
		if name != "noise" {
			continue
		}
		// The same islands, weighted by evidence all the same, under an anchored prior, and waste-free.
		s.Combine, s.anchored, s.WasteFree = bnn.Evidence{}, true, 2
		f := finding.All[finding.EvidenceScatters](s.evidenceOf(trace, logZ))[0]
		if !f.Used || !f.Anchored || f.WasteFree || !strings.HasPrefix(f.Instead(), "the islands' weights by evidence are mostly noise") {
			t.Errorf("%+v: %s", f, f.Instead())
		}
	}
}
