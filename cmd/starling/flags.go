package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
)

// Flags that several commands share.

// dataDir adds --data-dir, which defaults to the environment.
func dataDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data-dir", os.Getenv("STARLING_DATA"), "folder `DIR` of the data sets that are not built in (default $STARLING_DATA)")
	cmd.Flag("data-dir").DefValue = ""
}

// otherData adds --data, the examples to evaluate runs on, and --labels, which belong to the inputs of some flag.
func otherData(cmd *cobra.Command, on *starling.On, inputs string) {
	cmd.Flags().StringVar(&on.Data, "data", "", "`SET|FILE` to evaluate on instead: a set's name (starling data list), a CSV with the target's column, or an .npy or IDX of inputs, which needs --labels")
	cmd.Flags().StringVar(&on.Labels, "labels", "", "`FILE` of the labels that belong to "+inputs)
}

// asJSON adds --json.
func asJSON(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print one JSON object")
}

// quietly adds --quiet, for commands that may take long.
func quietly(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "quiet", false, "show no progress on stderr")
}

// threads adds --threads, whose value checkThreads checks.
func threads(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "threads", 0, "compute with `N` threads; the result does not depend on it (default: one a CPU)")
}

// decideByMeanLogits adds --mean-logits.
func decideByMeanLogits(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "mean-logits", false, "tell foreign inputs by the energy of the members' mean logits instead of the mean of their energies")
}

// decideByThreshold adds --threshold.
func decideByThreshold(cmd *cobra.Command, text *string) {
	cmd.Flags().StringVar(text, "threshold", "", "of two classes, answer `CLASS=P` where its probability is at least P, and else the other, as in yes=0.2")
}

// thresholdOf reads the value of --threshold for a run.
func thresholdOf(run *starling.Run, text string) (*eval.Threshold, error) {
	t, err := eval.ParseThreshold(text, run.Predictor(starling.Options{}).Classes())
	if err != nil {
		return nil, wrongUse("--threshold %w", err)
	}
	return t, nil
}

// checkMeanLogits refuses --mean-logits for a run that has no threshold to decide by.
func checkMeanLogits(on bool, run *starling.Run) error {
	switch {
	case !on:
		return nil
	case run.Net.Likelihood().Regression():
		return wrongUse("--mean-logits is for classes, and the run in %s predicts numbers, which have no energy: leave it out", run.Dir)
	case run.Decision == nil || run.Decision.Foreign == nil:
		return wrongUse("--mean-logits needs a threshold of the energy, which a run with validation examples keeps, and the run in %s has none: leave it out", run.Dir)
	}
	return nil
}

// mostThreads is more than any machine has CPUs for. Each thread takes memory, and threads beyond the CPUs gain nothing.
const mostThreads = 4096

func checkThreads(n int) error {
	if all := runtime.GOMAXPROCS(0); n == 0 && all > mostThreads {
		return wrongUse("GOMAXPROCS=%d: want a number from 1 to %d; more threads than CPUs gain nothing", all, mostThreads)
	}
	if n < 0 || n > mostThreads {
		return wrongUse("--threads %d: want a number from 1 to %d, or 0 for one a CPU; more threads than CPUs gain nothing", n, mostThreads)
	}
	return nil
}

// forced adds --force, for commands that write a file which checkNew checks.
func forced(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "force", false, "replace any file, also one that starling did not write")
}

// checkFile refuses the value of a flag that cannot be written to as a file, or is a file of a run.
func checkFile(flag, out string) error {
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return wrongUse("%s %s is a folder, want a file", flag, out)
	case out == "-" || strings.HasPrefix(filepath.Clean(out), "/dev/") || err == nil && !info.Mode().IsRegular():
		return wrongUse("%s %s is not a regular file: name a file, which is written as a whole or not at all", flag, out)
	case starling.IsRunFile(out):
		return wrongUse("%s %s is a file of the run in %s, which would be lost: name another", flag, out, filepath.Dir(out))
	}
	return nil
}

// columnNames is a flag that takes names with commas between them, and may be repeated.
type columnNames struct{ names *[]string }

// columnsFlag adds such a flag.
func columnsFlag(cmd *cobra.Command, names *[]string, flag, usage string) {
	cmd.Flags().Var(columnNames{names}, flag, usage+"; commas stand between them, and a name with a comma or a quote in double quotes")
}

// Set implements pflag.Value.
func (c columnNames) Set(text string) error {
	if text == "" { // the column without a name, as of an index that pandas writes; nothing to encoding/csv
		*c.names = append(*c.names, "")
		return nil
	}
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 1 {
		return fmt.Errorf("want names with commas between them; a name with a comma or a quote stands in double quotes, in which a quote is doubled, as in %s",
			quoted(`"the ""z"", in m"`))
	}
	*c.names = append(*c.names, records[0]...)
	return nil
}

// String implements pflag.Value.
func (c columnNames) String() string { return "" }

// Type implements pflag.Value.
func (c columnNames) Type() string { return "COLUMNS" }
