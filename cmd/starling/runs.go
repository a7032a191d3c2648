package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/method"
)

// openRun reads a run's folder, to evaluate the run or to predict with it. A folder without a run, or whose run is not done, is
// wrong use.
func openRun(dir string) (*starling.Run, error) { return openRunBy(starling.OpenRun, dir) }

// openRunBy is openRun by one of the functions that read runs.
func openRunBy(open func(dir string) (*starling.Run, error), dir string) (*starling.Run, error) {
	limitGarbage()
	run, err := open(dir)
	var bad *starling.DataError
	switch {
	case err != nil && starling.IsFilterRun(dir):
		err = wrongUse("%w: this command is for networks, starling report and starling verify are for filters, too", err)
	case err != nil && !errors.As(err, &bad):
		err = usageError{err}
	}
	return run, err
}

// evaluation holds the flags and the work that commands which evaluate runs have in common.
type evaluation struct {
	options     starling.Options
	json, quiet bool
	noted       []starling.Finding // of the files that were read; several runs on one file need each once
}

func (e *evaluation) flags(cmd *cobra.Command) {
	threads(cmd, &e.options.Threads)
	dataDir(cmd, &e.options.DataDir)
	asJSON(cmd, &e.json)
	quietly(cmd, &e.quiet)
}

func (e *evaluation) progress() *progress { return newProgress(e.quiet, e.json) }

// of reads a run, asks whether the command suits it, and evaluates it. The zero value of on is the run's own data.
func (e *evaluation) of(cmd *cobra.Command, dir string, on starling.On, line *progress, suits func(*starling.Run) error) (*starling.Run, *eval.Assessment, error) {
	if err := checkThreads(e.options.Threads); err != nil {
		return nil, nil, err
	}
	line.show(method.Status{Phase: "evaluating " + dir})
	run, err := openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	if suits != nil {
		if err := suits(run); err != nil {
			return nil, nil, err
		}
	}
	a, err := run.Evaluate(cmd.Context(), on, e.options)
	if err != nil {
		return nil, nil, err
	}
	for _, found := range slices.Concat(a.Problem.Noted, a.Metrics.Findings) {
		if !slices.ContainsFunc(e.noted, found.Equal) && !slices.ContainsFunc(run.Findings, found.Equal) { // those are told with the run's
			e.noted = append(e.noted, found)
			line.say(found.Words())
		}
	}
	return run, a, nil
}
