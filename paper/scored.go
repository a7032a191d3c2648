package paper

import (
	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
)

// Some kinds of runs (Together, Regrouped) compute nothing but scores, of runs that are there. Their folders hold a config and files.

// keepScores makes such a run in o.Folder, of data with these checksums. A run that is done stays as it is.
func keepScores(o starling.Options, text []byte, data map[string]string, score func(*runs.Run, *pool.Pool) ([]runs.File, error)) error {
	workers := pool.New(o.Threads)
	m := starling.Manifest{Threads: workers.Threads(), Kernel: lanes.Kernel(), Data: data}
	m.Version, m.Revision = starling.Version()
	run, err := runs.Open(o.Folder, text, m, runs.Options{Every: o.Every})
	if err != nil || run.Done() {
		return err
	}
	files, err := score(run, workers)
	if err == nil {
		err = run.Finish(files)
	}
	return run.Close(err)
}

// readScores reads such a run back. The error is a *DifferentError if the folder holds one of another config.
func readScores(dir string, kind starling.Kind, text []byte) (*runs.Record, error) {
	record, err := runs.Read(dir, kind)
	if err != nil {
		return nil, err
	}
	if err := config.Diff(record.Config, text); err != nil {
		return nil, &DifferentError{err}
	}
	return record, nil
}
