package method

import (
	"encoding/json"
	"fmt"

	"github.com/starling-smc/starling/internal/runs"
)

// TraceLine is one iteration of one island or chain, as a line of trace.jsonl has it.
type TraceLine struct {
	Seconds float64 // of the run's work so far, without pauses and without what the evaluation on test examples takes
	Iteration
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
