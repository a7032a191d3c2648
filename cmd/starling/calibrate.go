package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

func newCalibrate() *cobra.Command {
	var c calibrate
	cmd := &cobra.Command{
		Use:   "calibrate RUN",
		Short: "Learn when a run should abstain, from examples it has not seen",
		Long: `Calibrate learns what a finished run decides by, from labelled examples that it has not seen, and replaces the run's decision.json.
The rest of the run stays as it is. Predict then says it of every row, and evaluate scores it.

What is learnt is the block decide of the run's config, as --set changes it: a temperature, which corrects how sure the run is; sets of
classes, or intervals of numbers, that hold the truth at a promised rate; and a threshold of a score above which a row abstains. Without a
block it is temperature: true, sets: {rate: 0.9}, abstain: {at: {coverage: 0.9}}; starling help config decide has all there is. The temperature is learnt from the validation examples, or
from a third of the others where the run has none.

--data are examples that neither trained nor validated, and on which the run is not scored: a decision that is learnt from examples which the
run has seen is too sure. Without --data they are the run's own calibration examples (data.calibrate, data.csv.calibrate,
data.split.calibrate). --ood are inputs of no class of the run, such as those that it will meet by mistake: a classifier of wrong answers
learns from them, too.

A process that is killed leaves the old decision or the new one, whole.`,
		Example: `  starling calibrate runs/mine --data fresh.csv
  starling calibrate runs/mine --data fresh.csv --set decide.sets.rate=0.99
  starling calibrate runs/iris --data a.csv --set 'decide.abstain.at={risk: .1}'
  starling calibrate runs/digits --data x.npy --labels y.npy --ood noise.npy
  starling calibrate runs/mnist7 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&c.from.Data, "data", "", "`SET|FILE` of labelled examples that the run has not seen: a CSV with the target's column, or an .npy or IDX of inputs, which needs --labels (default: the run's own calibration examples)")
	cmd.Flags().StringVar(&c.from.Labels, "labels", "", "`FILE` of the labels that belong to --data")
	cmd.Flags().StringArrayVar(&c.from.OOD, "ood", nil, "`SET|FILE` of out-of-distribution inputs that are known beforehand; repeatable")
	cmd.Flags().StringArrayVar(&c.set, "set", nil, "change what is learnt, `KEY=VALUE`: decide and a dotted path, a YAML value, null to leave out; repeatable")
	c.flags(cmd)
	return cmd
}

type calibrate struct {
	evaluation
	from starling.Calibration
	set  []string
}

func (c *calibrate) run(cmd *cobra.Command, dir string) error {
	if err := checkThreads(c.options.Threads); err != nil {
		return err
	}
	if c.from.Labels != "" && c.from.Data == "" {
		return wrongUse("--labels needs --data, the inputs that they belong to")
	}
	for _, set := range c.set {
		if key, _, _ := strings.Cut(set, "="); key != "decide" && !strings.HasPrefix(key, "decide.") {
			return wrongUse("--set %s: calibrate changes what is learnt alone, as in --set decide.sets.rate=0.99", set)
		}
	}
	line := c.progress()
	defer line.end()
	line.show(method.Status{Phase: "calibrating " + dir})
	run, err := openRunBy(starling.OpenUndecided, dir) // a decision that is damaged is replaced, too
	if err != nil {
		return err
	}
	if c.from.Decide, err = run.Deciding(c.set...); err != nil {
		return err
	}
	var on *starling.Calibrated
	if !c.json {
		c.options.Progress = func(e starling.Event) { on, _ = e.(*starling.Calibrated) }
	}
	learnt, found, err := run.Calibrate(cmd.Context(), c.from, c.options)
	if err != nil {
		return err
	}
	for _, f := range found {
		line.say(f.Words())
	}
	line.end()
	if c.json {
		return jsontext.Write(cmd.OutOrStdout(), learnt)
	}
	return showLearnt(cmd.OutOrStdout(), run, c.from.Decide, learnt, on)
}

// showLearnt says what a decision learnt, how it does on the examples that taught it, and what to do next.
func showLearnt(out io.Writer, run *starling.Run, by *decide.Settings, d *eval.Decision, on *starling.Calibrated) error {
	const width = 11
	row := func(name, text string) { beside(out, fmt.Sprintf("%-*s", width, name), text) }
	numbers := run.Net.Likelihood().Regression()
	from := "the run's validation examples"
	if _, validated := d.From["validate"]; !validated {
		from = "a third of the examples, which teaches nothing else"
	}
	effect, m := "", on.Does
	if m.Tempered != nil {
		effect = fmt.Sprintf("; it takes the NLL of the %s from %s to %s", numeral.Several(on.Examples, on.Part+" example"), significant(m.NLL), significant(m.Tempered.NLL))
	}
	if t := d.Temperature; t != nil {
		row("temperature", fmt.Sprintf("%s, learnt from %s: %s%s", significant(uq.Number(t.Posterior)), from, sides(t.Posterior, "too sure", "too modest"), effect))
	}
	if f := d.Factor; f != nil {
		row("width", fmt.Sprintf("times %s, learnt from %s: %s%s", significant(uq.Number(f.Posterior)), from, sides(f.Posterior, "too narrow", "too wide"), effect))
	}
	if s := d.Sets; s != nil {
		row("sets", fmt.Sprintf("that hold the class at a rate of %v (%s), learnt from %s%s", by.Sets.Rate, decide.Scores.Name(by.Sets.Score),
			numeral.Several(s.Examples, "example"), sized(m, "classes each on average")))
	}
	if s := d.Intervals; s != nil {
		row("intervals", fmt.Sprintf("that hold the target at a rate of %v, learnt from %s%s", by.Sets.Rate, numeral.Several(s.Examples, "example"), sized(m, "wide on average")))
	}
	if rule := d.Abstain; rule != nil {
		a, err := by.Abstain.Complete(numbers)
		if err != nil {
			return err
		}
		taught := "as it was given"
		if rule.Examples > 0 {
			taught = "learnt from " + numeral.Several(rule.Examples, "example")
		}
		text := fmt.Sprintf("by %s, threshold %s, %s", a.By, significant(rule.Threshold), taught)
		if !rule.Kept {
			text = fmt.Sprintf("every row: no threshold of %s will do", a.By)
		} else if m.Abstention != nil {
			text += fmt.Sprintf(": it refuses %s of the %s examples", percent(1-m.Abstention.Share), on.Part)
			if !math.IsNaN(float64(m.Abstention.Error)) {
				text += fmt.Sprintf(", and %s of its answers are wrong", percent(m.Abstention.Error))
			}
		}
		row("abstain", text)
	}
	fmt.Fprintf(out, "the decision of %s is replaced; to go on:\n", run.Dir)
	for _, next := range []string{"predict %s --in FILE --out FILE", "evaluate %s", "report %s"} {
		fmt.Fprintf(out, "  starling "+next+"\n", run.Dir)
	}
	return nil
}

// sides says what a temperature, or a factor, above 1 or below it means.
func sides(t float64, above, below string) string {
	switch {
	case t > 1.005:
		return "the ensemble is " + above
	case t < 0.995:
		return "the ensemble is " + below
	}
	return "the ensemble is about right"
}

// sized says how large sets or intervals are.
func sized(m *eval.Metrics, unit string) string {
	if size := cmp.Or(m.Sets.Size, m.Sets.Width); size != nil {
		return fmt.Sprintf(": %s %s", significant(*size), unit)
	}
	return ""
}
