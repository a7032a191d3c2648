package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/paper"
)

var tables = []*paper.Table{&paper.DataAnnealing}

func newReproduce() *cobra.Command {
	var r reproduce
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	cmd := &cobra.Command{
		Use:   "reproduce TABLE [CELL…]",
		Short: "A paper's table beside ours",
		Long: `Reproduce prints a paper's table beside what starling got: from the runs that came with the program, and from those
in the folder --out. With CELLs it first runs those that the folder does not hold, one after another in the order in which
they are named; one that was stopped goes on where it was saved. --record and --markdown are brought up to date after
each. A CELL is a name of the table's first column or a pattern such as 'mnist-hmc-*'.

Tables: ` + strings.Join(names, ", "),
		Example: `  starling reproduce data-annealing
  starling reproduce data-annealing mnist-hmc-ctr --seeds 1,2,3 --data-dir .
  starling reproduce data-annealing 'mnist-*' --budget reduced --data-dir .`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE:              r.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&r.out, "out", "reproduce", "folder `DIR` of the runs, one folder a table")
	flags.UintSliceVar(&r.seeds, "seeds", []uint{1}, "seeds to run")
	flags.StringVar(&r.budget, "budget", "full", "full: the paper's protocol; reduced: 50 iterations and 4 particles")
	flags.BoolVar(&r.resume, "resume", false, "go on with every run in the folder that was stopped, too")
	flags.StringVar(&r.markdown, "markdown", "", "write the table as Markdown to this `FILE`, too")
	flags.StringVar(&r.record, "record", "", "keep all runs as JSON in this `FILE`, with those it holds")
	threads(cmd, &r.threads)
	dataDir(cmd, &r.dataDir)
	asJSON(cmd, &r.json)
	return cmd
}

type reproduce struct {
	table                                  *paper.Table
	out, budget, markdown, record, dataDir string
	seeds                                  []uint
	threads                                int
	resume, json                           bool
	leftOut                                map[string]bool // folders that were said to hold no run of a cell
}

func (r *reproduce) run(cmd *cobra.Command, args []string) error {
	for _, t := range tables {
		if t.Name == args[0] {
			r.table = t
		}
	}
	if r.table == nil {
		return wrongUse("no table %q (tables: %s)", args[0], cmd.ValidArgs)
	}
	if r.budget != "full" && r.budget != "reduced" {
		return wrongUse("--budget %q: want full or reduced", r.budget)
	}
	if err := checkThreads(r.threads); err != nil {
		return err
	}
	r.leftOut = map[string]bool{}
	due, err := r.due(args[1:])
	if err != nil {
		return err
	}
	if due != nil {
		limitGarbage()
		unlock, err := r.lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	runs, err := r.write() // before hours are spent on what cannot be written
	if err != nil {
		return err
	}
	for _, u := range due {
		if err := r.fit(cmd, u); err != nil {
			return err
		}
		if runs, err = r.write(); err != nil {
			return err
		}
	}
	if r.json {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"table": r.table.Name, "runs": runs})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", r.table.Title)
	return r.table.WriteText(cmd.OutOrStdout(), runs)
}

// unit is one run of a cell, in a folder CELL-SEED or CELL-SEED-reduced.
type unit struct {
	cell    paper.Cell
	dir     string
	seed    uint64
	reduced bool
}

// asked lists the runs of the cells that the patterns name, in their order.
func (r *reproduce) asked(patterns []string) (units []unit, err error) {
	for _, pattern := range patterns {
		some := false
		for _, c := range r.table.Cells {
			ok, err := path.Match(pattern, c.Name)
			if err != nil {
				return nil, wrongUse("cell %q: %w", pattern, err)
			}
			if !ok {
				continue
			}
			some = true
			for _, seed := range r.seeds {
				u := unit{c, filepath.Join(r.out, r.table.Name, fmt.Sprintf("%s-%d", c.Name, seed)), uint64(seed), r.budget == "reduced"}
				if u.reduced {
					u.dir += "-reduced"
				}
				units = append(units, u)
			}
		}
		if !some {
			return nil, wrongUse("table %s has no cell %q", r.table.Name, pattern)
		}
	}
	return units, nil
}

// there lists the runs that have a folder.
func (r *reproduce) there() (units []unit, err error) {
	entries, err := os.ReadDir(filepath.Join(r.out, r.table.Name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, c := range r.table.Cells {
		for _, e := range entries {
			number, ok := strings.CutPrefix(e.Name(), c.Name+"-")
			number, reduced := strings.CutSuffix(number, "-reduced")
			if seed, err := strconv.ParseUint(number, 10, 64); ok && err == nil {
				units = append(units, unit{c, filepath.Join(r.out, r.table.Name, e.Name()), seed, reduced})
			}
		}
	}
	return units, nil
}

// due lists what is to run, each once: what is asked for and then, to resume, all that was stopped.
func (r *reproduce) due(patterns []string) (due []unit, err error) {
	all, err := r.asked(patterns)
	if err != nil {
		return nil, err
	}
	asked := len(all)
	if r.resume {
		stopped, err := r.there()
		if err != nil {
			return nil, err
		}
		all = append(all, stopped...)
	}
	seen := map[string]bool{}
	for i, u := range all {
		if seen[u.dir] {
			continue
		}
		seen[u.dir] = true
		if _, err := r.read(u); errors.As(err, new(*starling.NotDoneError)) {
			due = append(due, u)
		} else if err != nil && !(i >= asked && errors.As(err, new(*starling.DataError))) { // runs leaves that out
			return nil, err
		}
	}
	return due, nil
}

func (r *reproduce) read(u unit) (*paper.Run, error) {
	return r.table.Read(u.dir, u.cell, u.seed, u.reduced)
}

// lock takes the folder of the table: two commands at once would measure one another's load, and write one record.
func (r *reproduce) lock() (unlock func(), err error) {
	dir := filepath.Join(r.out, r.table.Name)
	_, err = os.Lstat(r.out)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	remove := func() { // what is empty
		os.Remove(dir)
		if made {
			os.Remove(r.out)
		}
	}
	l, err := lock.Take(filepath.Join(dir, ".lock"))
	if err == nil {
		return func() {
			l.Free()
			remove()
		}, nil
	}
	remove()
	var held *lock.HeldError
	if errors.As(err, &held) {
		err = wrongUse("%s: another reproduce is at work in this folder (%s); let it end, or choose another --out", dir, held.By)
	}
	return nil, err
}

// fit runs one, or goes on with it.
func (r *reproduce) fit(cmd *cobra.Command, u unit) error {
	spec, err := u.cell.Spec(u.seed, u.reduced)
	if err != nil {
		return err
	}
	folder, err := starling.ResumeFolder(u.dir)
	if err != nil {
		return wrongUse("cannot write a run to %s: %w", u.dir, err)
	}
	defer folder.Close()
	line := newProgress(os.Stderr)
	_, err = starling.Fit(cmd.Context(), spec, starling.Options{
		Threads: r.threads, DataDir: r.dataDir, Folder: folder, Memory: memoryLimit(os.DirFS("/")),
		Progress: func(e starling.Event) {
			if loaded, ok := e.(*starling.Loaded); ok && line != nil {
				fmt.Fprintln(os.Stderr, header(loaded))
			}
			if line != nil {
				line.event(e)
			}
		},
	})
	if line != nil {
		line.end()
	}
	switch stopped := cmd.Context().Err() != nil && errors.Is(err, context.Canceled); {
	case stopped && folder.Kept():
		return interrupted{"the run is saved in " + u.dir + "; the same command goes on with it"}
	case stopped:
		return interrupted{"nothing of " + u.dir + " was saved; the same command begins it anew"}
	case err != nil:
		return fmt.Errorf("cell %s, seed %d: %w", u.cell.Name, u.seed, err)
	}
	return nil
}

// runs are those that came with the program, those in the file --record and those in the folder; later ones count. A folder
// that holds something else is named on stderr, once, and left out.
func (r *reproduce) runs() ([]paper.Run, error) {
	runs := r.table.Recorded()
	if r.record != "" {
		more, err := r.table.ReadRecord(r.record)
		if err != nil {
			return nil, err
		}
		runs = paper.Merge(runs, more)
	}
	units, err := r.there()
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		run, err := r.read(u)
		if errors.As(err, new(*starling.NotDoneError)) {
			continue
		}
		if errors.As(err, new(*starling.DataError)) {
			if !r.leftOut[u.dir] {
				fmt.Fprintf(os.Stderr, "starling: left out: %v\n", err)
			}
			r.leftOut[u.dir] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = paper.Merge(runs, []paper.Run{*run})
	}
	return runs, nil
}

// write writes the files that are asked for, and returns the runs in them.
func (r *reproduce) write() ([]paper.Run, error) {
	runs, err := r.runs()
	if err != nil {
		return nil, err
	}
	if r.record != "" {
		if err := ckpt.Replace(r.record, "", func(w io.Writer) error { return writeJSON(w, runs) }); err != nil {
			return nil, err
		}
	}
	if r.markdown != "" {
		return runs, ckpt.Replace(r.markdown, "", func(w io.Writer) error { return r.table.WriteMarkdown(w, runs) })
	}
	return runs, nil
}
