package method

import (
	"encoding/json"
	"fmt"

	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// TraceLine is one iteration of one island or chain, as a line of trace.jsonl has it.
type TraceLine struct {
	Seconds float64 // of the run's work so far, without pauses and without what the evaluation on test examples takes
	Iteration
}

// Iteration is what a trace says of one iteration of an island, beside island, k, progress and seconds.
type Iteration struct {
	smc.Info

	ValNLL      *uq.Number `json:"val_nll,omitempty"` // of the island's weighted ensemble on the validation examples
	ValAccuracy *uq.Number `json:"val_accuracy,omitempty"`

	// The same on the test examples, for monitoring only: nothing is decided by them. They are there on a path of batches without
	// validation examples (data.whole), every TestedEvery iterations and at the end.
	TestNLL      *uq.Number `json:"test_nll,omitempty"`
	TestAccuracy *uq.Number `json:"test_accuracy,omitempty"`
}

// ReadTrace reads the lines of a run's trace.
func ReadTrace(lines []runs.TraceLine) ([]TraceLine, error) {
	trace := make([]TraceLine, len(lines))
	for i, l := range lines {
		t := &trace[i]
		if err := json.Unmarshal(l.Fields, &t.Iteration); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		t.Seconds, t.Island, t.K, t.Progress = l.Seconds, l.Part, l.K, l.Progress
	}
	return trace, nil
}

// iteration reads one line.
func iteration(l runs.TraceLine) (Iteration, error) {
	trace, err := ReadTrace([]runs.TraceLine{l})
	if err != nil {
		return Iteration{}, err
	}
	return trace[0].Iteration, nil
}
