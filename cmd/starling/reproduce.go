package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
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
in the folder --out. With CELLs it first runs those that the folder does not hold; one that was stopped goes on where it
was saved. A CELL is a name of the table's first column or a pattern such as 'mnist-hmc-*'.

Tables: ` + strings.Join(names, ", "),
		Example: `  starling reproduce data-annealing
  starling reproduce data-annealing mnist-hmc-ctr --seeds 1,2,3 --data-dir .
  starling reproduce data-annealing 'mnist-*' --budget reduced --data-dir .`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE:              r.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&r.out, "out", "reproduce", "folder of the runs, one folder a table")
	flags.UintSliceVar(&r.seeds, "seeds", []uint{1}, "seeds to run")
	flags.StringVar(&r.budget, "budget", "full", "full: the paper's protocol; reduced: 50 iterations and 4 particles")
	flags.BoolVar(&r.resume, "resume", false, "go on with every run in the folder that was stopped")
	flags.StringVar(&r.markdown, "markdown", "", "write the table as Markdown to this file, too")
	flags.StringVar(&r.record, "record", "", "write all runs as JSON to this file, too")
	flags.IntVar(&r.threads, "threads", 0, "threads that compute; the result does not depend on it (default: one a CPU)")
	dataDir(cmd, &r.dataDir)
	asJSON(cmd, &r.json)
	return cmd
}

type reproduce struct {
	out, budget, markdown, record, dataDir string
	seeds                                  []uint
	threads                                int
	resume, json                           bool
}

func (r *reproduce) run(cmd *cobra.Command, args []string) error {
	var table *paper.Table
	for _, t := range tables {
		if t.Name == args[0] {
			table = t
		}
	}
	if table == nil {
		return wrongUse("no table %q (tables: %s)", args[0], cmd.ValidArgs)
	}
	if r.budget != "full" && r.budget != "reduced" {
		return wrongUse("--budget %q: want full or reduced", r.budget)
	}
	for _, pattern := range args[1:] {
		some := false
		for _, c := range table.Cells {
			ok, err := path.Match(pattern, c.Name)
			if err != nil {
				return wrongUse("cell %q: %w", pattern, err)
			}
			some = some || ok
		}
		if !some {
			return wrongUse("table %s has no cell %q", table.Name, pattern)
		}
	}
	for _, c := range table.Cells {
		for _, u := range r.due(table, c, args[1:]) {
			if err := r.fit(cmd, c, u); err != nil {
				return fmt.Errorf("cell %s, seed %d: %w", c.Name, u.seed, err)
			}
		}
	}
	runs, err := r.finished(table)
	if err != nil {
		return err
	}
	runs = paper.Merge(table.Recorded(), runs)
	for file, write := range map[string]func(w io.Writer) error{
		r.markdown: func(w io.Writer) error { return table.WriteMarkdown(w, runs) },
		r.record:   func(w io.Writer) error { return writeJSON(w, runs) },
	} {
		if file == "" {
			continue
		}
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return err
		}
	}
	if r.json {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"table": table.Name, "runs": runs})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", table.Title)
	return table.WriteText(cmd.OutOrStdout(), runs)
}

// unit is one run of a cell, in a folder CELL-SEED or CELL-SEED-reduced.
type unit struct {
	dir     string
	seed    uint64
	reduced bool
}

func (u unit) protocol() string {
	if u.reduced {
		return "reduced: 50 iterations, J = 4"
	}
	return "same"
}

// due lists the runs of a cell that are asked for, by a pattern or because they were stopped, and not done.
func (r *reproduce) due(table *paper.Table, c paper.Cell, patterns []string) (due []unit) {
	var all []unit
	if slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, c.Name); return ok }) {
		for _, seed := range r.seeds {
			u := unit{filepath.Join(r.out, table.Name, fmt.Sprintf("%s-%d", c.Name, seed)), uint64(seed), r.budget == "reduced"}
			if u.reduced {
				u.dir += "-reduced"
			}
			all = append(all, u)
		}
	}
	if r.resume {
		for _, u := range r.there(table, c) {
			if !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
	}
	for _, u := range all {
		if _, err := paper.Read(u.dir, c.Name, u.protocol()); err != nil {
			due = append(due, u)
		}
	}
	return due
}

// there lists the runs of a cell that have a folder.
func (r *reproduce) there(table *paper.Table, c paper.Cell) (units []unit) {
	dirs, _ := filepath.Glob(filepath.Join(r.out, table.Name, c.Name+"-*")) // names of cells are no bad patterns
	for _, dir := range dirs {
		number, reduced := strings.CutSuffix(strings.TrimPrefix(filepath.Base(dir), c.Name+"-"), "-reduced")
		if seed, err := strconv.ParseUint(number, 10, 64); err == nil {
			units = append(units, unit{dir, seed, reduced})
		}
	}
	return units
}

// fit runs one, or goes on with it.
func (r *reproduce) fit(cmd *cobra.Command, c paper.Cell, u unit) error {
	spec, err := c.Spec(u.seed, u.reduced)
	if err != nil {
		return err
	}
	folder, err := starling.ResumeFolder(u.dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	line := newProgress(os.Stderr)
	_, err = starling.Fit(cmd.Context(), spec, starling.Options{
		Threads: r.threads, DataDir: r.dataDir, Folder: folder,
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
	return err
}

// finished reads the runs in the folder.
func (r *reproduce) finished(table *paper.Table) (runs []paper.Run, err error) {
	for _, c := range table.Cells {
		for _, u := range r.there(table, c) {
			run, err := paper.Read(u.dir, c.Name, u.protocol())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			runs = append(runs, *run)
		}
	}
	return runs, nil
}
