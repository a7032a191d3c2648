package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
)

func newPredict() *cobra.Command {
	var (
		in, out    string
		key        string
		options    starling.Options
		jsonOut    bool
		quiet      bool
		force      bool
		safe       bool
		meanLogits bool
		untempered bool
		threshold  string
		quantiles  []float64
		draws      int
		missing    string
		through    string
		layer      string
	)
	cmd := &cobra.Command{
		Use:   "predict RUN --in FILE --out FILE",
		Short: "Predict each row of a file, with its uncertainty",
		Long: `Predict reads inputs, CSV, Parquet, NPY or IDX, and writes the posterior's prediction for every row, as CSV or NPY: for classes
their probabilities and entropies, and, where the run keeps a threshold, the energy and 1 for a row that it declares
foreign (out of distribution), by its energy or as an input lies outside, 0 for another; for a regression mean, standard deviations and
quantiles in the target's units. The column outside is the number of inputs that lie far outside the training rows; notes say which, and
whether a slip of units would explain it. Inputs are standardised as the run's were; columns of a CSV are found by their names, and those
that the run's table had not are ignored.
With --threshold yes=0.2 the class, one of two, is yes where the probability of yes in the file is at least 0.2, and else the other.

A run with a block decide has learnt how to decide, and predict writes it. The probabilities of classes, and the standard deviations and
quantiles of numbers, are corrected by the run's temperature; --untempered writes those of the ensemble. The column abstain is 1 where
the row should not be answered, and else 0. For classes, p_wrong is the probability that the answer is wrong, if the run has a classifier of wrong
answers, and set is a list of classes, as in cat|dog, that has the true one at the promised rate. For numbers, low and high are the ends
of an interval that holds the true number at the promised rate. A cell is empty where the run has not learnt what it says. Entropies, energy,
abstain, p_wrong, sets, intervals and draws are the same with --untempered, and so is the class without --threshold. A row whose
probabilities are NaN abstains, and its set has all classes.

With --key the text of a column is copied, so that predictions can be joined with other data.

--quantiles takes other levels of the quantiles of a number, and --draws adds draws of each row's target from the posterior predictive
distribution, draw_1 and so on: numbers, or names of classes. A draw is of one network for all rows, so sums of a column are draws of the sum.
The run's seed and the number of the row decide the draws.

An input of a table that is missing is filled as in the run's own held-out rows: with the mean of the training rows, or with no
category. The column missing says how many inputs of a row were filled. With --missing refuse such a row is an error.

A run on features of another network, which starling features wrote, predicts from that network's own inputs with --backbone and --layer:
the features of each block of rows are computed on the way, and predictions are those of the file of features in float32.

With --in - it reads stdin, to its end, and with --out - it writes a CSV to stdout, and nothing else there.

A file that is there already is replaced only if it holds predictions of starling's, told by its header, or with --force.

A class is written by its name, and so is the column of its probability: p_setosa. Spreadsheets take a text that begins with =, +, -
or @ for a formula, and a formula in a file from elsewhere may do harm: with --safe-csv such names and keys begin with an
apostrophe.`,
		Example: `  starling predict runs/iris --in new.csv --out predictions.csv
  starling predict runs/iris --in new.csv --out predictions.csv --key id
  starling predict runs/churn --in new.csv --out out.csv --threshold yes=0.2
  starling predict runs/churn --in new.csv --out raw.csv --untempered
  starling predict runs/rents --in new.csv --out q.csv --quantiles .1,.5,.9
  starling predict runs/digits --in images.npy --out probabilities.npy --json
  starling predict head --backbone resnet.yaml --layer fc --in x.npy --out p.csv
  gunzip -c new.csv.gz | starling predict runs/iris --in - --out - | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkThreads(options.Threads); err != nil {
				return err
			}
			switch {
			case in == "":
				return wrongUse("name the file of inputs: --in FILE, a CSV, Parquet, NPY or IDX, or - for stdin")
			case out == "":
				return wrongUse("name the file to write: --out FILE, a .csv or .npy, or - for stdout")
			case key == "" && cmd.Flags().Changed("key"):
				return wrongUse("--key names no column: name one, or leave --key out; a column without a name needs one in the file")
			case (through == "") != (layer == ""):
				return wrongUse("--backbone and --layer go together: the network, and the layer that the head stands for")
			case missing != "fill" && missing != "refuse":
				return wrongUse("--missing %s: want fill or refuse", missing)
			case out == pipe && jsonOut:
				return wrongUse("--json and --out - both write to stdout: leave one of them out")
			}
			if out != pipe {
				if in != pipe && sameFile(in, out) {
					return wrongUse("%s is the file of inputs: name another file to write to", out)
				}
				if err := checkNew("--out", out, written{"predictions of starling's", eval.IsPredictions}, force); err != nil {
					return err
				}
			}
			if meanLogits && strings.EqualFold(filepath.Ext(out), ".npy") {
				return wrongUse("--mean-logits is for a .csv, which says what is foreign: %s will have probabilities alone: leave it out, or name a .csv", out)
			}
			if cmd.Flags().Changed("threshold") && strings.EqualFold(filepath.Ext(out), ".npy") {
				return wrongUse("--threshold is for a .csv, which has the class: %s will have probabilities alone: leave it out, or name a .csv", out)
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
			predictor.Safe, predictor.MeanLogits, predictor.Key, predictor.Complete = safe, meanLogits, key, missing == "refuse"
			predictor.Quantiles, predictor.Draws, predictor.Seed, predictor.Untempered = quantiles, draws, run.Spec.Seed, untempered
			var noted []string
			predictor.Note = func(text string) { noted = append(noted, text) }
			if cmd.Flags().Changed("threshold") {
				if predictor.Threshold, err = thresholdOf(run, threshold); err != nil {
					return err
				}
				noted = append(noted, predictor.Threshold.Words(predictor.Classes()))
			}
			predictor.Progress = func(done, rows int) { line.show(rowsDone("predict", done, rows)) }
			if through != "" {
				if predictor.Through, err = backboneOf(through, layer, options); err != nil {
					return err
				}
			}
			from := in
			if in == pipe {
				path, remove, err := spool(cmd.Context(), cmd.InOrStdin())
				if err != nil {
					return err
				}
				defer remove()
				from, in = path, "stdin"
			}
			var rows int
			if out == pipe {
				rows, err = predictor.To(cmd.Context(), from, bytesTo(cmd.OutOrStdout()))
			} else {
				rows, err = predictor.File(cmd.Context(), from, out)
			}
			if in == "stdin" {
				err = ofStdin(err, from)
				for i, note := range noted {
					noted[i] = strings.ReplaceAll(note, from, in)
				}
			}
			if err != nil && !(out == pipe && errors.Is(err, syscall.EPIPE)) { // a reader such as head that has read enough is no failure
				return err
			}
			line.end()
			writeNotes(cmd.ErrOrStderr(), noted)
			switch {
			case out == pipe:
				return nil
			case jsonOut:
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{"rows": rows, "out": out})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s of %s predicted, written to %s\n", numeral.Several(rows, "row"), filepath.Base(in), out)
			return err
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "`FILE` of inputs: CSV (packed with gzip or not), Parquet, NPY or IDX, or - for stdin")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of predictions: .csv or .npy, or - for a CSV on stdout")
	cmd.Flags().StringVar(&key, "key", "", "`COLUMN` of a table whose text is copied without the blanks around it, after the row: its name, or its number if there is no header")
	decideByThreshold(cmd, &threshold)
	cmd.Flags().Float64SliceVar(&quantiles, "quantiles", nil, "`LEVELS` of the quantiles of a number, above 0 and below 1; as in .1,.5,.9 (default .05,.5,.95)")
	cmd.Flag("quantiles").DefValue = ""
	cmd.Flags().IntVar(&draws, "draws", 0, "add so many draws (`N`) of each row's target from the posterior predictive distribution")
	cmd.Flags().StringVar(&missing, "missing", "fill", "what becomes of missing inputs of a table: `fill` or refuse")
	cmd.Flags().StringVar(&through, "backbone", "", "the run is a head on features of this `RUN|CONFIG`, and the file has inputs of that network")
	cmd.Flags().StringVar(&layer, "layer", "", "with --backbone: the layer `NAME` whose inputs are the features, as starling features has it")
	dataDir(cmd, &options.DataDir)
	decideByMeanLogits(cmd, &meanLogits)
	cmd.Flags().BoolVar(&untempered, "untempered", false, "write the ensemble's probabilities, or laws of numbers, without the run's temperature")
	cmd.Flags().BoolVar(&safe, "safe-csv", false, "write an apostrophe before names of classes and keys that spreadsheets take for formulas")
	forced(cmd, &force)
	threads(cmd, &options.Threads)
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}
