package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// peakOf runs the program with some variables of the environment, and returns its peak memory in MB.
func peakOf(t *testing.T, variables []string, args ...string) int64 {
	t.Helper()
	program, err := exec.LookPath("starling")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append(args, "--threads", "2")...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=")
	}), variables...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("starling %v: %v: %s", args, err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
}

// The peak memory of an evaluation of a run that kept 1,000 members, which have 26 MB, is that of a run that kept 10.
func TestEvaluateMemoryOfMembers(t *testing.T) {
	testkit.Elsewhere(t)
	kept := func(after string) int64 {
		run := filepath.Join(t.TempDir(), "run")
		peakOf(t, nil, "fit", "testdata/trees.yaml", "--out", run,
			"--set", "map=null", "--set", "prior.anchor=null", "--set", "model.layers=[{dense: 800}, tanh, {dense: 3}]",
			"--set", "method={smc: {particles: 10, path: {full: {iterations: 101}}, move: {epoch: {step: 1.0e-3, batch: 50}}, start: prior, keep: {after: "+after+"}}}")
		return peakOf(t, nil, "evaluate", run)
	}
	if few, many := kept("100"), kept("1"); many > few+8 {
		t.Errorf("10 members: %d MB, 1,000 members: %d MB", few, many)
	}
}

// The command that evaluates limits its garbage, unless the environment does: on the built-in digits it would take 15 MB more.
func TestEvaluateMemoryOfGarbage(t *testing.T) {
	testkit.Elsewhere(t)
	run := filepath.Join(t.TempDir(), "run")
	peakOf(t, nil, "fit", "mnist7-map", "--out", run, "--set", "map.epochs=1")
	if limited, free := peakOf(t, nil, "evaluate", run), peakOf(t, []string{"GOGC=100"}, "evaluate", run); limited > free-4 {
		t.Errorf("%d MB, %d MB with GOGC=100", limited, free)
	}
}
