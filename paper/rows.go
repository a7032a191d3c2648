package paper

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

// Row is a cell with its runs.
type Row struct {
	Cell
	Runs     []Run
	Protocol string // of the runs, as Table.Protocol names it; empty without any
}

// Rows assigns runs to cells. Runs of the full protocol count if there are any, else the reduced ones.
func (t *Table) Rows(runs []Run) []Row {
	rows := make([]Row, len(t.Cells))
	recorded := map[*Table][]Run{nil: runs} // by Cell.From
	for i, c := range t.Cells {
		rows[i].Cell = c
		if _, ok := recorded[c.From]; !ok {
			recorded[c.From] = c.From.Recorded()
		}
		runs := recorded[c.From]
		for _, protocol := range protocols(t.Protocol(c, false), runs) {
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

// protocols lists the protocols of the runs, that of a whole run first.
func protocols(whole string, runs []Run) []string {
	all := []string{whole}
	for _, r := range runs {
		if !slices.Contains(all, r.Protocol) {
			all = append(all, r.Protocol)
		}
	}
	return all
}

// joined is the figure of a measure over the row's runs; nil: none of them has it.
func (t *Table) joined(r *Row, m *Measure) Figure {
	var all []Values
	some := false
	for _, run := range r.Runs {
		all = append(all, run.Figures[m.Name])
		some = some || len(run.Figures[m.Name]) > 0
	}
	switch {
	case !some:
		return nil
	case m.Join != nil:
		return m.Join(all)
	}
	mean, sd := r.Mean(figure(m.Name))
	return Mean{mean, uq.Number(sd / t.Errors.over(len(r.Runs)))}
}

// Mean returns the mean of a figure over the runs, and the standard deviation of a run, which is NaN for fewer than two runs. Both
// are NaN if the figure of any run is NaN.
func (r *Row) Mean(f func(Run) float64) (mean, sd float64) {
	if len(r.Runs) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, run := range r.Runs {
		mean += f(run) / float64(len(r.Runs))
	}
	for _, run := range r.Runs {
		sd += float64((f(run) - mean) * (f(run) - mean))
	}
	return mean, math.Sqrt(sd / float64(len(r.Runs)-1))
}

// interval is the mean of a figure over the row's runs, and the mean less and more its standard error: of one run, the figure itself.
func (t *Table) interval(r *Row, f func(Run) float64) (mean, low, high float64) {
	mean, sd := r.Mean(f)
	if math.IsNaN(sd) {
		return mean, mean, mean
	}
	e := sd / t.Errors.over(len(r.Runs))
	return mean, mean - e, mean + e
}

// protocol is what stands in Markdown for how the row was run.
func (r *Row) protocol() string {
	switch {
	case r.Runs != nil:
		return r.Protocol
	case r.NotRun != "":
		return notRun + ": " + r.NotRun
	case r.Substitute != "":
		return notRun + between + standsIn + r.Substitute
	}
	return notRun
}

// mark is that of the row's published figures; empty: they are targets.
func (r *Row) mark() string {
	switch {
	case r.Excluded:
		return mark
	case r.Substitute != "":
		return others
	}
	return ""
}

// misprint is the mark of a published figure that the paper contradicts; empty: it is none.
func (r *Row) misprint(measure string) string {
	if mark := r.Misprints[measure]; mark != "" {
		return " [" + mark + "]"
	}
	return ""
}
