// Package paper puts what papers printed beside what starling gets: a table's published figures as data, its cells as
// configs that anybody can run, and what the runs came to.
package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// Table is a paper's table: its cells, each with the published figures.
type Table struct {
	Name, Title string
	Reduced     string // how the reduced protocol differs from the paper's
	Cells       []Cell
}

// Protocol says by which protocol a run is made: same, the paper's, or reduced: how.
func (t *Table) Protocol(reduced bool) string {
	if reduced {
		return "reduced: " + t.Reduced
	}
	return "same"
}

// Cell is one entry: what was published of it, and the preset that runs it.
type Cell struct {
	Name      string
	Preset    string   // the paper's protocol
	Reduced   []string // what the reduced one sets in it, as KEY=VALUE
	Published Figures
}

// Spec is what a cell runs with a seed.
func (c Cell) Spec(seed uint64, reduced bool) (starling.Spec, error) {
	name := fmt.Sprintf("%s-%d", c.Name, seed)
	var sets []string
	if reduced {
		name += "-reduced"
		sets = c.Reduced
	}
	return starling.Preset(c.Preset, append([]string{fmt.Sprint("seed=", seed), "name=" + name}, sets...)...)
}

// Figures are what was published of a cell.
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

// Published are the figures of the cells, by their names.
func (t *Table) Published() map[string]Figures {
	all := map[string]Figures{}
	for _, c := range t.Cells {
		all[c.Name] = c.Published
	}
	return all
}

// Run is what one run of a cell came to.
type Run struct {
	Cell          string    `json:"cell"`
	Seed          uint64    `json:"seed"`
	Protocol      string    `json:"protocol"`            // same, or reduced: how
	Particles     int       `json:"particles,omitempty"` // J; 0: recorded before this was kept
	Accuracy      uq.Number `json:"accuracy"`            // percent
	LogLikelihood uq.Number `json:"log_likelihood"`      // nats, mean over the test examples
	ESS           float64   `json:"ess"`                 // median over the iterations
	Ancestors     float64   `json:"ancestors"`           // share of the iterations that left more than one ancestor alive
	Gradients     int       `json:"gradients"`           // in examples, over the particles
	Values        int       `json:"values"`              // evaluations without gradient, likewise
	Sampling      float64   `json:"sampling_seconds"`    // with reading the data, without evaluation and pauses
	Evaluation    float64   `json:"evaluation_seconds"`  // on the test examples, on the way and of the result
	Machine       string    `json:"machine"`
	Version       string    `json:"version"`
}

// Read is the run of a cell in a folder. Errors are those of starling.OpenRun, a *starling.NotDoneError among them, or a
// *starling.DataError of a run of another config, as of a preset that has changed since, or that is none of a cell.
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
		return nil, &starling.DataError{Err: fmt.Errorf("%s has no accuracy or no trace: it is no run of a cell", dir)}
	}
	last := r.Trace[len(r.Trace)-1]
	out := &Run{
		Cell: c.Name, Seed: seed, Protocol: t.Protocol(reduced),
		Accuracy: 100 * *metrics.Accuracy, LogLikelihood: -metrics.NLL,
		Gradients: last.Gradients, Values: last.Values, Sampling: last.Seconds, Evaluation: r.Manifest.EvaluationSeconds,
		Machine: machine(&r.Manifest), Version: strings.TrimSpace(r.Manifest.Version + " " + r.Manifest.Revision),
	}
	if m := r.Spec.Method.SMC; m != nil {
		out.Particles = m.Particles
	}
	var ess []float64
	several := 0
	for _, l := range r.Trace {
		ess = append(ess, l.ESS)
		if l.Ancestors > 1 {
			several++
		}
	}
	out.ESS, out.Ancestors = chart.Median(ess), float64(several)/float64(len(ess))
	return out, nil
}

// machine says what a run was made on, and with how many threads where these are not one a CPU.
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

// Row is a cell with what its runs came to.
type Row struct {
	Cell
	Runs     []Run
	Protocol string // of the runs; empty without any
}

// Rows sorts runs to cells. Runs of the full protocol count where there are any, else the reduced ones.
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

// protocols lists those of the runs, same first.
func protocols(runs []Run) []string {
	all := []string{"same"}
	for _, r := range runs {
		if !slices.Contains(all, r.Protocol) {
			all = append(all, r.Protocol)
		}
	}
	return all
}

// Mean is the mean of a figure over the runs and their standard deviation, NaN for fewer than two. Both are NaN where the
// figure of a run is.
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
