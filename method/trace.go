package method

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// TraceLine is one iteration of one island or chain: a line of trace.jsonl.
type TraceLine struct {
	Seconds float64 // seconds of the run's work so far, without pauses and without the evaluation on test examples
	Iteration
}

// Iteration holds the fields of one iteration of an island in a trace, other than island, k, progress and seconds.
type Iteration struct {
	smc.Info

	Lost string `json:"lost,omitempty"` // why the island was lost, in its last line: its moves left the numbers, and nothing else in the line is known but what it took

	ELBO *uq.Number `json:"elbo,omitempty"` // of an epoch of VI, which has nothing of a sampler but epochs and gradients

	ValNLL      *uq.Number `json:"val_nll,omitempty"` // of the island's weighted ensemble on the validation examples
	ValAccuracy *uq.Number `json:"val_accuracy,omitempty"`

	// What a stopping rule judges (Stopping), from the first kept iteration on: the ensemble kept so far, and as it was when it was best.
	KeptNLL     *uq.Number `json:"kept_val_nll,omitempty"`
	BestKeptNLL *uq.Number `json:"best_kept_val_nll,omitempty"`

	// What the settings of the trace ask for (IslandTrace): after the iteration and, in the first line, before it too, at k = 0.
	Unlearning *Unlearning `json:"unlearning,omitempty"`
	AtStart    *Unlearning `json:"unlearning_at_start,omitempty"`

	// The scores on the test examples, for monitoring only: no decision depends on them. A path of batches without validation
	// examples (data.whole) has them every TestedEvery iterations and at the end.
	TestNLL      *uq.Number `json:"test_nll,omitempty"`
	TestAccuracy *uq.Number `json:"test_accuracy,omitempty"`
}

// Unlearning is the unlearning trace (smc-sghmc-ensembles, section 2.9): the mean NLL of the training and of the validation examples, of
// single particles and of the island's weighted ensemble. A network that was trained too long has a training NLL far below that of the
// validation examples; when it unlearns, the training NLL rises, and the validation NLL stays or falls. Numbers are in nats, of targets in
// their own units.
type Unlearning struct {
	Train         uq.Number  `json:"train_nll"`                  // of a particle, mean over the particles alive, without their weights
	TrainEnsemble uq.Number  `json:"train_nll_ensemble"`         // of the weighted mean of their predictions
	Val           *uq.Number `json:"val_nll,omitempty"`          // the same on the validation examples; nil without them
	ValEnsemble   *uq.Number `json:"val_nll_ensemble,omitempty"` // equal to val_nll of the line
}

// byIsland divides a trace, which is sorted by island and iteration.
func byIsland(trace []TraceLine) (islands [][]TraceLine) {
	for i, l := range trace {
		if i == 0 || l.Island != trace[i-1].Island {
			islands = append(islands, nil)
		}
		last := &islands[len(islands)-1]
		*last = append(*last, l)
	}
	return islands
}

// ReadTrace reads the lines of a run's trace.
func ReadTrace(lines []runs.TraceLine) ([]TraceLine, error) {
	trace := make([]TraceLine, len(lines))
	var text bytes.Buffer
	for _, l := range lines {
		text.Write(l.Fields)
	}
	d := json.NewDecoder(&text)
	d.DisallowUnknownFields()
	for i, l := range lines {
		t := &trace[i]
		if err := d.Decode(&t.Iteration); err != nil {
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
