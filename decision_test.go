package starling

import (
	"bytes"
	"slices"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
)

// TestDecisionOfValidation: the threshold that a run keeps is that of its validation examples, in decision.json, which the manifest
// lists; a run without such examples keeps none.
func TestDecisionOfValidation(t *testing.T) {
	result, dir := kept(t, trees(t))
	want, _, err := eval.Decide(t.Context(), result.Posterior, result.Data.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.Decision == nil || *result.Decision != *want {
		t.Fatalf("decision %+v, that of the validation examples is %+v", result.Decision, want)
	}
	if other, _, err := eval.Decide(t.Context(), result.Posterior, result.Data.Test, nil); err != nil || other.Threshold == want.Threshold {
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
	if run.Decision == nil || *run.Decision != *want || run.Predictor(Options{}).Decision != run.Decision {
		t.Errorf("read back: %+v", run.Decision)
	}
}
