// Package paper compares the tables of papers with starling's results: a table's published figures are data, its cells are
// configs that anybody can run, and a Run holds the figures of one such run.
package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
)

// Table is a paper's table: what its runs are scored by, and its cells, each with the published figures.
type Table struct {
	Name, Title string
	Kind        *Kind  // of the runs that its cells make
	Reduced     string // how the reduced protocol differs from the paper's
	Figures     []Measure
	Errors      Errors // what ± is
	Left        string // why cells are no targets (Cell.Excluded); empty: all are
	Misprints   []Misprint
	Cells       []Cell

	// More is what the runs show beside the table, such as a comparison with the runs of others, whose figures are read from a folder
	// of data; nil: nothing.
	More func(t *Table, dataDir string, runs []Run) (string, error)

	// Pictures draws the paper's figures of our runs; nil: there are none.
	Pictures func(t *Table, runs []Run) ([]Picture, error)
}

// Cell is one entry of a table: its published figures, and the config that runs it.
type Cell struct {
	Name      string
	Config    func(Place) Config
	Changes   []string // what the cell changes in it, as KEY=VALUE
	Reduced   []string // the changes that the reduced protocol makes to it, likewise
	Published Figures
	Excluded  bool              // what is published is no target: Table.Left says why
	Misprints map[string]string // published figures that the paper contradicts, by the names of measures: the name of one of Table.Misprints
	Against   string            // the cell of the table that its runs are compared with, seed by seed (pairedCells); empty: none
	Needs     []Need            // the runs that it takes networks from: they are made first
	Kind      *Kind             // of its runs; nil: the table's

	// Substitute says what stands for data or a network of the paper's that are not to be had. What is published is then of others, and
	// no target. Empty: the cell is the paper's own.
	Substitute string

	NotRun string // why nobody can run it; Config is then nil. Empty: anybody can

	From *Table // whose recorded runs of a cell of this name are the cell's; Config is then nil. nil: the cell has runs of its own

	// Short says how its own protocol is shorter than the paper's. Empty: it is the paper's.
	Short string

	// Prepare asks for what a run takes from the folder of data, and makes the files that it takes from those of Cell.Needs; nil: neither.
	Prepare func(ctx context.Context, at Place, o starling.Options) error

	// Rows are the test rows of the split that a seed names, read from a folder of data; nil: the config divides the data.
	Rows func(dataDir string, seed uint64) ([]int, error)
}

// Place is where a run finds what is not built in.
type Place struct {
	Data  string   // the folder of data
	Rows  string   // the file of the test rows
	Needs []string // the folders of the runs of Cell.Needs
}

// Config is the config of a cell. Settings are those that a search has chosen, in words, or what the cell is made of; empty: none was to choose.
type Config struct {
	Text     []byte
	Settings string
}

// preset is the config of a cell that a preset runs.
func preset(name string) func(Place) Config {
	return func(Place) Config {
		text, err := starling.PresetText(name)
		if err != nil {
			panic(err) // a test asks for all
		}
		return Config{Text: text}
	}
}

// Folder is the name of the folder of a cell's run.
func Folder(cell string, seed uint64, reduced bool) string {
	name := fmt.Sprintf("%s-%d", cell, seed)
	if reduced {
		name += "-reduced"
	}
	return name
}

// RowsFile is the file of the test rows of a run in a folder. It lies beside the folder.
func RowsFile(dir string) string { return dir + ".rows" }

// Work is what a run of a cell does with a seed, in a folder, with data in another.
func (t *Table) Work(c Cell, seed uint64, reduced bool, dir, dataDir string) (Work, error) {
	sets := append([]string{fmt.Sprint("seed=", seed), "name=" + Folder(c.Name, seed, reduced)}, c.Changes...)
	if reduced {
		sets = append(sets, c.Reduced...)
	}
	return t.kind(c).Parse(c.Name, c.Config(c.place(seed, reduced, dir, dataDir)).Text, sets...)
}

// kind is the kind of a cell's runs.
func (t *Table) kind(c Cell) *Kind { return cmp.Or(c.Kind, t.Kind) }

// Ready prepares what Work needs (Cell.Needs, Cell.Prepare). Options say where data are.
func (c *Cell) Ready(ctx context.Context, seed uint64, reduced bool, dir string, o starling.Options) error {
	at := c.place(seed, reduced, dir, o.DataDir)
	for i, n := range c.Needs {
		if _, err := networksIn(at.Needs[i], c.takesPosterior()); errors.As(err, new(*starling.NotDoneError)) {
			return &MissingError{n.Cell, seed + n.Later, &starling.DataError{Err: err}}
		}
	}
	if err := keepNeeds(dir, at.Needs, c.takesPosterior()); err != nil || c.Prepare == nil {
		return err
	}
	return c.Prepare(ctx, at, o)
}

func (c *Cell) takesPosterior() bool { return c.Kind != nil && c.Kind.Posteriors }

// place is where a run in a folder finds what is not built in.
func (c *Cell) place(seed uint64, reduced bool, dir, dataDir string) Place {
	at := Place{Data: dataDir, Rows: RowsFile(dir)}
	for _, n := range c.Needs {
		at.Needs = append(at.Needs, filepath.Join(filepath.Dir(dir), Folder(n.Cell, seed+n.Later, reduced)))
	}
	return at
}

// measures are those of the table, and then those of what its runs cost.
func (t *Table) measures() []Measure { return slices.Concat(t.Figures, t.Kind.Costs) }

// Published maps the names of the cells to their published figures.
func (t *Table) Published() map[string]Figures {
	all := map[string]Figures{}
	for _, c := range t.Cells {
		all[c.Name] = c.Published
	}
	return all
}

// publishes reports whether any cell has a published figure of that name.
func (t *Table) publishes(name string) bool {
	return slices.ContainsFunc(t.Cells, func(c Cell) bool {
		_, ok := c.Published[name]
		return ok
	})
}

// Run holds the results of one run of a cell.
type Run struct {
	Cell      string
	Seed      uint64
	Protocol  string            // as Table.Protocol names it
	Settings  string            // that a search has chosen, as Config.Settings
	Particles int               // J or N; 0: recorded before this was kept, or the method has none
	Figures   map[string]Values // by the names of the table's measures and of the costs of its kind
	Machine   string
	Version   string
}

// Seconds is the time that the sampling took, with reading the data; without evaluation and pauses.
func (r *Run) Seconds() float64 { return figure(seconds)(*r) }

// figure returns a function that returns a run's figure of that name, as a number; NaN if the run has none.
func figure(name string) func(Run) float64 {
	return func(r Run) float64 {
		if v := r.Figures[name]; len(v) > 0 {
			return float64(v[0])
		}
		return math.NaN()
	}
}

// Read reads the run of a cell from its folder. Options say where data are, for figures that take them. Errors are those of
// starling.OpenRun, such as a *starling.NotDoneError. The error is a *starling.DataError if the folder's config is not that of
// the cell, perhaps because the preset has changed since, or if a cell cannot have such a run.
func (t *Table) Read(ctx context.Context, dir string, c Cell, seed uint64, reduced bool, o starling.Options) (*Run, error) {
	work, err := t.Work(c, seed, reduced, dir, o.DataDir)
	if err != nil {
		return nil, err
	}
	done, err := work.Open(ctx, dir, o)
	if err == nil {
		err = checkNeeds(dir, c.place(seed, reduced, dir, o.DataDir).Needs, c.takesPosterior())
	}
	if errors.As(err, new(*DifferentError)) {
		return nil, &starling.DataError{Err: fmt.Errorf("%s holds another run than cell %s asks for; move it away, or name another folder:\n%w", dir, c.Name, err)}
	}
	if err != nil {
		return nil, err
	}
	m := done.manifest()
	out := &Run{
		Cell: c.Name, Seed: seed, Protocol: t.Protocol(c, reduced), Settings: c.settings(), Particles: done.particles(), Figures: map[string]Values{},
		Machine: machine(m), Version: strings.TrimSpace(m.Version + " " + m.Revision),
	}
	kept, err := readFigures(dir, m.Checksum)
	if err != nil {
		return nil, err
	}
	for _, measure := range t.measures() {
		values, ok := kept[measure.Name]
		if !ok || !measure.Slow {
			values, err = measure.of(done)
		}
		if errors.Is(err, errLacks) {
			return nil, &starling.DataError{Err: fmt.Errorf("%s has no %s, so it is not the run of a cell", dir, measure.Title)}
		}
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			out.Figures[measure.Name] = values
		}
	}
	return out, t.keepFigures(dir, m.Checksum, out.Figures, kept)
}

// machine describes the machine of a run, and the number of threads if it is not one a CPU.
func machine(m *starling.Manifest) string {
	threads := ""
	switch {
	case m.Threads == m.CPUs || m.Threads == 0: // 0: not known
	case m.Threads == 1:
		threads = ", 1 thread"
	default:
		threads = fmt.Sprintf(", %d threads", m.Threads)
	}
	return fmt.Sprintf("%s, %d CPUs%s, %s", cmp.Or(m.CPU, m.Platform), m.CPUs, threads, m.Kernel)
}
