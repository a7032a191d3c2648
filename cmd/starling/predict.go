package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
)

func newPredict() *cobra.Command {
	var (
		in, out string
		threads int
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "predict RUN --in FILE --out FILE",
		Short: "Predict each row of a file, and say how sure that is",
		Long: `Predict reads inputs, CSV, NPY or IDX, and writes what the posterior says of every row, as CSV or NPY: of classes
their probabilities and the entropies of doubt, of numbers mean, standard deviations and quantiles in the target's
units. Inputs are standardised as the run's were; columns of a CSV are found by their names.`,
		Example: `  starling predict runs/iris --in new.csv --out predictions.csv
  starling predict runs/digits --in images.npy --out probabilities.npy --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case threads < 0:
				return wrongUse("--threads %d: want a number from 1, or 0 for one a CPU", threads)
			case in == "":
				return wrongUse("name the file of inputs: --in FILE, a .csv, .npy or IDX")
			case out == "":
				return wrongUse("name the file to write: --out FILE, a .csv or .npy")
			}
			run, err := starling.OpenRun(args[0])
			var bad *starling.DataError
			if err != nil && !errors.As(err, &bad) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			line := newProgress(os.Stderr)
			rows, err := run.Predict(cmd.Context(), in, out, starling.Options{Threads: threads, Progress: func(e starling.Event) {
				if line != nil {
					line.event(e)
				}
			}})
			if line != nil {
				line.end()
			}
			if err != nil {
				return err
			}
			if jsonOut {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"rows": rows, "out": out})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s rows of %s predicted, written to %s\n", thousands(rows), filepath.Base(in), out)
			return err
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "file of inputs: CSV, NPY or IDX")
	cmd.Flags().StringVar(&out, "out", "", "file of predictions, replaced if it exists: .csv or .npy")
	cmd.Flags().IntVar(&threads, "threads", 0, "threads that compute; the result does not depend on it (default: one a CPU)")
	asJSON(cmd, &jsonOut)
	return cmd
}
