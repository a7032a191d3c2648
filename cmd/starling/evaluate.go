package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
)

func newEvaluate() *cobra.Command {
	var (
		set     string
		threads int
		dir     string
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "evaluate RUN",
		Short: "Judge a run's ensembles anew",
		Long: `Evaluate reads the ensembles of a run's folder and judges them on the run's own test examples, which gives just
the figures that fit printed, or on another data set.`,
		Example: `  starling evaluate runs/mnist7
  starling evaluate runs/mnist7 --data mnist7 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if threads < 0 {
				return wrongUse("--threads %d: want a number from 1, or 0 for one a CPU", threads)
			}
			run, err := starling.OpenRun(args[0])
			var bad *starling.DataError
			if err != nil && !errors.As(err, &bad) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			j, err := run.Judge(cmd.Context(), starling.On{Data: set}, starling.Options{Threads: threads, DataDir: dir})
			if err != nil {
				return err
			}
			if jsonOut {
				return j.Metrics.WriteJSON(cmd.OutOrStdout())
			}
			report(cmd.OutOrStdout(), &run.Spec, j.Metrics, j.Problem)
			tell(cmd.OutOrStdout(), run.Manifest.Notes)
			return nil
		},
	}
	cmd.Flags().StringVar(&set, "data", "", "name of another data set to judge on (see starling data list)")
	cmd.Flags().IntVar(&threads, "threads", 0, "threads that compute; the result does not depend on it (default: one a CPU)")
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	return cmd
}
