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
)

// alone is the part of a run that a worker carries out.
type alone struct {
	job     *cluster.Job
	shelves bool // the run keeps states in files (Run.Store)
	outcome
	result []byte // of the part's end
}

// ErrCarriedOut is what Phase returns on a worker once the part of its task has ended. Run.Result has the result.
var ErrCarriedOut = errors.New("the part of the task has ended")

// Alone opens a run for the task of a worker. Its phases up to the one of the task are restored from the results that the task names, and
// that one carries out the task's part alone. shelves: the run of the submitter keeps states in files.
func Alone(job *cluster.Job, shelves bool) *Run {
	return &Run{notice: func(string) {}, alone: &alone{job: job, shelves: shelves}}
}

// Result is the task's result, after ErrCarriedOut.
func (r *Run) Result() []byte { return r.alone.result }

// phase restores a phase, or carries out the task's part of it.
func (a *alone) phase(ctx context.Context, p *Phase) error {
	task := a.job.Task
	for _, earlier := range task.Earlier {
		if earlier.Name != p.Name {
			continue
		}
		b, err := a.job.Load(earlier.Content)
		if err == nil {
			err = restoreStates(b, p.Parts)
		}
		if err != nil {
			return fmt.Errorf("the results of phase %q: %w", p.Name, err)
		}
		return nil
	}
	if p.Name != task.Phase || task.Part < 0 || task.Part >= len(p.Parts) {
		return fmt.Errorf("the task is part %d of phase %q, and the run comes to phase %q of %d parts first", task.Part, task.Phase, p.Name, len(p.Parts))
	}
	return a.carryOut(ctx, p.Parts[task.Part])
}

// carryOut takes the part to its end.
func (a *alone) carryOut(ctx context.Context, part Part) error {
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
	pulse := pulse{every: tellEvery}
	for !part.Done() {
		line, err := part.Step(ctx)
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
		if a.job.Progress(line.Progress) && !part.Done() {
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
func (a *alone) save(part Part) error {
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

// step is what a worker tells of a part.
type step struct {
	Phase    string  `json:"phase"`
	Part     int     `json:"part"`
	K        int     `json:"k"`
	Progress float64 `json:"progress"`
}

func (a *alone) tell(progress float64) {
	word, err := json.Marshal(step{a.job.Task.Phase, a.job.Task.Part, a.steps, progress})
	if err == nil { // else the progress is no number
		a.job.Tell(word)
	}
}

// store keeps a shard beside the result.
func (a *alone) store(n int, write func(io.Writer) error) (sum [sha256.Size]byte, err error) {
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
func (a *alone) stored(n int, sum [sha256.Size]byte, read func(file io.ReaderAt, size int64) error) error {
	if n >= len(a.shards) || a.shards[n].Sum != sum {
		return fmt.Errorf("file %d of kept states is not the one of the saved state", n)
	}
	b, err := a.job.Load(a.shards[n])
	if err != nil {
		return err
	}
	return read(bytes.NewReader(b), int64(len(b)))
}
