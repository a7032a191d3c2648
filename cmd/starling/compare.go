package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/table"
	pages "github.com/starling-smc/starling/report"
	"github.com/starling-smc/starling/uq"
)

func newCompare() *cobra.Command {
	var (
		e             evaluation
		on            starling.On
		out           string
		force, byCost bool
	)
	cmd := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare runs side by side",
		Long: `Compare evaluates each run on its own test examples and prints side by side in which settings the configs differ, what the
runs score, whether they sampled, and what they cost. Runs that were evaluated on other examples than the first are marked with †, and a
score on training examples says so. With --data all runs are evaluated on the same examples. Where a run's own data are gone, starling
cannot know whether the run learnt from these examples: then a score says "train?". A score with ≈ cannot be told from the best of its row:
their paired difference is within two standard errors.

With --out it also writes an HTML page that needs no other file. Its ROC curves of out-of-distribution inputs have a band over runs whose
configs differ in the seed alone. A file that is there already is replaced only if it is such a page, or
with --force. Gradients are counted per example and network, in all and in each phase of a run. With --by-cost the run that took the
fewest is first.`,
		Example: `  starling compare runs/mnist7 runs/mnist7-chains
  starling compare runs/mnist7-* --by-cost
  starling compare runs/mine runs/mine-2 --data held-out.csv
  starling compare runs/mnist7 runs/mnist7-smc --out compare.html`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if on.Labels != "" && on.Data == "" {
				return wrongUse("--labels needs --data, the inputs that they belong to")
			}
			if out != "" {
				if err := checkNew("--out", out, written{"a page of starling compare", pages.IsComparison}, force); err != nil {
					return err
				}
			}
			line := e.progress()
			defer line.end()
			var runs []pages.Evaluated
			for i, name := range names(args) {
				run, a, err := e.of(cmd, args[i], on, line, nil)
				if err != nil {
					return err
				}
				runs = append(runs, pages.Evaluated{Name: name, Run: run, Assessment: a})
			}
			line.end()
			if byCost {
				pages.ByCost(runs)
			}
			c, err := pages.NewComparison(runs)
			if err != nil {
				return usageError{err}
			}
			if out != "" {
				var page bytes.Buffer
				if err := c.Write(&page); err != nil {
					return err
				}
				if err := ckpt.WriteFile(out, page.Bytes()); err != nil {
					return err
				}
			}
			if e.json {
				return jsontext.Write(cmd.OutOrStdout(), comparison(c, out))
			}
			showDifferences(cmd.OutOrStdout(), c)
			var t table.Table
			for _, row := range c.Rows() {
				t.Add(row...)
			}
			t.Write(cmd.OutOrStdout())
			if text := c.Alike(); text != "" {
				wrap(cmd.OutOrStdout(), text)
			}
			fmt.Fprintln(cmd.OutOrStdout())
			for _, r := range runs {
				wrap(cmd.OutOrStdout(), r.Name+": "+r.Spec.Title())
			}
			writeNotes(cmd.OutOrStdout(), append(c.Warnings, c.Notes...))
			if out != "" {
				fmt.Fprintln(cmd.OutOrStdout(), "written to "+out)
			}
			return nil
		},
	}
	otherData(cmd, &on, "--data")
	cmd.Flags().StringVar(&out, "out", "", "also write the comparison as a page to this `FILE`")
	cmd.Flags().BoolVar(&byCost, "by-cost", false, "order the runs by the gradients that they took, the fewest first")
	forced(cmd, &force)
	e.flags(cmd)
	return cmd
}

// longestValue is the number of characters that a value of a setting is shown with on a terminal.
const longestValue = 24

// showDifferences writes the settings in which the configs of runs differ.
func showDifferences(w io.Writer, c *pages.Comparison) {
	rows := c.Differences()
	if rows == nil {
		fmt.Fprintln(w, "the configs do not differ, but for their names")
	}
	var t table.Table
	for _, row := range rows {
		for i, cell := range row[1:] {
			if r := []rune(cell); len(r) > longestValue {
				row[i+1] = string(r[:longestValue-1]) + "…"
			}
		}
		t.Add(row...)
	}
	t.Write(w)
	fmt.Fprintln(w)
}

// names returns the names of the runs' folders, or their whole paths if two names are equal.
func names(dirs []string) []string {
	seen := map[string]int{}
	all := make([]string, len(dirs))
	for i, dir := range dirs {
		all[i] = filepath.Base(filepath.Clean(dir))
		seen[all[i]]++
	}
	for i, dir := range dirs {
		if seen[all[i]] > 1 {
			all[i] = filepath.Clean(dir)
		}
	}
	return all
}

// aurocBy names the score behind each AUROC, by the AUROC's key in metrics.json.
var aurocBy = map[string]string{"auroc": "epistemic entropy", "auroc_max_probability": "highest probability", "auroc_energy": "energy"}

// comparison is the JSON of a comparison of runs.
func comparison(c *pages.Comparison, page string) map[string]any {
	type run struct {
		Name       string        `json:"name"`
		Dir        string        `json:"dir"`
		Method     string        `json:"method"`
		Parameters int           `json:"parameters"`
		Random     int           `json:"random_parameters,omitempty"` // not given where all are random
		Networks   int           `json:"networks"`
		Gradients  *int          `json:"gradients"`                      // of single examples, in all phases; null: not counted
		Work       uq.Number     `json:"work_seconds"`                   // without pauses and evaluation
		Most       bool          `json:"work_seconds_at_most,omitempty"` // work_seconds is an upper bound: it may include pauses
		Evaluation uq.Number     `json:"evaluation_seconds"`             // 0: not known
		Behind     uq.Number     `json:"nll_behind"`                     // by how much the NLL is above the best; NaN on different examples
		BehindSE   uq.Number     `json:"nll_behind_standard_error"`      // of the paired difference
		Checksum   string        `json:"checksum"`                       // of the examples evaluated on
		Metrics    *eval.Metrics `json:"metrics"`
	}
	var runs []run
	for i, r := range c.Runs {
		behind, se := c.Behind(i)
		seconds, most := pages.Work(r.Run)
		var gradients *int
		if n, ok := pages.Gradients(r.Run); ok {
			gradients = &n
		}
		random := 0
		if r.Net.Partly() {
			random = r.Net.Dim()
		}
		runs = append(runs, run{r.Name, r.Dir, r.Spec.Title(), r.Net.Parameters(), random, r.Posterior.Size(), gradients,
			uq.Number(seconds), most, uq.Number(r.Manifest.EvaluationSeconds), uq.Number(behind), uq.Number(se), r.Set().Checksum(), r.Metrics})
	}
	differences := map[string][]string{}
	for _, row := range c.Differences()[min(1, len(c.Differences())):] {
		differences[row[0]] = row[1:]
	}
	all := map[string]any{"runs": runs, "same_examples": c.Warnings == nil, "differences": differences}
	if runs[0].Metrics.Accuracy != nil {
		all["auroc_by"] = aurocBy
	}
	if c.Notes != nil {
		all["notes"] = c.Notes
	}
	if page != "" {
		all["report"] = page
	}
	return all
}
