package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/internal/runs"
)

// whole makes a whole run in a folder of its own.
func (w *workshop) whole(ctx context.Context, _ order, job *cluster.Job) ([]byte, error) {
	if len(job.Task.Earlier) != 1 {
		return nil, &cluster.FinalError{Err: errors.New("a task without a config")}
	}
	text, err := job.Load(job.Task.Earlier[0].Content)
	if err != nil {
		return nil, err
	}
	var o wholeOrder
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, &cluster.FinalError{Err: fmt.Errorf("its config: %w", err)}
	}
	parse := wholes[o.Verb]
	if parse == nil {
		return nil, &cluster.FinalError{Err: fmt.Errorf("it asks for a run of %q, which this program does not know", o.Verb)}
	}
	one, err := parse([]byte(o.Config))
	if err != nil {
		return nil, &cluster.FinalError{Err: err}
	}
	places, dir, err := w.files(job)
	if err != nil {
		return nil, err
	}
	temp, remove, err := w.temp()
	if err != nil {
		return nil, err
	}
	defer remove()
	folder, err := TakeFolder(filepath.Join(temp, "run"), one.kind())
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if job.State != nil {
		if err := unpackFolder(job.State, folder); err != nil {
			return nil, fmt.Errorf("the saved state: %w", err)
		}
	}
	saves := &saving{job: job, folder: folder}
	err = one.run(ctx, places, Options{
		Threads: 1, DataDir: dir, Folder: folder, Memory: w.Memory, from: &o.From, Progress: saves.note,
	})
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), saves.save())
	case saves.failed != nil:
		return nil, saves.failed
	case errors.As(err, new(*fs.PathError)): // of this machine
		return nil, err
	case err != nil:
		saves.told(1)
		return packWhole(err.Error(), nil), nil
	}
	same, timely, err := folder.Parcels()
	if err != nil {
		return nil, err
	}
	if err := job.Beside(timely); err != nil {
		return nil, err
	}
	saves.told(1)
	return packWhole("", same), nil
}

const (
	tempPrefix = ".run-" // of folders in the cache in which whole runs are made
	tempLock   = "lock"  // held in such a folder while its process lives
)

// temp makes a folder for a run, until remove is called.
func (w *workshop) temp() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(w.Cache, tempPrefix); err != nil {
		return "", nil, err
	}
	held, err := lock.Take(filepath.Join(dir, tempLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		held.Free()
		os.RemoveAll(dir)
	}, nil
}

// sweep removes the folders of workers that were killed.
func (w *workshop) sweep() {
	left, _ := filepath.Glob(filepath.Join(w.Cache, tempPrefix+"*"))
	for _, dir := range left {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < time.Minute { // its process may be about to take the lock
			continue
		}
		if held, err := lock.Take(filepath.Join(dir, tempLock)); err == nil {
			held.Free()
			os.RemoveAll(dir)
		}
	}
}

// saving saves a run in a folder as the state of a task, while it goes on.
type saving struct {
	job    *cluster.Job
	folder *Folder
	failed error // of a save; the run goes on
}

func (s *saving) note(e Event) {
	p, ok := e.(*Progress)
	if !ok {
		return
	}
	s.told(min(p.Share, 0.999)) // of a phase; the run has not ended
	if s.job.Progress(p.Share) && s.failed == nil {
		s.failed = s.save()
	}
}

func (s *saving) told(share float64) {
	if word, err := json.Marshal(runs.Step{Phase: s.job.Task.Phase, Part: s.job.Task.Part, Progress: share}); err == nil {
		s.job.Tell(word)
	}
}

func (s *saving) save() error {
	if !s.folder.Kept() {
		return nil
	}
	state, err := packFolder(s.folder)
	if err != nil {
		return err
	}
	return s.job.Save(state)
}
