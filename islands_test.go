package starling

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
)

// TestEvaluateIslands: some islands of a run score as a run of these alone, bit for bit, with its evidence, its weights and its threshold of the
// energy. What is wrong with islands is told with the run and the numbers that it has.
func TestEvaluateIslands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.csv")
	save(t, file, read(t, "testdata", "trees.csv"))
	scores := func(dir string, islands []int) []byte {
		t.Helper()
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		a, err := run.Evaluate(t.Context(), On{Islands: islands, OOD: []string{file}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := *a.Metrics
		m.Cost, m.Findings, m.Predicted = nil, nil, nil // of all islands
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, combine := range []string{"equal", "evidence"} {
		const always = "method.smc.resample={scheme: multinomial, when: always}" // so that the particles of an island have equal weights, without rounding
		_, all := kept(t, trees(t, "method.smc.combine="+combine, always))
		_, two := kept(t, trees(t, "method.smc.combine="+combine, always, "method.smc.islands=2"))
		some, want := scores(all, []int{0, 1}), scores(two, nil)
		if !bytes.Equal(some, want) {
			t.Errorf("%s: islands 0 and 1 score\n%s\na run of two islands\n%s", combine, some, want)
		}
		if bytes.Equal(some, scores(all, []int{0, 2})) || bytes.Equal(some, scores(all, nil)) {
			t.Errorf("%s: other islands score as much", combine)
		}
		var m eval.Metrics
		if err := json.Unmarshal(some, &m); err != nil || m.EffectiveIslands == nil || m.LogEvidence == nil || m.Groups[len(m.Groups)-1].ByEnergy == nil {
			t.Errorf("%s: no evidence of the islands, or no threshold: %v, %s", combine, err, some)
		}
		run, err := OpenRun(all)
		if err != nil {
			t.Fatal(err)
		}
		for want, islands := range map[string][]int{"island 3": {0, 3}, "island -1": {-1}, "island 1": {1, 1}} {
			_, err := run.Evaluate(t.Context(), On{Islands: islands}, Options{})
			if !errors.As(err, new(*ConfigError)) || !strings.Contains(err.Error(), want+": the posterior of the run in "+all+" has 3 islands: want numbers from 0 to 2, each once") {
				t.Errorf("islands %v: %v", islands, err)
			}
		}
	}
}
