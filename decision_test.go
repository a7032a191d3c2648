package starling

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/uq"
)

// TestDecisionOfValidation: the threshold that a run keeps is that of its validation examples, in decision.json, which the manifest
// lists; a run without such examples keeps none.
func TestDecisionOfValidation(t *testing.T) {
	result, dir := kept(t, trees(t))
	want, _, err := eval.Decide(t.Context(), &result.Ensembles, result.Data.Lessons(), nil, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.Decision == nil || !reflect.DeepEqual(result.Decision, want) {
		t.Fatalf("decision %+v, that of the validation examples is %+v", result.Decision, want)
	}
	if other, _, err := eval.Decide(t.Context(), &result.Ensembles, (&data.Problem{Validate: result.Data.Test}).Lessons(), nil, nil, 0, nil); err != nil || other.Threshold == want.Threshold {
		t.Fatalf("test and validation examples have the same threshold %v: the test says nothing (%v)", want.Threshold, err)
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, want); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, decisionFile); !bytes.Equal(got, text.Bytes()) {
		t.Errorf("%s: %s", decisionFile, got)
	}
	if readManifest(t, dir).Files[decisionFile] == "" || !slices.Contains(FitRuns.Files, decisionFile) {
		t.Errorf("the manifest does not list %s", decisionFile)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Decision == nil || !reflect.DeepEqual(run.Decision, want) || run.Predictor(Options{}).Decision != run.Decision {
		t.Errorf("read back: %+v", run.Decision)
	}
}

// TestDecisionOfMembers: of some members, other inputs are judged by the threshold of these members for the run's validation examples,
// also where another set is evaluated.
func TestDecisionOfMembers(t *testing.T) {
	result, dir := kept(t, trees(t))
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := eval.ForLast(t.Context(), result.Posterior, 3, result.Data.Lessons(), nil)
	if err != nil || want.Threshold == result.Decision.Threshold {
		t.Fatalf("3 members have the threshold %v, as all of them: the test says nothing (%v)", want, err)
	}
	file := filepath.Join(t.TempDir(), "other.csv")
	save(t, file, read(t, "testdata", "trees.csv"))
	for name, on := range map[string]On{"own": {}, "another": {Data: file}} {
		on.OOD = []string{file}
		for members, threshold := range map[int]uq.Number{0: result.Decision.Threshold, 3: want.Threshold} {
			on.Members = members
			a, err := run.Evaluate(t.Context(), on, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range a.Metrics.Groups {
				if g.ByEnergy != nil && g.ByEnergy.Threshold != threshold {
					t.Errorf("%s, %d members: threshold %v, want %v", name, members, g.ByEnergy.Threshold, threshold)
				}
			}
			if n := len(a.Metrics.Groups); n == 0 || a.Metrics.Groups[n-1].ByEnergy == nil {
				t.Errorf("%s, %d members: nothing is judged", name, members)
			}
		}
	}
}
