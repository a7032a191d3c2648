package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
)

// What the verbs that read runs, or make them, have in common.

// openRun reads a run's folder; one that is none, or of a run that is not done, is wrong use.
func openRun(dir string) (*starling.Run, error) {
	run, err := starling.OpenRun(dir)
	var bad *starling.DataError
	if err != nil && !errors.As(err, &bad) {
		err = usageError{err}
	}
	return run, err
}

// checkFile refuses what a flag names if it cannot be a file, or belongs to a run.
func checkFile(flag, out string) error {
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return wrongUse("%s %s is a folder, want a file", flag, out)
	case out == "-" || strings.HasPrefix(filepath.Clean(out), "/dev/") || err == nil && !info.Mode().IsRegular():
		return wrongUse("%s %s is no file: name one to write, which is then there as a whole or not at all", flag, out)
	case starling.IsRunFile(out):
		return wrongUse("%s %s is a file of the run in %s, which would be lost: name another", flag, out, filepath.Dir(out))
	}
	return nil
}

// judge reads a run and judges it on its own data.
func judge(cmd *cobra.Command, dir string, o starling.Options) (*starling.Run, *starling.Judgement, error) {
	if err := checkThreads(o.Threads); err != nil {
		return nil, nil, err
	}
	run, err := openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	judgement, err := run.Judge(cmd.Context(), starling.On{}, o)
	return run, judgement, err
}

// computes adds the flags of verbs that judge runs.
func computes(cmd *cobra.Command, o *starling.Options) {
	threads(cmd, &o.Threads)
	dataDir(cmd, &o.DataDir)
}

// threads adds --threads, whose value checkThreads checks.
func threads(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "threads", 0, "compute with `N` threads; the result does not depend on it (default: one a CPU)")
}

func checkThreads(n int) error {
	if n < 0 {
		return wrongUse("--threads %d: want a number from 1, or 0 for one a CPU", n)
	}
	return nil
}
