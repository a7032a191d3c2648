package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
)

func newFit() *cobra.Command {
	var f fit
	cmd := &cobra.Command{
		Use:   "fit CONFIG|PRESET",
		Short: "Train a network, judge it, and keep the run in a folder",
		Long: `Fit trains the network that a config file or a preset describes, samples its posterior, judges the ensemble on
the test examples, and writes all of it to a folder: runs/NAME, or runs/NAME-2 and so on where that exists.`,
		Example: `  starling fit mnist7
  starling fit mine.yaml --out runs/mine --seed 2 --set method.smc.islands=4`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.Presets(), cobra.ShellCompDirectiveDefault
		},
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder of the run, which must not exist yet")
	flags.StringVar(&f.seed, "seed", "", "seed of everything random, instead of the config's")
	flags.IntVar(&f.threads, "threads", 0, "threads that compute; the result does not depend on it (default: one a CPU)")
	flags.StringArrayVar(&f.set, "set", nil, "change the config: a dotted path, list items by index, a YAML value; repeatable")
	dataDir(cmd, &f.dataDir)
	asJSON(cmd, &f.json)
	return cmd
}

type fit struct {
	out, seed, dataDir string
	threads            int
	set                []string
	json               bool
}

func (f *fit) run(cmd *cobra.Command, args []string) error {
	if f.threads < 0 {
		return wrongUse("--threads %d: want a number from 1, or 0 for one a CPU", f.threads)
	}
	if f.seed != "" {
		f.set = append(f.set, "seed="+f.seed)
	}
	spec, err := readSpec(args[0], f.set)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = free(filepath.Join("runs", spec.Name))
	}
	if err := vacant(dir); err != nil {
		return err
	}
	stdout, line := cmd.OutOrStdout(), newProgress(os.Stderr)
	result, err := starling.Fit(cmd.Context(), spec, starling.Options{
		Threads: f.threads, DataDir: f.dataDir,
		Progress: func(e starling.Event) {
			if l, ok := e.(*starling.Loaded); ok {
				switch {
				case !f.json:
					fmt.Fprintln(stdout, header(l))
				case line != nil:
					fmt.Fprintln(os.Stderr, header(l))
				}
			}
			if line != nil {
				line.event(e)
			}
		},
	})
	if line != nil {
		line.end()
	}
	if err != nil {
		return err
	}
	if err = starling.WriteRun(dir, result); errors.Is(err, fs.ErrExist) {
		dir = free(dir) // another run took the name meanwhile
		err = starling.WriteRun(dir, result)
	}
	if err != nil {
		return fmt.Errorf("the run is done but could not be written: %w", err)
	}
	if f.json {
		if line != nil {
			fmt.Fprintln(os.Stderr, "written to "+dir)
		}
		return result.Metrics.WriteJSON(stdout)
	}
	report(stdout, &result.Spec, result.Metrics, result.Data)
	for _, note := range result.Notes {
		fmt.Fprintln(stdout, note)
	}
	_, err = fmt.Fprintln(stdout, "written to "+dir)
	return err
}

// readSpec reads a config file, or else the preset of that name.
func readSpec(name string, set []string) (starling.Spec, error) {
	text, err := os.ReadFile(name)
	switch {
	case err == nil:
		return starling.ParseSpec(name, text, set...)
	case !errors.Is(err, fs.ErrNotExist):
		return starling.Spec{}, usageError{err}
	case strings.ContainsAny(name, `/\.`):
		return starling.Spec{}, wrongUse("no config file %s (and presets are %s)", name, strings.Join(starling.Presets(), ", "))
	}
	return starling.Preset(name, set...)
}

// free is dir, or dir-2, dir-3, … if that exists.
func free(dir string) string {
	name := dir
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", dir, i)
	}
}

// vacant makes sure, before hours of work, that a run can be written to dir.
func vacant(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return wrongUse("%s exists: choose another --out, or leave it out for the next free name", dir)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	for { // the nearest folder that exists
		if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) || parent == filepath.Dir(parent) {
			break
		}
		parent = filepath.Dir(parent)
	}
	probe, err := os.MkdirTemp(parent, ".starling-*")
	if err != nil {
		return wrongUse("cannot write a run to %s: %w", dir, err)
	}
	return os.Remove(probe)
}
