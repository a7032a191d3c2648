package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
)

func newFit() *cobra.Command {
	var f fit
	cmd := &cobra.Command{
		Use:   "fit CONFIG|PRESET",
		Short: "Train a network, judge it, and keep the run in a folder",
		Long: `Fit trains the network that a config file or a preset describes, samples its posterior, judges the ensemble on
the test examples, and writes all of it to a folder: runs/NAME, or runs/NAME-2 and so on where that exists.

The run is saved there every ten seconds and when it is interrupted. --resume goes on with it, after an interrupt or a
crash, and gives the same result, bit for bit, as a run that never stopped.

On a path of batches (data annealing) method.smc.start says where particles begin: prior, tempered, map, sgd, or init, the
network of model.init. For map and sgd, point estimates are searched: they stop early by the validation examples, after
300 epochs at most; where data.whole holds none out, they make 5 epochs, or map.epochs.`,
		Example: `  starling fit mnist7
  starling fit mine.yaml --out runs/mine --seed 2 --set map.restarts=4
  starling fit mine.yaml --out runs/mine --seed 2 --set map.restarts=4 --resume`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return starling.Presets(), cobra.ShellCompDirectiveDefault
		},
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder `DIR` of the run, which must not exist yet, but for --resume")
	flags.BoolVar(&f.resume, "resume", false, "go on with the run in --out, or in runs/NAME")
	flags.StringVar(&f.seed, "seed", "", "seed `N` of everything random, instead of the config's")
	flags.DurationVar(&f.every, "save-every", 10*time.Second, "least `TIME` between two states that are saved")
	flags.StringArrayVar(&f.set, "set", nil, "change the config, `KEY=VALUE`: a dotted path, list items by index, a YAML value; repeatable")
	cmd.MarkFlagDirname("out")
	threads(cmd, &f.threads)
	dataDir(cmd, &f.dataDir)
	asJSON(cmd, &f.json)
	return cmd
}

type fit struct {
	out, seed, dataDir string
	threads            int
	set                []string
	every              time.Duration
	resume, json       bool
}

func (f *fit) run(cmd *cobra.Command, args []string) error {
	if err := checkThreads(f.threads); err != nil {
		return err
	}
	if f.every <= 0 {
		return wrongUse("--save-every %v: want a time above 0, as in 30s", f.every)
	}
	if cmd.Flags().Changed("seed") {
		seed, err := strconv.ParseUint(f.seed, 10, 64)
		if err != nil {
			return wrongUse("--seed %q: want a whole number from 0 to %d", f.seed, uint64(math.MaxUint64))
		}
		f.set = append(f.set, fmt.Sprint("seed=", seed))
	}
	limitGarbage()
	began := time.Now()
	spec, err := readSpec(args[0], f.set)
	if err != nil {
		return err
	}
	folder, err := f.folder(spec.Name)
	if err != nil {
		return err
	}
	defer folder.Close()
	stdout, line := cmd.OutOrStdout(), newProgress(os.Stderr)
	result, err := starling.Fit(cmd.Context(), spec, starling.Options{
		Threads: f.threads, DataDir: f.dataDir, Folder: folder, Every: f.every, Memory: memoryLimit(os.DirFS("/")),
		Progress: func(e starling.Event) {
			switch e := e.(type) {
			case *starling.Loaded:
				switch {
				case !f.json:
					wrap(stdout, header(e))
				case line != nil:
					wrap(os.Stderr, header(e))
				}
			case *starling.Notice:
				fmt.Fprintln(os.Stderr, "starling: "+e.Text)
			}
			if line != nil {
				line.event(e)
			}
		},
	})
	if line != nil {
		line.end()
	}
	if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return f.saved(args[0], folder)
	}
	if err != nil {
		return err
	}
	showPage(result, folder.Dir)
	if f.json {
		tell(os.Stderr, result.Notes)
		if line != nil {
			fmt.Fprintln(os.Stderr, "written to "+folder.Dir)
			fmt.Fprintln(os.Stderr, spent(began))
		}
		return result.Metrics.WriteJSON(stdout)
	}
	showMetrics(stdout, &result.Spec, result.Trace, result.Metrics, result.Data, false)
	tell(stdout, result.Notes)
	fmt.Fprintln(stdout, "written to "+folder.Dir)
	_, err = fmt.Fprintln(stdout, spent(began))
	return err
}

// spent is what the command took: time, and memory where that is known.
func spent(began time.Time) string {
	text := "took " + seconds(time.Since(began))
	if most := peak(); most > 0 {
		text += fmt.Sprintf(" and %d MB of memory", (most+1<<20-1)>>20)
	}
	return text
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

// saved says how to go on.
func (f *fit) saved(config string, folder *starling.Folder) error {
	if !folder.Kept() {
		return interrupted{"nothing was saved"}
	}
	words := []string{"starling", "fit", config, "--out", folder.Dir}
	for _, set := range f.set { // --seed is one of them
		words = append(words, "--set", set)
	}
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"--data-dir", f.dataDir, f.dataDir != os.Getenv("STARLING_DATA")},
		{"--threads", strconv.Itoa(f.threads), f.threads != 0},
		{"--save-every", f.every.String(), f.every != 10*time.Second},
		{"--json", "", f.json},
	} {
		if flag.given {
			words = append(words, flag.name)
			if flag.value != "" {
				words = append(words, flag.value)
			}
		}
	}
	for i, word := range words {
		words[i] = quoted(word)
	}
	return interrupted{"the run is saved in " + folder.Dir + "; to go on with it:\n  " + strings.Join(words, " ") + " --resume"}
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || r == '=' || r == ':' || r == ',' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// folder takes the run's folder: the one asked for, or the first of runs/NAME, runs/NAME-2, … that does not exist; to go
// on with a run, the one asked for or runs/NAME.
func (f *fit) folder(name string) (*starling.Folder, error) {
	dir := f.out
	if dir == "" {
		dir = filepath.Join("runs", name)
	}
	take := starling.TakeFolder
	if f.resume {
		take = starling.ResumeFolder
	}
	folder, err := take(dir)
	if f.out != "" && !f.resume && errors.Is(err, fs.ErrExist) {
		folder, err = starling.RetakeFolder(dir)
	}
	for i := 2; f.out == "" && errors.Is(err, fs.ErrExist); i++ {
		folder, err = starling.TakeFolder(fmt.Sprintf("%s-%d", dir, i))
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, wrongUse("%s exists: choose another --out, leave it out for the next free name, or go on with that run by --resume", dir)
	case err != nil:
		return nil, wrongUse("cannot write a run to %s: %w", dir, err)
	}
	return folder, nil
}
