//go:build unix

package metamorphic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/report"
)

// verb is something that people do with the folder of a finished run. It returns its result, which depends on the folder alone.
// whole is the same run, undamaged.
type verb func(ctx context.Context, dir, whole string) ([]byte, error)

// verbs are for a run of a network.
var verbs = map[string]verb{
	"predict": func(ctx context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		in, out := "far.csv", filepath.Join(filepath.Dir(dir), "predictions.csv")
		if run.Net.Likelihood().Regression() {
			in = "wave.csv"
		}
		if _, err := run.Predictor(starling.Options{Threads: 1}).File(ctx, in, out); err != nil {
			return nil, err
		}
		return os.ReadFile(out)
	},
	"evaluate": func(ctx context.Context, dir, _ string) ([]byte, error) {
		e, err := evaluated(ctx, "", dir)
		return written(err, func(b *bytes.Buffer) error { return e.Assessment.Metrics.WriteJSON(b) })
	},
	"report": func(ctx context.Context, dir, _ string) ([]byte, error) {
		e, err := evaluated(ctx, "", dir)
		return written(err, func(b *bytes.Buffer) error { return report.Write(b, e.Run, e.Assessment) })
	},
	"compare": func(ctx context.Context, dir, whole string) ([]byte, error) {
		e, err := evaluated(ctx, "damaged", dir)
		if err != nil {
			return nil, err
		}
		other, err := evaluated(ctx, "whole", whole)
		if err != nil {
			return nil, fmt.Errorf("the whole run: %v", err)
		}
		c, err := report.NewComparison([]report.Evaluated{e, other})
		return written(err, func(b *bytes.Buffer) error { return c.Write(b) })
	},
	"metrics": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		m, err := run.ReadMetrics()
		return written(err, func(b *bytes.Buffer) error { return m.WriteJSON(b) })
	},
}

// calibrate is a verb for a run that decides: the decision that is learnt again is the one that the run has.
func calibrate(ctx context.Context, dir, _ string) ([]byte, error) {
	run, err := starling.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	if _, _, err := run.Calibrate(ctx, starling.Calibration{}, starling.Options{Threads: 1}); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "decision.json"))
}

// filterVerbs are for a run of a filter.
var filterVerbs = map[string]verb{
	"report": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenFilterRun(dir)
		return written(err, func(b *bytes.Buffer) error { return report.WriteFilterRun(b, run) })
	},
	"metrics": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenFilterRun(dir)
		return written(err, func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(run.Metrics) })
	},
}

func (r Run) verbs() map[string]verb {
	if r.filters() {
		return filterVerbs
	}
	if r.decides() {
		all := maps.Clone(verbs)
		all["calibrate"] = calibrate
		return all
	}
	return verbs
}

// Verbs are the names of what people do with the run's folder.
func (r Run) Verbs() []string { return slices.Sorted(maps.Keys(r.verbs())) }

// written is what a function writes, if there was no error before.
func written(err error, write func(*bytes.Buffer) error) ([]byte, error) {
	var b bytes.Buffer
	if err == nil {
		err = write(&b)
	}
	return b.Bytes(), err
}

func evaluated(ctx context.Context, name, dir string) (report.Evaluated, error) {
	run, err := starling.OpenRun(dir)
	if err != nil {
		return report.Evaluated{}, err
	}
	a, err := run.Evaluate(ctx, starling.On{}, starling.Options{Threads: 1})
	return report.Evaluated{Name: name, Run: run, Assessment: a}, err
}

// fit makes the run in a folder, or resumes it.
func (r Run) fit(ctx context.Context, dir string, progress func(starling.Event)) error {
	options := starling.Options{Threads: 1, Every: 1, Progress: progress}
	kind := starling.FitRuns
	if r.filters() {
		kind = starling.FilterRuns
	}
	folder, err := starling.ResumeFolder(dir, kind)
	if err != nil {
		return err
	}
	defer folder.Close()
	options.Folder = folder
	if r.filters() {
		spec, err := starling.ParseFiltering(r.Name, r.config())
		if err == nil {
			_, err = starling.Filter(ctx, spec, starling.FilterOptions{Options: options})
		}
		return err
	}
	spec, err := starling.ParseSpec(r.Name, r.config())
	if err == nil {
		_, err = starling.Fit(ctx, spec, options)
	}
	return err
}

// known reports whether an error is of a kind that tells a person where the fault is: in the data or files of a run, in a
// config, in the use of the command, or in the folder.
func known(err error) bool {
	kinds := []any{new(*starling.DataError), new(*starling.ConfigError), new(*starling.NotDoneError), new(*starling.OtherRunError), new(*eval.InputError)}
	return slices.ContainsFunc(kinds, func(kind any) bool { return errors.As(err, kind) })
}
