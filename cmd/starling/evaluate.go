package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
)

func newEvaluate() *cobra.Command {
	var e evaluate
	cmd := &cobra.Command{
		Use:   "evaluate [RUN]",
		Short: "Evaluate a run again, or score any program's predictions",
		Long: `Evaluate reads the ensembles of a run's folder and scores them: on the run's own test examples, with the same
figures as fit printed and those of each class, or on other data, standardised as the run's were; and on out-of-distribution inputs. A run with
validation examples keeps a threshold of the energy, which 95 % of them are below: a table says which inputs it declares
out of distribution.

Columns of a table to evaluate on are found by their names, and those that the run's table had not are ignored.

With --probs it scores the class probabilities of any other program, an .npy of shape [examples, classes] or
[particles, examples, classes], against labels: .npy, IDX or a CSV of one column. Labels count from 0. Where a run is given,
too, they may be the names of its classes.

--against compares the probabilities of a run, or those of --probs, with a reference, such as a long Markov chain: how many examples
have the same most probable class, and how far the probabilities are apart (total variation). The file has a row for each example
that is evaluated, in their order; starling split lists those of a table.`,
		Example: `  starling evaluate runs/mnist7
  starling evaluate runs/mine --data new.csv --json
  starling evaluate runs/mine --data x.npy --labels y.npy --ood noise.npy
  starling evaluate runs/mine --data x.npy --labels y.npy --classes 0=1,1=none
  starling evaluate runs/mine --members table
  starling evaluate runs/mnist7-smc --islands 0,1
  starling evaluate runs/churn --threshold yes=0.2
  starling evaluate runs/mine --against reference.npy
  starling evaluate --probs probabilities.npy --labels labels.npy
  starling evaluate runs/mine --probs probabilities.npy --labels names.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("probs") {
				return e.scores(cmd, args)
			}
			return e.run(cmd, args)
		},
	}
	otherData(cmd, &e.on, "--data or --probs")
	cmd.Flags().StringArrayVar(&e.on.OOD, "ood", nil, "`SET|FILE` of out-of-distribution inputs; repeatable")
	cmd.Flags().StringVar(&e.probs, "probs", "", "`FILE` of class probabilities to score, instead of a run's")
	cmd.Flags().StringVar(&e.weights, "weights", "", "`FILE` of the weights of the particles in --probs (default: all equal)")
	cmd.Flags().StringVar(&e.against, "against", "", "`FILE` of a reference's class probabilities, as those of --probs, to compare with")
	cmd.Flags().StringVar(&e.classes, "classes", "", "`MAP` of the classes of --data to the network's, as 0=0,1=2,7=none, where they are others")
	cmd.Flags().StringVar(&e.members, "members", "", "evaluate `M` of the posterior's members, those kept last; or table, which shows what 1, 5, 10, 20, 30 and all of them score")
	cmd.Flags().IntSliceVar(&e.on.Islands, "islands", nil, "evaluate these islands or chains of the posterior alone, `P,P…` counted from 0")
	decideByThreshold(cmd, &e.threshold)
	decideByMeanLogits(cmd, &e.meanLogits)
	e.flags(cmd)
	return cmd
}

type evaluate struct {
	evaluation
	on             starling.On
	probs, weights string
	members        string
	against        string
	reference      *eval.Reference // of --against; nil: none
	classes        string
	meanLogits     bool
	threshold      string
	decide         *eval.Threshold // of --threshold; nil: none
}

// run evaluates a run.
func (e *evaluate) run(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return wrongUse("name a run's folder, or --probs FILE --labels FILE")
	case cmd.Flags().Changed("weights"):
		return wrongUse("--weights are for --probs: a run has its own")
	case e.on.Labels != "" && e.on.Data == "":
		return wrongUse("--labels needs --data, the inputs that they belong to")
	case cmd.Flags().Changed("classes") && e.on.Data == "":
		return wrongUse("--classes needs --data, whose classes are not the run's")
	case cmd.Flags().Changed("classes") && e.against != "":
		return wrongUse("--against is for data with the classes of the run: leave --classes out")
	}
	if cmd.Flags().Changed("classes") {
		var err error
		if e.on.Classes, err = data.ParseClassMap(e.classes); err != nil {
			return wrongUse("--classes %w", err)
		}
	}
	if err := e.some(cmd); err != nil {
		return err
	}
	line := e.progress()
	defer line.end()
	run, a, err := e.of(cmd, args[0], e.on, line, func(run *starling.Run) (err error) {
		if err = e.suits(run); err == nil && cmd.Flags().Changed("threshold") {
			e.decide, err = thresholdOf(run, e.threshold)
		}
		if err == nil && e.against != "" {
			e.reference, err = eval.ReadReference(e.against, run.Net.Classes(), run.Schema.Names)
		}
		return err
	})
	if err == nil && e.reference != nil {
		err = a.Compare(e.reference)
	}
	if err != nil {
		return err
	}
	line.end()
	if e.decide != nil {
		a.Decide(e.decide, run.Predictor(e.options).Classes())
	}
	if e.json {
		return a.Metrics.WriteJSON(cmd.OutOrStdout())
	}
	showMetrics(cmd.OutOrStdout(), &run.Spec, &run.Ensembles, a, true)
	showByClass(cmd.OutOrStdout(), a.Metrics)
	showDecided(cmd.OutOrStdout(), a.Metrics.Decided)
	showAgainst(cmd.OutOrStdout(), a.Metrics.Against)
	showAllClasses(cmd.OutOrStdout(), a.Metrics)
	showDetection(cmd.OutOrStdout(), a.Metrics.Groups, e.on.Members, e.meanLogits)
	showDecisions(cmd.OutOrStdout(), a, true)
	if e.members == membersTable {
		showMembers(cmd.OutOrStdout(), a.Metrics.Members)
	}
	writeNotes(cmd.OutOrStdout(), run.Notes())
	showMore(cmd.OutOrStdout(), run.Findings, a.Findings(&run.Ensembles, run.Spec.Method.Needs().Whole))
	return nil
}

// membersTable is the value of --members that asks for the table.
const membersTable = "table"

// suits refuses what a run has no use for.
func (e *evaluate) suits(run *starling.Run) error {
	if e.members == membersTable && run.Net.Likelihood().Regression() {
		return wrongUse("--members table is for classes, and the run in %s predicts numbers: take a number of members, as in --members 10", run.Dir)
	}
	if e.members == membersTable && run.Posterior.Alive() == 1 {
		return wrongUse("--members table needs several members, and the posterior of the run in %s is one network: leave --members out", run.Dir)
	}
	if e.against != "" && run.Net.Likelihood().Regression() {
		return wrongUse("--against is for classes, and the run in %s predicts numbers: leave it out", run.Dir)
	}
	return checkMeanLogits(e.meanLogits, run)
}

// some takes the number of members from its flag.
func (e *evaluate) some(cmd *cobra.Command) (err error) {
	if e.on.Fewer = e.members == membersTable; e.on.Fewer || !cmd.Flags().Changed("members") {
		return nil
	}
	if e.on.Members, err = strconv.Atoi(e.members); err != nil || e.on.Members < 1 {
		return wrongUse("--members %s: want a number from 1, or %s", e.members, membersTable)
	}
	return nil
}

// scores scores another program's predictions. A run gives the names of the classes.
func (e *evaluate) scores(cmd *cobra.Command, args []string) error {
	for _, flag := range []string{"data", "classes", "ood", "islands", "members", "threshold", "mean-logits", "threads", "data-dir"} {
		if cmd.Flags().Changed(flag) {
			return wrongUse("--%s is for a run, --probs for another program's predictions", flag)
		}
	}
	if e.on.Labels == "" {
		return wrongUse("name the file of labels: --labels FILE")
	}
	var names []string
	if len(args) > 0 {
		run, err := openRun(args[0])
		if err != nil {
			return err
		}
		if run.Net.Likelihood().Regression() {
			return wrongUse("--probs are of classes, and the run in %s predicts numbers: leave the run out, or name one that predicts the classes", run.Dir)
		}
		names = run.Schema.Names
	}
	scores, err := eval.ScoreFiles(e.probs, e.on.Labels, e.weights, names)
	if err == nil && e.against != "" {
		if e.reference, err = eval.ReadReference(e.against, scores.Classes, names); err == nil {
			err = scores.Compare(e.reference)
		}
	}
	switch {
	case err != nil:
		return err
	case e.json:
		return jsontext.Write(cmd.OutOrStdout(), scores)
	}
	showScores(cmd.OutOrStdout(), scores)
	return nil
}
