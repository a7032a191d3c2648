package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/method"
)

func newFit() *cobra.Command {
	var f fit
	cmd := &cobra.Command{
		Use:   "fit CONFIG|PRESET",
		Short: "Train a network, evaluate it, and keep the run in a folder",
		Long: `Fit trains the network that a config file or a preset describes, samples its posterior, evaluates the ensemble on
the test examples, and writes all of it to a folder: runs/NAME, or runs/NAME-2 and so on if that exists.

The run is saved there every ten seconds and when it is interrupted. --resume continues it after an interrupt or a crash.
The result is the same, bit for bit, as that of a run that never stopped.

If the particles did not move in most stages, the run has failed as a sampler. It is kept and complete, and
fit ends with exit status 1, unless --allow-stuck.

Exit status: 0 done, 1 the run failed, 2 wrong use or config, 3 bad data, 130 interrupted.

While it works, fit shows its progress on stderr: on a terminal by a line that is redrawn, elsewhere by a plain line every
ten seconds.

Parts that a config can name, each by its key:

` + parts() + `

Every key can be completed after --set, and starling presets NAME prints a commented config.`,
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
	flags.StringVar(&f.out, "out", "", "folder `DIR` of the run, which must not exist yet, except with --resume")
	flags.BoolVar(&f.resume, "resume", false, "continue the run in --out, or in runs/NAME")
	flags.StringVar(&f.seed, "seed", "", "seed `N` of everything random, instead of the config's")
	flags.DurationVar(&f.every, "save-every", starling.SaveEvery, "least `TIME` between two states that are saved")
	flags.StringArrayVar(&f.set, "set", nil, "change the config, `KEY=VALUE`: a dotted path, list items by index, a YAML value, null to leave out; repeatable")
	cmd.MarkFlagDirname("out")
	cmd.RegisterFlagCompletionFunc("set", completeKeys)
	flags.BoolVar(&f.allowStuck, "allow-stuck", false, "end with exit status 0 even if the particles did not move in most stages")
	threads(cmd, &f.threads)
	dataDir(cmd, &f.dataDir)
	asJSON(cmd, &f.json)
	quietly(cmd, &f.quiet)
	return cmd
}

type fit struct {
	out, seed, dataDir string
	threads            int
	set                []string
	every              time.Duration
	resume, allowStuck bool
	json, quiet        bool
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
	stdout, line := cmd.OutOrStdout(), newProgress(f.quiet, f.json)
	defer line.end()
	line.show(method.Status{Phase: "reading the data"})
	result, err := learn(cmd.Context(), spec, starling.Options{Threads: f.threads, DataDir: f.dataDir, Folder: folder, Every: f.every}, line,
		func(l *starling.Loaded) {
			switch {
			case !f.json:
				wrap(stdout, header(l))
			case line.drawn():
				tell(strings.Join(lines(header(l), columns), "\n"))
			}
		})
	if stopped(cmd.Context(), err) {
		line.end()
		return f.saved(args[0], folder)
	}
	if err != nil {
		return err
	}
	line.show(method.Status{Phase: "writing the report"})
	showPage(result, folder.Dir, line)
	drawn := line.drawn()
	line.end()
	if f.json {
		writeNotes(os.Stderr, f.notes(result))
		if drawn {
			tell("written to " + folder.Dir)
			tell(spent(began))
		}
		if err := result.Metrics.WriteJSON(stdout); err != nil {
			return err
		}
		return f.verdict(result, folder)
	}
	showMetrics(stdout, &result.Spec, &result.Ensembles, result.Assessment, false)
	writeNotes(stdout, f.notes(result))
	fmt.Fprintln(stdout, "written to "+folder.Dir)
	if _, err = fmt.Fprintln(stdout, spent(began)); err != nil {
		return err
	}
	return f.verdict(result, folder)
}

// notes are the run's notes. With --allow-stuck they do not say that the run failed.
func (f *fit) notes(result *starling.Result) []string {
	notes := result.Notes()
	if !f.allowStuck {
		return notes
	}
	for _, found := range result.Findings {
		if i := slices.Index(notes, found.Words()); i >= 0 && found.Failure() {
			notes[i] = "accepted by --allow-stuck: " + found.Allowed().Words()
		}
	}
	return notes
}

// verdict is an error if a finding says that the run failed, although its results are there.
func (f *fit) verdict(result *starling.Result, folder *starling.Folder) error {
	if f.allowStuck {
		return nil
	}
	for _, found := range result.Findings {
		if found.Failure() {
			return fmt.Errorf("%s; the run is complete in %s, and --allow-stuck accepts it", found.Words(), folder.Dir)
		}
	}
	return nil
}

// spent says how much time the command took, and how much memory if that is known.
func spent(began time.Time) string {
	text := "took " + seconds(time.Since(began))
	if most := peak(); most > 0 {
		text += fmt.Sprintf(" and %d MB of memory", (most+1<<20-1)>>20)
	}
	return text
}

// mostConfig is the largest size of a config file, in bytes.
const mostConfig = 1 << 20

// readSpec reads a config file, or else the preset of that name.
func readSpec(name string, set []string) (starling.Spec, error) {
	text, err := regular.Read(name, mostConfig)
	switch {
	case err == nil:
		return starling.ParseSpec(name, text, set...)
	case errors.Is(err, regular.ErrIrregular):
		return starling.Spec{}, wrongUse("%w: save the config as a file", err)
	case !errors.Is(err, fs.ErrNotExist):
		return starling.Spec{}, usageError{err}
	case strings.ContainsAny(name, `/\.`):
		stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		return starling.Spec{}, wrongUse("no config file %s%s (%s)", name, spelling.Suggest(stem, starling.Presets()), presetsListed)
	}
	if text, err = presetText(name); err != nil {
		return starling.Spec{}, err
	}
	return starling.ParseSpec(name, text, set...)
}

// saved says how to continue an interrupted run.
func (f *fit) saved(config string, folder *starling.Folder) error {
	if !folder.Kept() {
		return interrupted{"nothing was saved"}
	}
	words := []string{"starling", "fit", config, "--out", folder.Dir}
	for _, set := range f.set { // --seed is in the list too
		words = append(words, "--set", set)
	}
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"--data-dir", f.dataDir, f.dataDir != os.Getenv("STARLING_DATA")},
		{"--threads", strconv.Itoa(f.threads), f.threads != 0},
		{"--save-every", f.every.String(), f.every != starling.SaveEvery},
		{"--allow-stuck", "", f.allowStuck},
		{"--json", "", f.json},
		{"--quiet", "", f.quiet},
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
	return interrupted{"the run is saved in " + folder.Dir + "; to continue it:\n  " + strings.Join(words, " ") + " --resume"}
}

// folder takes the run's folder: --out, or the first of runs/NAME, runs/NAME-2, … that does not exist; with --resume, --out or
// runs/NAME.
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
		return nil, wrongUse("%s exists: choose another --out, leave it out for the next free name, or continue that run with --resume", dir)
	case err != nil:
		return nil, wrongUse("cannot write a run to %s: %w", dir, err)
	}
	return folder, nil
}
