package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/table"
	pages "github.com/starling-smc/starling/report"
	"github.com/starling-smc/starling/uq"
)

func newCompare() *cobra.Command {
	var (
		options starling.Options
		out     string
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Put runs side by side",
		Long: `Compare judges each run on its own test examples and prints their scores, evidence and cost side by side; --out
writes a page of them, complete in itself. Runs that were judged on different examples are marked.`,
		Example: `  starling compare runs/mnist7 runs/mnist7-smc
  starling compare runs/mnist7 runs/mnist7-smc --out compare.html`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" {
				if err := checkFile("--out", out); err != nil {
					return err
				}
			}
			var runs []pages.Judged
			for i, name := range names(args) {
				run, judgement, err := judge(cmd, args[i], options)
				if err != nil {
					return err
				}
				runs = append(runs, pages.Judged{Name: name, Run: run, Judgement: judgement})
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
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), comparison(c, args, out))
			}
			var t table.Table
			for _, row := range c.Rows() {
				t.Add(row...)
			}
			t.Write(cmd.OutOrStdout())
			fmt.Fprintln(cmd.OutOrStdout())
			for _, r := range runs {
				wrap(cmd.OutOrStdout(), r.Name+": "+pages.Method(&r.Spec))
			}
			tell(cmd.OutOrStdout(), append(c.Warnings, c.Notes...))
			if out != "" {
				fmt.Fprintln(cmd.OutOrStdout(), "written to "+out)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write a page of the comparison to this `FILE`, too")
	computes(cmd, &options)
	asJSON(cmd, &jsonOut)
	return cmd
}

// names are those of the runs' folders or, where two are alike, their whole paths.
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

// aurocBy says which doubt a group is found by, for the keys of metrics that say how well.
var aurocBy = map[string]string{"auroc": "epistemic entropy", "auroc_max_probability": "highest probability", "auroc_energy": "energy"}

// comparison is the JSON of runs side by side.
func comparison(c *pages.Comparison, dirs []string, page string) map[string]any {
	type run struct {
		Name       string            `json:"name"`
		Dir        string            `json:"dir"`
		Method     string            `json:"method"`
		Parameters int               `json:"parameters"`
		Networks   int               `json:"networks"`
		Gradients  int               `json:"gradients"`                      // of sampling, in examples, over all particles
		Work       uq.Number         `json:"work_seconds"`                   // without pauses and evaluation
		Most       bool              `json:"work_seconds_at_most,omitempty"` // so many, as pauses may be in them
		Evaluation uq.Number         `json:"evaluation_seconds"`             // 0: not known
		Checksum   string            `json:"checksum"`                       // of the examples that it was judged on
		Metrics    *starling.Metrics `json:"metrics"`
	}
	var runs []run
	for i, r := range c.Runs {
		seconds, most := pages.Work(r.Run)
		runs = append(runs, run{r.Name, dirs[i], pages.Method(&r.Spec), r.Net.Dim(), r.Posterior.Size(), pages.Gradients(r.Run),
			uq.Number(seconds), most, uq.Number(r.Manifest.EvaluationSeconds), r.Set().Checksum(), r.Metrics})
	}
	all := map[string]any{"runs": runs, "same_examples": c.Warnings == nil}
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
