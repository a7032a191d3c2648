package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// state is how far a task is. Each worker that takes the task raises Epoch by compare-and-set: from then on, what an earlier worker
// wrote last has an old revision, and it cannot write again.
type state struct {
	Epoch    int       `json:"epoch"`
	Worker   string    `json:"worker"`
	Attempts int       `json:"attempts"`         // begun since the task's state last moved, this one included
	Opened   int       `json:"opened,omitempty"` // runState.Opened when they were counted
	Last     string    `json:"last"`             // how the last attempt ended
	Progress float64   `json:"progress"`         // 0 to 1
	Saved    []Content `json:"saved"`            // the saved states, the newest first: two, in case one is damaged
	Kept     []Content `json:"kept"`             // what Job.Keep stored beside them, in the space Shared
}

// Result is a task's result. Its digest is Content.Sum. The other fields differ from worker to worker by nature, and are not compared.
type Result struct {
	Task    Sum       `json:"task"`
	Content Content   `json:"content"`
	Beside  Content   `json:"beside"` // what comes with it and differs by nature, such as times
	Kept    []Content `json:"kept"`   // what Job.Keep stored for it
	Worker  string    `json:"worker"`
	Epoch   int       `json:"epoch"`
	Seconds float64   `json:"seconds"` // that this worker took for its share of the work
}

const (
	open      = "open"
	done      = "done" // its submitter has all results
	cancelled = "cancelled"
	failed    = "failed"
)

// runState is what is known of a run beside its tasks.
type runState struct {
	Status    string   `json:"status"`
	Reason    string   `json:"reason"`
	Differing []Result `json:"differing"`        // two different results of one task
	Opened    int      `json:"opened,omitempty"` // how often it was submitted again after it had failed
}

// ErrCancelled is the end of a run that somebody cancelled. Its states and results stay: submitting it again goes on from them.
var ErrCancelled = errors.New("the run was cancelled at the server, by request or since another process that had submitted it was interrupted; resume it to go on from what was computed")

// FailedError is the end of a run that cannot go on. Submitting it again goes on from its states and results, with as many attempts for each
// task as before, since its owner may have mended the reason. A run with Differing results stays failed.
type FailedError struct {
	Reason    string
	Differing []Result // two different results of one task, both in the space Shared: determinism is broken. Otherwise none
}

func (e *FailedError) Error() string { return e.Reason }

// ended returns nil while a run is open.
func (r runState) ended() error {
	switch r.Status {
	case cancelled:
		return ErrCancelled
	case failed:
		return &FailedError{r.Reason, r.Differing}
	}
	return nil
}

func stateKey(run, task Sum) string { return "state." + run.String() + "." + task.String() }

func runKey(run Sum) string { return "run." + run.String() }

// malformedError says that a record was not written by this program.
type malformedError struct{ why error }

func (e *malformedError) Error() string {
	return fmt.Sprintf("a record that this program did not write: %v", e.why)
}

// decode reads a record strictly.
func decode(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &malformedError{err}
	}
	if d.More() {
		return &malformedError{errors.New("bytes behind its end")}
	}
	return nil
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data; progress is finite
	}
	return b
}

// read reads the record under a key, if there is one.
func read(ctx context.Context, values Values, key string, into any) (revision uint64, err error) {
	value, revision, err := values.Value(ctx, key)
	if err != nil || revision == 0 {
		return 0, err
	}
	return revision, decode(value, into)
}

// swap replaces the record of that revision. A conflict is none where the value has these very bytes: then the reply to a first try was
// lost, since no two writers write the same.
func swap(ctx context.Context, values Values, key string, record any, revision uint64) (uint64, error) {
	value := encode(record)
	next, err := values.Swap(ctx, key, value, revision)
	if !errors.Is(err, ErrConflict) {
		return next, err
	}
	there, now, errRead := values.Value(ctx, key)
	if errRead == nil && now > revision && bytes.Equal(there, value) {
		return now, nil
	}
	return 0, err
}

// changeRun changes what is known of a run. change returns false where nothing is to be changed.
func (c Cluster) changeRun(ctx context.Context, id Sum, change func(*runState) bool) (runState, error) {
	for {
		var r runState
		revision, err := read(ctx, c.Values, runKey(id), &r)
		if err != nil || !change(&r) {
			return r, err
		}
		if _, err = c.Values.Swap(ctx, runKey(id), encode(r), revision); !errors.Is(err, ErrConflict) {
			return r, err
		}
	}
}

// fail ends a run, unless it has ended.
func (c Cluster) fail(ctx context.Context, id Sum, reason string, differing ...Result) error {
	r, err := c.changeRun(ctx, id, func(r *runState) bool {
		if r.Status == failed {
			return false
		}
		r.Status, r.Reason, r.Differing = failed, reason, differing
		return true
	})
	if err != nil {
		return err
	}
	return r.ended()
}

// Fail ends a run for a reason that its submitter is told.
func (c Cluster) Fail(ctx context.Context, id Sum, reason string) error {
	err := c.fail(ctx, id, reason)
	if ended := (*FailedError)(nil); errors.As(err, &ended) {
		return nil
	}
	return err
}

// Finish says that the submitter of a run has all that it asked for.
func (c Cluster) Finish(ctx context.Context, id Sum) error { return c.end(ctx, id, done) }

// Cancel ends a run: its workers stop after their steps. What they have computed stays, and submitting the run again goes on from it.
func (c Cluster) Cancel(ctx context.Context, id Sum) error { return c.end(ctx, id, cancelled) }

// end gives a run another status, if it is open.
func (c Cluster) end(ctx context.Context, id Sum, status string) error {
	_, err := c.changeRun(ctx, id, func(r *runState) bool {
		if r.Status != open {
			return false
		}
		r.Status = status
		return true
	})
	return err
}
