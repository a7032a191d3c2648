//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/report"
)

// verb is something that people do with the folder of a finished run. It returns its result, which depends on the folder alone. whole
// is the same run, undamaged.
type verb func(ctx context.Context, dir, whole string) ([]byte, error)

// filterVerbs are for a run of a filter.
var filterVerbs = map[string]verb{
	"report": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenFilterRun(dir)
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		err = report.WriteFilterRun(&page, run)
		return page.Bytes(), err
	},
	"metrics": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenFilterRun(dir)
		if err != nil {
			return nil, err
		}
		return json.Marshal(run.Metrics)
	},
}

// resumedFilter resumes a run of a filter to its end, and returns what does not depend on the time.
func resumedFilter(ctx context.Context, spec starling.Filtering, dir string) ([]byte, error) {
	result, err := filtered(ctx, spec, dir, nil)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = errors.Join(filtering.WriteLines(&text, result.Trace), json.NewEncoder(&text).Encode(result.Metrics))
	fmt.Fprintln(&text, result.Notes())
	return text.Bytes(), err
}

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
		_, a, err := evaluated(ctx, dir)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = a.Metrics.WriteJSON(&text)
		return text.Bytes(), err
	},
	"report": func(ctx context.Context, dir, _ string) ([]byte, error) {
		run, a, err := evaluated(ctx, dir)
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		err = report.Write(&page, run, a)
		return page.Bytes(), err
	},
	"compare": func(ctx context.Context, dir, whole string) ([]byte, error) {
		run, a, err := evaluated(ctx, dir)
		if err != nil {
			return nil, err
		}
		other, b, err := evaluated(ctx, whole)
		if err != nil {
			return nil, fmt.Errorf("the whole run: %v", err)
		}
		c, err := report.NewComparison([]report.Evaluated{{Name: "damaged", Run: run, Assessment: a}, {Name: "whole", Run: other, Assessment: b}})
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		err = c.Write(&page)
		return page.Bytes(), err
	},
	"metrics": func(_ context.Context, dir, _ string) ([]byte, error) {
		run, err := starling.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		m, err := run.ReadMetrics()
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = m.WriteJSON(&text)
		return text.Bytes(), err
	},
}

func evaluated(ctx context.Context, dir string) (*starling.Run, *eval.Assessment, error) {
	run, err := starling.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	a, err := run.Evaluate(ctx, starling.On{}, starling.Options{Threads: 1})
	return run, a, err
}

// resumed resumes a run to its end, and returns what does not depend on the time.
func resumed(ctx context.Context, spec starling.Spec, dir string) ([]byte, error) {
	result, err := fit(ctx, spec, dir, nil)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = errors.Join(bnn.WritePosterior(&text, result.Posterior), result.Metrics.WriteJSON(&text))
	trace := json.NewEncoder(&text)
	for _, l := range result.Trace {
		err = errors.Join(err, trace.Encode(l.Iteration))
	}
	fmt.Fprintln(&text, result.Notes())
	return text.Bytes(), err
}

// named reports whether an error is of a kind that tells a person where the fault is: in the data or files of a run, in a
// config, in the use of the command, or in the folder.
func named(err error) bool {
	var (
		data    *starling.DataError
		config  *starling.ConfigError
		notDone *starling.NotDoneError
		other   *starling.OtherRunError
		input   *eval.InputError
	)
	return errors.As(err, &data) || errors.As(err, &config) || errors.As(err, &notDone) || errors.As(err, &other) || errors.As(err, &input)
}
