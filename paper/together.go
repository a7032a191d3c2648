package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/spec"
)

// Together are runs that compute nothing but scores: the networks of runs that are there, one of each, are an ensemble of equal weights. So a
// deep ensemble of three costs two more runs, where one of them is there. The runs must be of the same network and the same data.
var Together = &Kind{
	Parse: func(file string, text []byte, sets ...string) (Work, error) {
		t, _, err := config.Parse[together](file, text, sets)
		return t, err
	},
	Costs: Fits.Costs,
}

// ensembleRuns is the kind of their folders.
var ensembleRuns = starling.Kind{Name: "ensemble", Files: []string{metricsFile, posteriorFile, decisionFile}, Differ: config.Diff}

const metricsFile, posteriorFile, decisionFile = "metrics.json", "posterior.safetensors", "decision.json"

// together is the Work of Together.
type together struct {
	Name string   `yaml:"name"`
	Seed uint64   `yaml:"seed,zero"`
	Runs []string `yaml:"runs"` // their folders
}

// YAML writes the config that Parse reads.
func (t together) YAML() []byte { return config.Encode(t) }

// Check implements config.Checker.
func (t together) Check(f *config.Faults) {
	f.If(len(t.Runs) < 2, "runs", "want the folders of at least 2 runs, have %d", len(t.Runs))
}

// Kind implements Work.
func (t together) Kind() starling.Kind { return ensembleRuns }

// Whole implements Work: the networks are in folders here.
func (t together) Whole(string) *starling.Whole { return nil }

// Run implements Work.
func (t together) Run(ctx context.Context, o starling.Options) ([]string, error) {
	d, err := t.networks()
	if err != nil {
		return nil, err
	}
	return nil, keepScores(o, t.YAML(), d.Manifest.Data, func(run *runs.Run, workers *pool.Pool) ([]runs.File, error) {
		return t.score(ctx, d, run, workers, o)
	})
}

// score evaluates the ensemble. It returns the files.
func (t together) score(ctx context.Context, d *fitDone, run *runs.Run, workers *pool.Pool, o starling.Options) (files []runs.File, err error) {
	if o.Progress != nil {
		o.Progress(&starling.Progress{Status: method.Status{Phase: "evaluation"}})
	}
	var assessed *eval.Assessment
	if err := run.Aside(func() error {
		var p *data.Problem
		if p, err = d.Spec.Load(o.DataDir, d.Schema); err != nil {
			return err
		}
		if d.Decision, _, err = eval.Decide(ctx, &d.Ensembles, p.Lessons(), nil, d.Schema, t.Seed, workers); err != nil {
			return err
		}
		assessed, err = d.Spec.Evaluate(ctx, &d.Ensembles, p, workers)
		return err
	}); err != nil {
		return nil, err
	}
	if run.Manifest.Cost, err = json.Marshal(d.Cost); err != nil {
		return nil, err
	}
	files = []runs.File{{Name: metricsFile, Write: assessed.Metrics.WriteJSON},
		{Name: posteriorFile, Write: func(w io.Writer) error { return bnn.WritePosterior(w, d.Posterior) }}}
	if d.Decision != nil {
		files = append(files, runs.File{Name: decisionFile, Write: func(w io.Writer) error { return jsontext.Write(w, d.Decision) }})
	}
	return files, nil
}

// networks reads the runs: the first of them, with the networks of all, and what all of them cost.
func (t together) networks() (*fitDone, error) {
	var islands []bnn.Island
	var first *starling.Run
	cost := new(eval.Cost)
	for _, dir := range t.Runs {
		r, err := starling.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = r
		}
		switch e := r.Posterior; {
		case e.Size() != 1:
			return nil, &starling.DataError{Err: fmt.Errorf("%s holds %d networks, and of each run one is taken", dir, e.Size())}
		case config.Diff(config.Encode(first.Spec.Model, spec.Families...), config.Encode(r.Spec.Model, spec.Families...)) != nil,
			!maps.Equal(first.Manifest.Data, r.Manifest.Data):
			return nil, &starling.DataError{Err: fmt.Errorf("%s and %s have other networks or other data, so that nothing is an ensemble of both: "+
				"make them from one config, by seeds alone, with one data.seed", t.Runs[0], dir)}
		default:
			islands = append(islands, bnn.Island{Theta: whole(e)})
		}
		cost.Add(dir, r.Cost.Work)
	}
	e, err := bnn.Combine(first.Net, islands, bnn.Equal{})
	if err != nil {
		return nil, err
	}
	run := starling.Run{Dir: first.Dir, Spec: first.Spec, Net: first.Net, Schema: first.Schema, Manifest: first.Manifest}
	run.Posterior, run.Cost = e, cost
	return &fitDone{Run: &run, origin: first.Posterior}, nil
}

// whole are the parameters of an ensemble of one.
func whole(e *bnn.Ensemble) []float64 {
	theta := make([]float64, len(e.Theta))
	for i, v := range e.Theta {
		theta[i] = float64(v)
	}
	return theta
}

// Open implements Work. The runs must still be there.
func (t together) Open(ctx context.Context, dir string, o starling.Options) (Done, error) {
	record, err := readScores(dir, ensembleRuns, t.YAML())
	if err != nil {
		return nil, err
	}
	d, err := t.networks()
	if err != nil {
		return nil, err
	}
	d.Manifest, d.ctx, d.options, d.Metrics = record.Manifest, ctx, o, new(eval.Metrics)
	text, err := record.File(metricsFile)
	if err == nil {
		err = jsontext.Read(text, d.Metrics)
	}
	if err != nil {
		return nil, &starling.DataError{Err: err}
	}
	switch text, err = record.File(decisionFile); {
	case err == nil:
		d.Decision, err = eval.ReadDecision(text)
	case errors.Is(err, os.ErrNotExist): // none was learnt
		err = nil
	}
	if err != nil {
		return nil, &starling.DataError{Err: err}
	}
	return d, nil
}
