package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/paper"
)

var tables = []*paper.Table{&paper.DataAnnealing}

func newReproduce() *cobra.Command {
	var r reproduce
	names := tableNames()
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

func tableNames() (names []string) {
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return names
}

type reproduce struct {
	table                                  *paper.Table
	out, budget, markdown, record, dataDir string
	seeds                                  []uint
	threads                                int
	resume, json                           bool
	leftOut                                map[string]bool // folders that were said to be left out
}

func (r *reproduce) run(cmd *cobra.Command, args []string) error {
	for _, t := range tables {
		if t.Name == args[0] {
			r.table = t
		}
	}
	if r.table == nil {
		return wrongUse("no table %q (tables: %s)", args[0], strings.Join(tableNames(), ", "))
	}
	if len(args) == 1 && (cmd.Flags().Changed("seeds") || cmd.Flags().Changed("budget")) {
		return wrongUse("--seeds and --budget say how CELLs run, and none is named: name some, or '*' for all")
	}
	if r.budget != "full" && r.budget != "reduced" {
		return wrongUse("--budget %q: want full or reduced", r.budget)
	}
	if err := checkThreads(r.threads); err != nil {
		return err
	}
	if err := r.checkFiles(); err != nil {
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
	for i, u := range due {
		err := r.fit(cmd, u, fmt.Sprintf("%d of %d", i+1, len(due)))
		if !u.asked && (errors.As(err, new(*starling.OtherRunError)) || errors.As(err, new(usageError))) {
			r.leaveOut(u, err)
			continue
		}
		if err != nil {
			return err
		}
		if runs, err = r.write(); err != nil {
			return err
		}
	}
	if r.json {
		return jsontext.Write(cmd.OutOrStdout(), map[string]any{"table": r.table.Name, "published": r.table.Published(), "runs": runs})
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
	asked   bool // by its name
}

func (u unit) String() string {
	text := fmt.Sprintf("cell %s, seed %d", u.cell.Name, u.seed)
	if u.reduced {
		text += ", reduced"
	}
	return text
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
				u := unit{c, filepath.Join(r.out, r.table.Name, fmt.Sprintf("%s-%d", c.Name, seed)), uint64(seed), r.budget == "reduced", true}
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
				units = append(units, unit{c, filepath.Join(r.out, r.table.Name, e.Name()), seed, reduced, false})
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
	if r.resume {
		stopped, err := r.there()
		if err != nil {
			return nil, err
		}
		all = append(all, stopped...)
	}
	seen := map[string]bool{}
	for _, u := range all {
		if seen[u.dir] {
			continue
		}
		seen[u.dir] = true
		if _, err := r.read(u); errors.As(err, new(*starling.NotDoneError)) {
			due = append(due, u)
		} else if err != nil && (u.asked || !errors.As(err, new(*starling.DataError))) { // runs leaves that out
			return nil, err
		}
	}
	return due, nil
}

func (r *reproduce) read(u unit) (*paper.Run, error) {
	return r.table.Read(u.dir, u.cell, u.seed, u.reduced)
}

// fit runs one, or goes on with it: the count-th of those that are due.
func (r *reproduce) fit(cmd *cobra.Command, u unit, count string) error {
	spec, err := u.cell.Spec(u.seed, u.reduced)
	if err != nil {
		return err
	}
	folder, err := starling.TakeFolder(u.dir)
	if errors.Is(err, fs.ErrExist) {
		folder, err = starling.ResumeFolder(u.dir)
	}
	if err != nil {
		return wrongUse("cannot write a run to %s: %w", u.dir, err)
	}
	defer folder.Close()
	line := newProgress(os.Stderr)
	result, err := starling.Fit(cmd.Context(), spec, starling.Options{
		Threads: r.threads, DataDir: r.dataDir, Folder: folder, Memory: memoryLimit(os.DirFS("/")),
		Progress: func(e starling.Event) {
			switch e := e.(type) {
			case *starling.Loaded:
				fmt.Fprintf(os.Stderr, "%v: %s\n", u, count)
				if line != nil {
					fmt.Fprintln(os.Stderr, header(e))
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
	switch stopped := cmd.Context().Err() != nil && errors.Is(err, context.Canceled); {
	case stopped && folder.Kept():
		return interrupted{"the run is saved in " + u.dir + "; the same command goes on with it"}
	case stopped:
		return interrupted{"nothing of " + u.dir + " was saved; the same command begins it anew"}
	case err != nil:
		return fmt.Errorf("%v: %w", u, err)
	}
	run, err := r.read(u)
	if err != nil {
		return err
	}
	took := time.Duration(run.Sampling * float64(time.Second))
	fmt.Fprintf(os.Stderr, "%v: done, sampled in %s, accuracy %.2f %%\n", u, seconds(took), run.Accuracy)
	tell(os.Stderr, result.Notes)
	return nil
}
