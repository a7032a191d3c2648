package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/lanes"
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
		for _, seed := range r.seeds {
			if err := r.cell(cmd, table, c, uint64(seed), args[1:]); err != nil {
				return fmt.Errorf("cell %s, seed %d: %w", c.Name, seed, err)
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

// protocol names that of the budget.
func (r *reproduce) protocol() string {
	if r.budget == "full" {
		return "same"
	}
	return "reduced: 50 iterations, J = 4"
}

func (r *reproduce) dir(table *paper.Table, cell string, seed uint64) string {
	name := fmt.Sprintf("%s-%d", cell, seed)
	if r.budget == "reduced" {
		name += "-reduced"
	}
	return filepath.Join(r.out, table.Name, name)
}

// cell runs one, if it is asked for and not done.
func (r *reproduce) cell(cmd *cobra.Command, table *paper.Table, c paper.Cell, seed uint64, patterns []string) error {
	dir, asked := r.dir(table, c.Name, seed), false
	for _, pattern := range patterns {
		ok, _ := path.Match(pattern, c.Name)
		asked = asked || ok
	}
	if _, err := os.Stat(dir); !asked && (!r.resume || err != nil) {
		return nil
	}
	if _, err := paper.Read(dir, c.Name, r.protocol(), ""); err == nil {
		return nil
	}
	spec, err := c.Spec(seed, r.budget == "reduced")
	if err != nil {
		return err
	}
	folder, err := starling.ResumeFolder(dir)
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
func (r *reproduce) finished(table *paper.Table) ([]paper.Run, error) {
	machine := fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), lanes.Kernel())
	var runs []paper.Run
	for _, c := range table.Cells {
		matches, err := filepath.Glob(filepath.Join(r.out, table.Name, c.Name+"-*"))
		if err != nil {
			return nil, err
		}
		for _, dir := range matches {
			protocol := "same"
			if strings.HasSuffix(dir, "-reduced") {
				protocol = "reduced: 50 iterations, J = 4"
			}
			run, err := paper.Read(dir, c.Name, protocol, machine)
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
