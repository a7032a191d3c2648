package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/paper"
)

var published = paper.Tables

func newReproduce() *cobra.Command {
	var r reproduce
	names := tableNames()
	cmd := &cobra.Command{
		Use:   "reproduce TABLE [CELL…]",
		Short: "A paper's table beside ours",
		Long: `Reproduce prints a paper's table beside starling's results: the results of the runs that come with the program, and of
the runs in the folder --out. With CELLs it first makes the runs that the folder does not hold yet, one after another in the
order in which they are named; a run that was stopped continues where it was saved, and one that fails is told of and left. The files --record and --markdown are
written again after each run; a file of --markdown that holds something else is replaced only with --force. A CELL is a name of the table's first column or a pattern such as 'mnist-hmc-*'.

A name of two words is of runs without data, which take seconds and are made at once; a picture of them is written to --out.

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
	flags.StringVar(&r.budget, "budget", "full", "full: the paper's protocol; reduced: fewer iterations, scans and particles, to try a cell")
	flags.BoolVar(&r.resume, "resume", false, "also continue every run in the folder that was stopped")
	flags.StringVar(&r.markdown, "markdown", "", "also write the table as Markdown to this `FILE`")
	forced(cmd, &r.force)
	flags.StringVar(&r.pictures, "pictures", "", "also draw the paper's figures of our runs, as SVG files in this folder `DIR`")
	flags.StringVar(&r.record, "record", "", "keep all runs as JSON in this `FILE`, with the runs that it holds already")
	threads(cmd, &r.threads)
	dataDir(cmd, &r.dataDir)
	r.elsewhere.flags(cmd, "the runs of CELLs")
	asJSON(cmd, &r.json)
	quietly(cmd, &r.quiet)
	return cmd
}

func tableNames() (names []string) {
	for _, t := range published {
		names = append(names, t.Name)
	}
	for _, s := range paper.Studies {
		names = append(names, s.Table+" "+s.Name)
	}
	return names
}

type reproduce struct {
	table                                            *paper.Table
	out, budget, markdown, record, pictures, dataDir string
	seeds                                            []uint
	threads                                          int
	resume, json, quiet, force                       bool
	elsewhere                                        elsewhere
	leftOut                                          map[string]bool       // folders that leaveOut has named
	done                                             map[string]*paper.Run // by folder: what read has read
}

func (r *reproduce) run(cmd *cobra.Command, args []string) error {
	for _, s := range paper.Studies {
		if slices.Equal(args, []string{s.Table, s.Name}) {
			return r.study(cmd, s)
		}
	}
	for _, t := range published {
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
	if _, err := r.isReduced(); err != nil {
		return err
	}
	if err := checkThreads(r.threads); err != nil {
		return err
	}
	if err := r.elsewhere.check(); err != nil {
		return err
	}
	if r.pictures != "" && r.table.Pictures == nil {
		return wrongUse("--pictures: table %s has no figures to draw", r.table.Name)
	}
	if err := r.checkFiles(); err != nil {
		return err
	}
	r.leftOut, r.done = map[string]bool{}, map[string]*paper.Run{}
	ctx := cmd.Context()
	due, err := r.due(ctx, args[1:])
	if err != nil {
		return err
	}
	if due != nil {
		unlock, err := r.lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	runs, err := r.write(ctx) // first, so that hours are not spent on results that cannot be written
	if err != nil {
		return err
	}
	failed := 0 // runs that could not be made, as a setting of a search may diverge
	madeThere, err := r.makeElsewhere(ctx, due)
	if err != nil {
		return err
	}
	for i, u := range due {
		err, there := madeThere[u.dir]
		if !there {
			err = r.make(cmd, u, fmt.Sprintf("%d of %d", i+1, len(due)))
		}
		if !u.asked && (errors.As(err, new(*starling.OtherRunError)) || errors.As(err, new(usageError))) {
			r.leaveOut(u, err)
			continue
		}
		if err != nil && len(due) > 1 && ctx.Err() == nil && status(err, true) == 1 {
			tell(fmt.Sprintf("starling: %v", err))
			failed++
			continue
		}
		if err != nil {
			return err
		}
		if runs, err = r.write(ctx); err != nil {
			return err
		}
	}
	if r.json {
		return jsontext.Write(cmd.OutOrStdout(), map[string]any{"table": r.table.Name, "published": r.table.Published(), "protocols": r.table.Protocols(), "runs": r.table.Record(runs)})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", r.table.Title)
	if err := r.table.WriteText(cmd.OutOrStdout(), runs); err != nil {
		return err
	}
	if err := r.writeMore(cmd.OutOrStdout(), runs); err != nil || failed == 0 {
		return err
	}
	return fmt.Errorf("%d of %d runs could not be made; each error stands above", failed, len(due))
}

// makeElsewhere has workers make the runs that are due, if there are any, and after them those that take their networks. It returns
// their errors by folder, nil for a run that is done; runs that are made here alone are left out.
func (r *reproduce) makeElsewhere(ctx context.Context, due []unit) (made map[string]error, err error) {
	made = map[string]error{}
	for len(due) > 0 && r.elsewhere.asked() && err == nil {
		now, later := inTurn(due)
		due, err = later, r.makeAtOnce(ctx, now, made)
	}
	return made, err
}

// inTurn divides runs into those that can be made now, and those that take a network from one of the others.
func inTurn(due []unit) (now, later []unit) {
	for _, u := range due {
		if slices.ContainsFunc(due, u.needs) {
			later = append(later, u)
		} else {
			now = append(now, u)
		}
	}
	return now, later
}

// makeAtOnce has workers make runs, and adds their errors to made.
func (r *reproduce) makeAtOnce(ctx context.Context, due []unit, made map[string]error) error {
	var there []unit
	var all []starling.Whole
	for _, u := range due {
		work, err := r.table.Work(u.cell, u.seed, u.reduced, u.dir, r.dataDir)
		if err == nil {
			err = r.prepare(ctx, u)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", u, err)
		}
		if w := work.Whole(u.dir); w != nil {
			there, all = append(there, u), append(all, *w)
		}
	}
	if all == nil {
		return nil
	}
	others, end, err := r.elsewhere.open(ctx, storeOf(filepath.Join(r.out, r.table.Name)), r.threads)
	if err != nil {
		return err
	}
	line := newProgress(r.quiet, r.json)
	line.named = r.elsewhere.server != "" && !r.quiet && !r.json
	defer line.end()
	failed, err := starling.MakeElsewhere(ctx, *others, all, r.dataDir, watched(starling.Options{}, line, nil).Progress)
	end(err == nil)
	if stopped(ctx, err) {
		return interrupted{"what is done is saved; the same command goes on"}
	}
	for i, u := range there {
		if made[u.dir] = failed[i]; failed[i] != nil {
			made[u.dir] = fmt.Errorf("%v: %w", u, failed[i])
		}
	}
	return err
}

// isReduced reads --budget.
func (r *reproduce) isReduced() (bool, error) {
	if r.budget != "full" && r.budget != "reduced" {
		return false, wrongUse("--budget %q: want full or reduced", r.budget)
	}
	return r.budget == "reduced", nil
}

// unit is one run of a cell, in a folder CELL-SEED or CELL-SEED-reduced.
type unit struct {
	cell    paper.Cell
	dir     string
	seed    uint64
	reduced bool
	asked   bool // it was asked for by its name
}

func (u unit) String() string {
	text := fmt.Sprintf("cell %s, seed %d", u.cell.Name, u.seed)
	if u.reduced {
		text += ", reduced"
	}
	return text
}

// cells are the names of the table's cells.
func (r *reproduce) cells() (names []string) {
	for _, c := range r.table.Cells {
		names = append(names, c.Name)
	}
	return names
}

// requested lists the runs of the cells that the patterns name, in their order.
func (r *reproduce) requested(patterns []string) (units []unit, err error) {
	for _, pattern := range patterns {
		some, why := false, ""
		for _, c := range r.table.Cells {
			ok, err := path.Match(pattern, c.Name)
			if err != nil {
				return nil, wrongUse("cell %q: %w", pattern, err)
			}
			if !ok {
				continue
			}
			if c.NotRun != "" {
				why = c.NotRun
				continue
			}
			some = true
			if c.From != nil { // a pattern of many cells makes the others
				if pattern != c.Name {
					continue
				}
				if err := r.checkRecorded(c); err != nil {
					return nil, err
				}
				continue
			}
			for _, seed := range r.seeds {
				units = append(units, r.withNeeds(c, uint64(seed))...)
			}
		}
		switch {
		case some:
		case why != "":
			return nil, wrongUse("cell %q of table %s is not run: %s", pattern, r.table.Name, why)
		default:
			return nil, wrongUse("table %s has no cell %q%s (starling reproduce %[1]s lists them)", r.table.Name, pattern, spelling.Suggest(pattern, r.cells()))
		}
	}
	return units, nil
}

// checkRecorded refuses seeds of a cell whose runs are those of another table, unless they are recorded there: nothing makes them here.
func (r *reproduce) checkRecorded(c paper.Cell) error {
	var seeds []string
	for _, run := range c.From.Recorded() {
		if s := fmt.Sprint(run.Seed); run.Cell == c.Name && !slices.Contains(seeds, s) {
			seeds = append(seeds, s)
		}
	}
	for _, seed := range r.seeds {
		if !slices.Contains(seeds, fmt.Sprint(seed)) {
			return wrongUse("--seeds %d: the runs of cell %s are those of table %s, which has seeds %s: starling reproduce %[3]s %[2]s --seeds %[1]d makes another one there",
				seed, c.Name, c.From.Name, strings.Join(seeds, ", "))
		}
	}
	return nil
}

// needs reports whether a run takes a network from another one.
func (u unit) needs(o unit) bool {
	return o.reduced == u.reduced && slices.ContainsFunc(u.cell.Needs, func(n paper.Need) bool { return n.Cell == o.cell.Name && u.seed+n.Later == o.seed })
}

// withNeeds is the run of a cell, after the runs that it takes networks from.
func (r *reproduce) withNeeds(c paper.Cell, seed uint64) (units []unit) {
	for _, n := range c.Needs {
		for _, other := range r.table.Cells {
			if other.Name == n.Cell {
				units = append(units, r.withNeeds(other, seed+n.Later)...)
			}
		}
	}
	reduced := r.budget == "reduced"
	return append(units, unit{c, filepath.Join(r.out, r.table.Name, paper.Folder(c.Name, seed, reduced)), seed, reduced, true})
}

// present lists the runs that have a folder.
func (r *reproduce) present() (units []unit, err error) {
	entries, err := os.ReadDir(filepath.Join(r.out, r.table.Name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, c := range r.table.Cells {
		if c.NotRun != "" || c.From != nil {
			continue
		}
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

// due lists the runs to make, each once: those of the patterns and then, with --resume, those that were stopped.
func (r *reproduce) due(ctx context.Context, patterns []string) (due []unit, err error) {
	all, err := r.requested(patterns)
	if err != nil {
		return nil, err
	}
	if r.resume {
		stopped, err := r.present()
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
		if _, err := r.read(ctx, u); errors.As(err, new(*starling.NotDoneError)) {
			due = append(due, u)
		} else if err != nil && (u.asked || !errors.As(err, new(*starling.DataError))) { // held leaves such a folder out
			return nil, err
		}
	}
	return due, nil
}

// read reads a run that is done, once: figures may take a prediction of all its test examples.
func (r *reproduce) read(ctx context.Context, u unit) (*paper.Run, error) {
	if run := r.done[u.dir]; run != nil {
		return run, nil
	}
	var line *progress // of figures that take long; most are read at once
	run, err := r.table.Read(ctx, u.dir, u.cell, u.seed, u.reduced, starling.Options{Threads: r.threads, DataDir: r.dataDir, Progress: func(e starling.Event) {
		if p, ok := e.(*starling.Progress); ok {
			if line == nil {
				line = newProgress(r.quiet, r.json)
			}
			line.show(p.Status)
		}
	}})
	if line != nil {
		line.end()
	}
	if err == nil {
		r.done[u.dir] = run
	}
	return run, err
}

// make makes a run or continues it: the count-th of those that are due.
func (r *reproduce) make(cmd *cobra.Command, u unit, count string) error {
	work, err := r.table.Work(u.cell, u.seed, u.reduced, u.dir, r.dataDir)
	if err != nil {
		return err
	}
	if err := r.prepare(cmd.Context(), u); err != nil {
		return fmt.Errorf("%v: %w", u, err)
	}
	folder, err := starling.TakeFolder(u.dir, work.Kind())
	if errors.Is(err, fs.ErrExist) {
		folder, err = starling.ResumeFolder(u.dir, work.Kind())
	}
	if err != nil {
		return wrongUse("cannot write a run to %s: %w", u.dir, err)
	}
	defer folder.Close()
	line := newProgress(r.quiet, r.json)
	defer line.end()
	if !r.quiet {
		line.say(fmt.Sprintf("%v: %s", u, count))
	}
	line.show(method.Status{Phase: "beginning"})
	o := watched(starling.Options{Threads: r.threads, DataDir: r.dataDir, Folder: folder}, line, func(l *starling.Loaded) {
		if line.drawn() {
			line.say(header(l))
		}
	})
	notes, err := work.Run(cmd.Context(), o)
	line.end()
	switch stopped := stopped(cmd.Context(), err); {
	case stopped && folder.Kept():
		return interrupted{"the run is saved in " + u.dir + "; the same command continues it"}
	case stopped:
		return interrupted{"nothing of " + u.dir + " was saved; the same command begins it again"}
	case err != nil:
		return fmt.Errorf("%v: %w", u, err)
	}
	run, err := r.read(cmd.Context(), u)
	if err != nil {
		return err
	}
	if !r.quiet {
		took := time.Duration(run.Seconds() * float64(time.Second))
		line.say(fmt.Sprintf("%v: done, sampled in %s, %s", u, seconds(took), r.table.First(run)))
	}
	writeNotes(os.Stderr, notes)
	return nil
}
