package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
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
	if cmd.Flags().Changed("seed") {
		seed, err := strconv.ParseUint(f.seed, 10, 64)
		if err != nil {
			return wrongUse("--seed %q: want a whole number from 0 to %d", f.seed, uint64(math.MaxUint64))
		}
		f.set = append(f.set, fmt.Sprint("seed=", seed))
	}
	spec, err := readSpec(args[0], f.set)
	if err != nil {
		return err
	}
	folder, err := f.folder(spec.Name)
	if err != nil {
		return err
	}
	written := false
	defer func() {
		if !written {
			folder.Release()
		}
	}()
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
	if err := folder.Write(result); err != nil {
		return fmt.Errorf("the run is done but could not be written: %w", err)
	}
	written = true
	if f.json {
		tell(os.Stderr, result.Notes)
		if line != nil {
			fmt.Fprintln(os.Stderr, "written to "+folder.Dir)
		}
		return result.Metrics.WriteJSON(stdout)
	}
	report(stdout, &result.Spec, result.Metrics, result.Data)
	tell(stdout, result.Notes)
	_, err = fmt.Fprintln(stdout, "written to "+folder.Dir)
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

// folder takes the run's folder: the one asked for, or the first of runs/NAME, runs/NAME-2, … that does not exist.
func (f *fit) folder(name string) (*starling.Folder, error) {
	dir := f.out
	if dir == "" {
		dir = filepath.Join("runs", name)
	}
	folder, err := starling.TakeFolder(dir)
	for i := 2; f.out == "" && errors.Is(err, fs.ErrExist); i++ {
		folder, err = starling.TakeFolder(fmt.Sprintf("%s-%d", dir, i))
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, wrongUse("%s exists: choose another --out, or leave it out for the next free name", dir)
	case err != nil:
		return nil, wrongUse("cannot write a run to %s: %w", dir, err)
	}
	return folder, nil
}
