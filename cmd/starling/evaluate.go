package main

import (
	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
)

func newEvaluate() *cobra.Command {
	var (
		on             starling.On
		probs, weights string
		options        starling.Options
		jsonOut        bool
	)
	cmd := &cobra.Command{
		Use:   "evaluate [RUN]",
		Short: "Judge a run's ensembles anew, or any program's predictions",
		Long: `Evaluate reads the ensembles of a run's folder and judges them: on the run's own test examples, which gives just
the figures that fit printed, or on other data, standardised as the run's were; and on inputs that it should doubt.

With --probs it scores the class probabilities of any other program, an .npy of shape [examples, classes] or
[particles, examples, classes], against labels: .npy, IDX or a CSV of one column. Labels count from 0, or are names of
classes where the run that has them is given, too.`,
		Example: `  starling evaluate runs/mnist7
  starling evaluate runs/mine --data new.csv --json
  starling evaluate runs/mine --data x.npy --labels y.npy --ood noise.npy
  starling evaluate --probs probabilities.npy --labels labels.npy
  starling evaluate runs/mine --probs probabilities.npy --labels names.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := func(flag string) bool { return cmd.Flags().Changed(flag) }
			if given("probs") {
				for _, flag := range []string{"data", "ood", "threads", "data-dir"} {
					if given(flag) {
						return wrongUse("--%s is for a run, --probs for another program's predictions", flag)
					}
				}
				if on.Labels == "" {
					return wrongUse("name the file of labels: --labels FILE")
				}
				var names []string
				if len(args) > 0 {
					run, err := openRun(args[0])
					if err != nil {
						return err
					}
					names = run.Schema.Names
				}
				scores, err := eval.ScoreFiles(probs, on.Labels, weights, names)
				switch {
				case err != nil:
					return err
				case jsonOut:
					return jsontext.Write(cmd.OutOrStdout(), scores)
				}
				showScores(cmd.OutOrStdout(), scores)
				return nil
			}
			switch {
			case len(args) == 0:
				return wrongUse("name a run's folder, or --probs FILE --labels FILE")
			case given("weights"):
				return wrongUse("--weights are for --probs: a run has its own")
			case on.Labels != "" && on.Data == "":
				return wrongUse("--labels needs --data, the inputs that they belong to")
			}
			if err := checkThreads(options.Threads); err != nil {
				return err
			}
			run, err := openRun(args[0])
			if err != nil {
				return err
			}
			j, err := run.Judge(cmd.Context(), on, options)
			if err != nil {
				return err
			}
			if jsonOut {
				return j.Metrics.WriteJSON(cmd.OutOrStdout())
			}
			showMetrics(cmd.OutOrStdout(), &run.Spec, run.Trace, j.Metrics, j.Problem, true)
			tell(cmd.OutOrStdout(), run.Manifest.Notes)
			return nil
		},
	}
	cmd.Flags().StringVar(&on.Data, "data", "", "`SET|FILE` to judge on instead: a set's name (starling data list), a CSV with the target's column, or an .npy or IDX of inputs, which needs --labels")
	cmd.Flags().StringVar(&on.Labels, "labels", "", "`FILE` of the labels that belong to --data or --probs")
	cmd.Flags().StringArrayVar(&on.OOD, "ood", nil, "`SET|FILE` of inputs to doubt; repeatable")
	cmd.Flags().StringVar(&probs, "probs", "", "`FILE` of class probabilities to score, instead of a run's")
	cmd.Flags().StringVar(&weights, "weights", "", "`FILE` of the weights of the particles in --probs (default: all equal)")
	computes(cmd, &options)
	asJSON(cmd, &jsonOut)
	return cmd
}
