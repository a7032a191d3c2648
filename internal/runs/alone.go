package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/regular"
)

// Alone is the Executor of a worker. It restores the phases before the one of its task from the results that the task names, and carries
// out the task's part alone.
type Alone struct {
	job *cluster.Job
	outcome
	result []byte // of the part's end
}

// ErrCarriedOut is what Run.Phase returns once the part of an Alone has ended.
var ErrCarriedOut = errors.New("the part of the task has ended")

// NewAlone returns a run that carries out the part of a worker's task. shelves: the run of the submitter keeps states in files.
func NewAlone(job *cluster.Job, shelves bool) (*Run, *Alone) {
	a := &Alone{job: job}
	r := &Run{notice: func(string) {}, executor: a}
	if shelves {
		r.shelf = a
	}
	return r, a
}

// Result is the task's result, after ErrCarriedOut.
func (a *Alone) Result() []byte { return a.result }

// carry restores a phase, or carries out the task's part of it.
func (a *Alone) carry(ctx context.Context, w *work) error {
	task := a.job.Task
	for _, earlier := range task.Earlier {
		if earlier.Name != w.Name {
			continue
		}
		b, err := a.job.Load(earlier.Content)
		if err == nil {
			err = restoreStates(b, w.Parts)
		}
		if err != nil {
			return fmt.Errorf("the results of phase %q: %w", w.Name, err)
		}
		return nil
	}
	if w.Name != task.Phase || task.Part < 0 || task.Part >= len(w.Parts) {
		return fmt.Errorf("the task is part %d of phase %q, and the run comes to phase %q of %d parts first", task.Part, task.Phase, w.Name, len(w.Parts))
	}
	return a.carryOut(ctx, w.run, w.Parts[task.Part])
}

// carryOut takes the part to its end.
func (a *Alone) carryOut(ctx context.Context, run *Run, part Part) error {
	if a.job.State != nil {
		was, err := unpack(a.job.State)
		if err == nil {
			a.outcome = *was
			err = was.restore(part)
		}
		if err != nil {
			return fmt.Errorf("the saved state: %w", err)
		}
	}
	if n := len(a.lines); n > 0 {
		a.tell(a.lines[n-1].Progress)
	} else {
		a.tell(0) // a first step may take long, and the part has a worker now
	}
	pulse := pulse{every: tellEvery}
	for !part.Done() {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, a.save(part))
		}
		line, err := run.step(ctx, part)
		if errors.As(err, new(*regular.ChangedError)) { // of this machine
			return err
		}
		if err != nil {
			if ctx.Err() == nil {
				return &cluster.FinalError{Err: err}
			}
			return errors.Join(ctx.Err(), a.save(part))
		}
		a.steps = part.K()
		if line.Fields != nil {
			fields, err := json.Marshal(line.Fields)
			if err != nil {
				return &cluster.FinalError{Err: err}
			}
			a.lines = append(a.lines, TraceLine{Part: a.job.Task.Part, K: a.steps, Progress: line.Progress, Fields: fields})
		}
		if part.Done() {
			line.Progress = 1
		}
		if pulse.due() || part.Done() {
			a.tell(line.Progress)
		}
		if a.job.Progress(line.Progress) && !part.Done() && ctx.Err() == nil {
			if err := a.save(part); err != nil {
				return err
			}
		}
	}
	var err error
	if a.result, err = a.pack(part); err != nil {
		return err
	}
	return ErrCarriedOut
}

// save saves the state of a part that has made a step.
func (a *Alone) save(part Part) error {
	if part.K() == 0 {
		return nil
	}
	b, err := a.pack(part)
	if err != nil {
		return err
	}
	return a.job.Save(b)
}

// tellEvery is the shortest time between two words about a part.
const tellEvery = 200 * time.Millisecond

// pulse says at most once in every so long that something is due.
type pulse struct {
	every time.Duration
	last  time.Time
}

func (p *pulse) due() bool {
	now := time.Now()
	is := now.Sub(p.last) >= p.every
	if is {
		p.last = now
	}
	return is
}

// Step is what a worker tells of the part of its task.
type Step struct {
	Phase    string  `json:"phase"`
	Part     int     `json:"part"`
	K        int     `json:"k"`
	Progress float64 `json:"progress"` // 0 to 1; 1: the part has ended
}

func (a *Alone) tell(progress float64) {
	word, err := json.Marshal(Step{a.job.Task.Phase, a.job.Task.Part, a.steps, progress})
	if err == nil { // else the progress is no number
		a.job.Tell(word)
	}
}

// store keeps a shard beside the result.
func (a *Alone) store(n int, write func(io.Writer) error) (sum [sha256.Size]byte, err error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return sum, err
	}
	if n != len(a.shards) {
		return sum, fmt.Errorf("file %d of kept states comes after %d", n, len(a.shards))
	}
	content, err := a.job.Keep(b.Bytes())
	if err != nil {
		return sum, fmt.Errorf("file %d of kept states: %w", n, err)
	}
	a.shards = append(a.shards, content)
	return content.Sum, nil
}

// stored reads a shard.
func (a *Alone) stored(n int, sum [sha256.Size]byte, read func(file io.ReaderAt, size int64) error) error {
	if n >= len(a.shards) || a.shards[n].Sum != sum {
		return fmt.Errorf("file %d of kept states is not the one of the saved state", n)
	}
	b, err := a.job.Load(a.shards[n])
	if err != nil {
		return err
	}
	return read(bytes.NewReader(b), int64(len(b)))
}
