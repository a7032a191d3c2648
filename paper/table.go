// Package paper puts what papers printed beside what starling gets: a table's published figures as data, its cells as
// configs that anybody can run, and what the runs came to.
package paper

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
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
	Published []Figure
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

// Figure is a published mean and standard deviation.
type Figure struct {
	Name, Unit string
	Mean, SD   float64
}

// Run is what one run of a cell came to.
type Run struct {
	Cell          string  `json:"cell"`
	Seed          uint64  `json:"seed"`
	Protocol      string  `json:"protocol"` // same, or reduced: how
	Accuracy      float64 `json:"accuracy"` // percent
	LogLikelihood float64 `json:"log_likelihood"`
	ESS           float64 `json:"ess"`       // median over the iterations
	Ancestors     float64 `json:"ancestors"` // share of the iterations that left more than one ancestor alive
	Gradients     int     `json:"gradients"` // in examples, over the particles
	Values        int     `json:"values"`
	Sampling      float64 `json:"sampling_seconds"`   // with reading the data, without evaluation and pauses
	Evaluation    float64 `json:"evaluation_seconds"` // on the test examples, on the way and of the result
	Machine       string  `json:"machine"`
	Version       string  `json:"version"`
}

// ErrNotDone is that of a folder in which no run has ended.
var ErrNotDone = errors.New("no run has ended here")

// Read is the run of a cell in a folder, or ErrNotDone.
func Read(dir, cell, protocol string) (*Run, error) {
	var manifest starling.Manifest // the last file of a run to say that it is done
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && manifest.Status != "done":
		return nil, ErrNotDone
	case err != nil:
		return nil, &starling.DataError{Err: fmt.Errorf("%s: %w", filepath.Join(dir, "manifest.json"), err)}
	}
	r, err := starling.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	if text, err = os.ReadFile(filepath.Join(dir, "metrics.json")); err != nil {
		return nil, err
	}
	var m struct{ Accuracy, NLL float64 }
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "metrics.json"), err)
	}
	out := &Run{
		Cell: cell, Seed: r.Spec.Seed, Protocol: protocol, Accuracy: 100 * m.Accuracy, LogLikelihood: -m.NLL,
		Machine: fmt.Sprintf("%s, %d CPUs, %s", cmp.Or(r.Manifest.CPU, r.Manifest.Platform), r.Manifest.CPUs, r.Manifest.Kernel),
		Version: strings.TrimSpace(r.Manifest.Version + " " + r.Manifest.Revision),
	}
	var ess []float64
	for _, l := range r.Trace {
		ess = append(ess, l.ESS)
		if l.Ancestors > 1 {
			out.Ancestors += 1 / float64(len(r.Trace))
		}
	}
	if len(r.Trace) == 0 {
		return nil, fmt.Errorf("%s has no trace", dir)
	}
	slices.Sort(ess)
	last := r.Trace[len(r.Trace)-1]
	out.ESS, out.Gradients, out.Values = ess[len(ess)/2], last.Gradients, last.Values
	out.Sampling = last.Seconds
	out.Evaluation = r.Manifest.EvaluationSeconds
	return out, nil
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

// Mean is the mean of a figure over the runs and their standard deviation, NaN for fewer than two.
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
