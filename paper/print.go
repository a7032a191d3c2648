package paper

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/table"
)

// legend explains the columns, in the terminal and in Markdown.
var legend = []string{
	"ours: mean ± standard deviation over the seeds run",
	"anc>1: share of the iterations with more than one surviving ancestor",
	"gradients: of single examples, over all particles",
	"seconds: without evaluation, which has a column of its own",
}

// heads are the columns of the terminal's table. Those in words hold text, and are left-aligned.
var (
	heads = []string{"cell", "", "accuracy, %", "log-likelihood", "runs", "ESS", "anc>1", "grads", "seconds", "evaluation", "on"}
	words = []int{1, 4, 10}
)

// markdownColumns are the columns of the Markdown.
var markdownColumns = []string{"cell", "accuracy, %: paper", "ours", "log-likelihood: paper", "ours", "runs", "protocol", "J", "ESS", "anc>1", "gradients",
	"seconds: paper", "ours", "evaluation", "machine"}

func markdownHead() string {
	return "| " + strings.Join(markdownColumns, " | ") + " |\n|" + strings.Repeat("---|", len(markdownColumns)) + "\n"
}

// IsMarkdown reports whether a file begins as WriteMarkdown begins it.
func IsMarkdown(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(markdownHead())) }

// WriteMarkdown writes the table, the paper's figures beside ours, and the machines below it.
func (t *Table) WriteMarkdown(w io.Writer, runs []Run) error {
	rows := t.Rows(runs)
	all := machines(rows)
	var b strings.Builder
	b.WriteString(markdownHead())
	for _, r := range rows {
		p, o := r.published(), r.ours(all)
		protocol := r.Protocol
		if protocol == "" {
			protocol = "not run"
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join([]string{r.Name, p.accuracy, o.accuracy, p.likelihood, o.likelihood, o.runs, protocol,
			cmp.Or(o.particles, "–"), o.ess, o.ancestors, o.gradients, p.seconds, o.seconds, o.evaluation, o.machine}, " | "))
	}
	fmt.Fprintf(&b, "\n%s.\n", strings.Join(legend, "; "))
	for i, m := range all {
		fmt.Fprintf(&b, "Machine %d: %s.\n", i+1, m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the table for a terminal of 120 columns, our figures below the paper's.
func (t *Table) WriteText(w io.Writer, runs []Run) error {
	rows := t.Rows(runs)
	all := machines(rows)
	lines := table.Table{Rows: [][]string{heads}, Left: words}
	var reduced []string
	for _, r := range rows {
		if r.Runs == nil {
			lines.Add(r.published().line(r.Name, "paper", "not run")...)
			continue
		}
		protocol, how, _ := strings.Cut(r.Protocol, ": ")
		if how != "" && !slices.Contains(reduced, r.Protocol) {
			reduced = append(reduced, r.Protocol)
		}
		o, j := r.ours(all), ""
		if o.particles != "" {
			j = "J = " + o.particles // in the column of the cell's name, which is free in this line
		}
		lines.Add(r.published().line(r.Name, "paper", "")...)
		lines.Add(o.line(j, "ours", o.runs+" "+protocol)...)
	}
	var b strings.Builder
	lines.Write(&b)
	fmt.Fprintf(&b, "\n%s\n", strings.Join(legend, "\n"))
	for _, how := range reduced {
		b.WriteString(how + "\n")
	}
	for i, m := range all {
		fmt.Fprintf(&b, "on %d: %s\n", i+1, m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// entry is the text of a cell's figures: the paper's or ours.
type entry struct {
	accuracy, likelihood, runs, particles, ess, ancestors, gradients, seconds, evaluation, machine string
}

// line is the entry as a row below heads.
func (e entry) line(cell, side, runs string) []string {
	return []string{cell, side, e.accuracy, e.likelihood, runs, e.ess, e.ancestors, e.gradients, e.seconds, e.evaluation, e.machine}
}

func (r *Row) published() entry {
	p := r.Published
	return entry{accuracy: asPrinted(p.Accuracy, 2), likelihood: asPrinted(p.LogLikelihood, 3), seconds: meanAndSD(p.Seconds.Mean, p.Seconds.SD, 0)}
}

// asPrinted writes a mean with so many decimals, or with more if the paper printed more.
func asPrinted(f Figure, digits int) string {
	mean := strconv.FormatFloat(f.Mean, 'f', -1, 64)
	if _, all, _ := strings.Cut(mean, "."); len(all) > digits {
		return fmt.Sprintf("%s ± %.*f", mean, digits, f.SD)
	}
	return meanAndSD(f.Mean, f.SD, digits)
}

// ours is the entry of our runs. all are the machines of the table.
func (r *Row) ours(all []string) entry {
	write := func(digits int, f func(Run) float64) string {
		mean, sd := r.Mean(f)
		return meanAndSD(mean, sd, digits)
	}
	if r.Runs == nil {
		return entry{accuracy: "–", likelihood: "–", runs: "0", ess: "–", ancestors: "–", gradients: "–", seconds: "–", evaluation: "–", machine: "–"}
	}
	ess, _ := r.Mean(func(r Run) float64 { return r.ESS })
	ancestors, _ := r.Mean(func(r Run) float64 { return r.Ancestors })
	gradients, _ := r.Mean(func(r Run) float64 { return float64(r.Gradients) })
	return entry{
		accuracy:   write(2, func(r Run) float64 { return float64(r.Accuracy) }),
		likelihood: write(3, func(r Run) float64 { return float64(r.LogLikelihood) }),
		runs:       fmt.Sprint(len(r.Runs)),
		particles:  r.particles(),
		ess:        fmt.Sprintf("%.1f", ess),
		ancestors:  fmt.Sprintf("%.0f %%", 100*ancestors),
		gradients:  millions(gradients),
		seconds:    write(0, func(r Run) float64 { return r.Sampling }),
		evaluation: write(1, func(r Run) float64 { return r.Evaluation }),
		machine:    r.on(all),
	}
}

// particles lists the numbers of particles of the row's runs; it is empty if none was recorded.
func (r *Row) particles() string {
	var all []string
	for _, run := range r.Runs {
		if j := fmt.Sprint(run.Particles); run.Particles != 0 && !slices.Contains(all, j) {
			all = append(all, j)
		}
	}
	return strings.Join(all, ",")
}

// meanAndSD writes a mean, and its standard deviation if there is one.
func meanAndSD(mean, sd float64, digits int) string {
	if math.IsNaN(sd) {
		return fmt.Sprintf("%.*f", digits, mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, sd)
}

// millions writes a number in millions with at least three digits: 361 M, 40.2 M, 4.00 M.
func millions(n float64) string {
	switch m := n / 1e6; {
	case m >= 99.95:
		return fmt.Sprintf("%.0f M", m)
	case m >= 9.995:
		return fmt.Sprintf("%.1f M", m)
	default:
		return fmt.Sprintf("%.2f M", m)
	}
}

// machines lists the machines of the rows' runs, in order of appearance.
func machines(rows []Row) (all []string) {
	for _, r := range rows {
		for _, run := range r.Runs {
			if !slices.Contains(all, run.Machine) {
				all = append(all, run.Machine)
			}
		}
	}
	return all
}

// on lists the machines of the row's runs by their numbers in all, from 1.
func (r *Row) on(all []string) string {
	var numbers []string
	for i, m := range all {
		if slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Machine == m }) {
			numbers = append(numbers, fmt.Sprint(i+1))
		}
	}
	return strings.Join(numbers, ",")
}
