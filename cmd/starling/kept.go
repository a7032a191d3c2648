package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/presets"
)

// kept holds the flags and the work that commands which keep runs in folders have in common.
type kept struct {
	out, seed   string
	threads     int
	set         []string
	every       time.Duration
	resume      bool
	json, quiet bool
}

// flags adds the flags; keys are those of the command's configs.
func (k *kept) flags(cmd *cobra.Command, keys func() []string) {
	flags := cmd.Flags()
	flags.StringVar(&k.out, "out", "", "folder `DIR` of the run, which must not exist yet, except with --resume")
	flags.BoolVar(&k.resume, "resume", false, "continue the run in --out, or in runs/NAME")
	flags.StringVar(&k.seed, "seed", "", "seed `N` of everything random, instead of the config's")
	flags.DurationVar(&k.every, "save-every", starling.SaveEvery, "least `TIME` between two states that are saved")
	flags.StringArrayVar(&k.set, "set", nil, "change the config, `KEY=VALUE`: a dotted path, list items by index, a YAML value, null to leave out; repeatable")
	cmd.MarkFlagDirname("out")
	cmd.RegisterFlagCompletionFunc("set", completeKeys(keys))
	threads(cmd, &k.threads)
	asJSON(cmd, &k.json)
	quietly(cmd, &k.quiet)
}

// check checks the flags. A seed becomes a change of the config.
func (k *kept) check(cmd *cobra.Command) error {
	if err := checkThreads(k.threads); err != nil {
		return err
	}
	if k.every <= 0 {
		return wrongUse("--save-every %v: want a time above 0, as in 30s", k.every)
	}
	if cmd.Flags().Changed("seed") {
		seed, err := strconv.ParseUint(k.seed, 10, 64)
		if err != nil {
			return wrongUse("--seed %q: want a whole number from 0 to %d", k.seed, uint64(math.MaxUint64))
		}
		k.set = append(k.set, fmt.Sprint("seed=", seed))
	}
	return nil
}

// mostConfig is the largest size of a config file, in bytes.
const mostConfig = 1 << 20

// readSpec reads a config file, or else the preset of that name.
func readSpec(name string, set []string) (starling.Spec, error) {
	text, err := readConfig(name, "fit")
	if err != nil {
		return starling.Spec{}, err
	}
	return starling.ParseSpec(name, text, set...)
}

// readConfig reads the text of a config file, or else of the preset of that name. A config for another verb is refused.
func readConfig(name, verb string) ([]byte, error) {
	text, err := anyConfig(name)
	if err != nil {
		return nil, err
	}
	if other := starling.ConfigVerb(text); other != "" && other != verb {
		return nil, wrongUse("%s is the config of %s, not of %s: starling %s %s", name, configured[other], configured[verb], other, name)
	}
	return text, nil
}

// configured says what a config is of, by the verb that takes it.
var configured = map[string]string{presets.Fit: "a network", presets.Filter: "a filter"}

func anyConfig(name string) ([]byte, error) {
	text, err := regular.Read(name, mostConfig)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, regular.ErrIrregular):
		return nil, wrongUse("%w: save the config as a file", err)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, usageError{err}
	case strings.ContainsAny(name, `/\.`):
		stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		return nil, wrongUse("no config file %s%s (%s)", name, spelling.Suggest(stem, starling.Presets()), presetsListed)
	}
	return presetText(name)
}

// flagged is a flag of a command line.
type flagged struct {
	name, value string
	given       bool
}

// saved says how to continue an interrupted run.
func (k *kept) saved(verb, config string, folder *starling.Folder, more ...flagged) error {
	if !folder.Kept() {
		return interrupted{"nothing was saved"}
	}
	return interrupted{"the run is saved in " + folder.Dir + "; to continue it:\n  " + k.again(verb, config, folder.Dir, more...)}
}

// again is the command that continues a run.
func (k *kept) again(verb, config, dir string, more ...flagged) string {
	words := []string{"starling", verb, config, "--out", dir}
	for _, set := range k.set { // --seed is in the list too
		words = append(words, "--set", set)
	}
	for _, flag := range append(more,
		flagged{"--threads", strconv.Itoa(k.threads), k.threads != 0},
		flagged{"--save-every", k.every.String(), k.every != starling.SaveEvery},
		flagged{"--json", "", k.json},
		flagged{"--quiet", "", k.quiet},
	) {
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
	return strings.Join(words, " ") + " --resume"
}

// folder takes the run's folder: --out, or the first of runs/NAME, runs/NAME-2, … that does not exist; with --resume, --out or
// runs/NAME.
func (k *kept) folder(name string, kind starling.Kind) (*starling.Folder, error) {
	dir := k.out
	if dir == "" {
		dir = filepath.Join("runs", name)
	}
	take := starling.TakeFolder
	if k.resume {
		take = starling.ResumeFolder
	}
	folder, err := take(dir, kind)
	if k.out != "" && !k.resume && errors.Is(err, fs.ErrExist) {
		folder, err = starling.RetakeFolder(dir, kind)
	}
	for i := 2; k.out == "" && errors.Is(err, fs.ErrExist); i++ {
		folder, err = starling.TakeFolder(fmt.Sprintf("%s-%d", dir, i), kind)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, wrongUse("%s exists: choose another --out, leave it out for the next free name, or continue that run with --resume", dir)
	case err != nil:
		return nil, wrongUse("cannot write a run to %s: %w", dir, err)
	}
	return folder, nil
}
