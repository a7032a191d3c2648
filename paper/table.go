// Package paper compares the tables of papers with starling's results: a table's published figures are data, its cells are
// configs that anybody can run, and a Run holds the figures of one such run.
package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// Table is a paper's table: its cells, each with the published figures.
type Table struct {
	Name, Title string
	Reduced     string // how the reduced protocol differs from the paper's
	Cells       []Cell
}

// Protocol names the protocol of a run: "same" is the paper's, "reduced: …" says how it differs.
func (t *Table) Protocol(reduced bool) string {
	if reduced {
		return "reduced: " + t.Reduced
	}
	return "same"
}

// Cell is one entry of a table: its published figures, and the preset that runs it.
type Cell struct {
	Name      string
	Preset    string   // the paper's protocol
	Reduced   []string // the changes that the reduced protocol makes to it, as KEY=VALUE
	Published Figures
}

// Spec is the config of a cell's run with a seed.
func (c Cell) Spec(seed uint64, reduced bool) (starling.Spec, error) {
	name := fmt.Sprintf("%s-%d", c.Name, seed)
	var sets []string
	if reduced {
		name += "-reduced"
		sets = c.Reduced
	}
	return starling.Preset(c.Preset, append([]string{fmt.Sprint("seed=", seed), "name=" + name}, sets...)...)
}

// Figures are the published figures of a cell.
type Figures struct {
	Accuracy      Figure `json:"accuracy"`       // percent
	LogLikelihood Figure `json:"log_likelihood"` // nats, mean over the test examples
	Seconds       Figure `json:"seconds"`
}

// Figure is a mean and a standard deviation.
type Figure struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// Published maps the names of the cells to their published figures.
func (t *Table) Published() map[string]Figures {
	all := map[string]Figures{}
	for _, c := range t.Cells {
		all[c.Name] = c.Published
	}
	return all
}

// Run holds the results of one run of a cell.
type Run struct {
	Cell          string    `json:"cell"`
	Seed          uint64    `json:"seed"`
	Protocol      string    `json:"protocol"`            // as Table.Protocol names it
	Particles     int       `json:"particles,omitempty"` // J; 0: recorded before this was kept
	Accuracy      uq.Number `json:"accuracy"`            // percent
	LogLikelihood uq.Number `json:"log_likelihood"`      // nats, mean over the test examples
	ESS           float64   `json:"ess"`                 // median over the iterations
	Ancestors     float64   `json:"ancestors"`           // share of the iterations with more than one surviving ancestor
	Gradients     int       `json:"gradients"`           // in examples, over the particles
	Values        int       `json:"values"`              // evaluations of the likelihood without gradient, in examples, over the particles
	Sampling      float64   `json:"sampling_seconds"`    // includes reading the data; without evaluation and pauses
	Evaluation    float64   `json:"evaluation_seconds"`  // on the test examples, during the run and at its end
	Machine       string    `json:"machine"`
	Version       string    `json:"version"`
}

// Read reads the run of a cell from its folder. Errors are those of starling.OpenRun, such as a *starling.NotDoneError. The
// error is a *starling.DataError if the folder's config is not that of the cell, perhaps because the preset has changed since,
// or if a cell cannot have such a run.
func (t *Table) Read(dir string, c Cell, seed uint64, reduced bool) (*Run, error) {
	r, err := starling.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	spec, err := c.Spec(seed, reduced)
	if err != nil {
		return nil, err
	}
	if err := r.Differs(spec); err != nil {
		return nil, &starling.DataError{Err: fmt.Errorf("%s holds another run than cell %s asks for; move it away, or name another folder:\n%v", dir, c.Name, err)}
	}
	metrics, err := r.ReadMetrics()
	if err != nil {
		return nil, err
	}
	if metrics.Accuracy == nil || len(r.Trace) == 0 {
		return nil, &starling.DataError{Err: fmt.Errorf("%s has no accuracy or no trace, so it is not the run of a cell", dir)}
	}
	last := r.Trace[len(r.Trace)-1]
	out := &Run{
		Cell: c.Name, Seed: seed, Protocol: t.Protocol(reduced),
		Accuracy: 100 * *metrics.Accuracy, LogLikelihood: -metrics.NLL,
		Gradients: last.Gradients, Values: last.Values, Sampling: last.Seconds, Evaluation: r.Manifest.EvaluationSeconds,
		Machine: machine(&r.Manifest), Version: strings.TrimSpace(r.Manifest.Version + " " + r.Manifest.Revision),
	}
	if s := r.Spec.Way().Sampling(); s != nil {
		out.Particles = s.Particles
	}
	var ess []float64
	several := 0
	for _, l := range r.Trace {
		ess = append(ess, l.ESS)
		if l.Ancestors > 1 {
			several++
		}
	}
	out.ESS, out.Ancestors = numeral.Median(ess), float64(several)/float64(len(ess))
	return out, nil
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

// Row is a cell with its runs.
type Row struct {
	Cell
	Runs     []Run
	Protocol string // of the runs; empty without any
}

// Rows assigns runs to cells. Runs of the full protocol count if there are any, else the reduced ones.
func (t *Table) Rows(runs []Run) []Row {
	rows := make([]Row, len(t.Cells))
	for i, c := range t.Cells {
		rows[i].Cell = c
		for _, protocol := range protocols(runs) {
			for _, r := range runs {
				if r.Cell == c.Name && r.Protocol == protocol {
					rows[i].Runs = append(rows[i].Runs, r)
					rows[i].Protocol = protocol
				}
			}
			if rows[i].Runs != nil {
				break
			}
		}
		slices.SortFunc(rows[i].Runs, func(a, b Run) int { return int(a.Seed) - int(b.Seed) })
	}
	return rows
}

// protocols lists the protocols of the runs, "same" first.
func protocols(runs []Run) []string {
	all := []string{"same"}
	for _, r := range runs {
		if !slices.Contains(all, r.Protocol) {
			all = append(all, r.Protocol)
		}
	}
	return all
}

// Mean returns the mean of a figure over the runs, and its standard deviation, which is NaN for fewer than two runs. Both are
// NaN if the figure of any run is NaN.
func (r *Row) Mean(f func(Run) float64) (mean, sd float64) {
	if len(r.Runs) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, run := range r.Runs {
		mean += f(run) / float64(len(r.Runs))
	}
	for _, run := range r.Runs {
		sd += (f(run) - mean) * (f(run) - mean)
	}
	return mean, math.Sqrt(sd / float64(len(r.Runs)-1))
}
