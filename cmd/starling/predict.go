package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/method"
)

func newPredict() *cobra.Command {
	var (
		in, out    string
		options    starling.Options
		jsonOut    bool
		quiet      bool
		force      bool
		safe       bool
		meanLogits bool
	)
	cmd := &cobra.Command{
		Use:   "predict RUN --in FILE --out FILE",
		Short: "Predict each row of a file, with its uncertainty",
		Long: `Predict reads inputs, CSV, NPY or IDX, and writes the posterior's prediction for every row, as CSV or NPY: for classes
their probabilities and entropies, and, where the run keeps a threshold, the energy and 1 for a row that it declares
foreign (out of distribution), 0 for another; for a regression mean, standard deviations and quantiles in the target's units. Inputs
are standardised as the run's were; columns of a CSV are found by their names.

A file that is there already is replaced only if it holds predictions of starling's, told by its header, or with --force.

A class is written by its name. Spreadsheets take a name that begins with =, +, - or @ for a formula, and a formula in a file
from elsewhere may do harm: with --safe-csv such names begin with an apostrophe.`,
		Example: `  starling predict runs/iris --in new.csv --out predictions.csv
  starling predict runs/digits --in images.npy --out probabilities.npy --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkThreads(options.Threads); err != nil {
				return err
			}
			switch {
			case in == "":
				return wrongUse("name the file of inputs: --in FILE, a .csv, .npy or IDX")
			case out == "":
				return wrongUse("name the file to write: --out FILE, a .csv or .npy")
			}
			if sameFile(in, out) {
				return wrongUse("%s is the file of inputs: name another file to write to", out)
			}
			if err := checkNew("--out", out, written{"predictions of starling's", eval.IsPredictions}, force); err != nil {
				return err
			}
			if meanLogits && strings.EqualFold(filepath.Ext(out), ".npy") {
				return wrongUse("--mean-logits is for a .csv, which says what is foreign: %s will have probabilities alone: leave it out, or name a .csv", out)
			}
			run, err := openRun(args[0])
			if err == nil {
				err = checkMeanLogits(meanLogits, run)
			}
			if err != nil {
				return err
			}
			line := newProgress(quiet, jsonOut)
			defer line.end()
			predictor := run.Predictor(options)
			predictor.Safe, predictor.MeanLogits = safe, meanLogits
			predictor.Progress = func(done, rows int) {
				text := fmt.Sprintf("%s of %s rows", numeral.Count(done), numeral.Count(rows))
				line.show(method.Status{Phase: "predict", Share: float64(done) / float64(max(1, rows)), Ended: done == rows, Long: text})
			}
			rows, err := predictor.File(cmd.Context(), in, out)
			if err != nil {
				return err
			}
			line.end()
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{"rows": rows, "out": out})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s rows of %s predicted, written to %s\n", numeral.Count(rows), filepath.Base(in), out)
			return err
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "`FILE` of inputs: CSV, NPY or IDX")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of predictions: .csv or .npy")
	decideByMeanLogits(cmd, &meanLogits)
	cmd.Flags().BoolVar(&safe, "safe-csv", false, "write an apostrophe before names of classes that spreadsheets take for formulas")
	forced(cmd, &force)
	threads(cmd, &options.Threads)
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}
