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
func (t *Table) legend() []string {
	spread := "mean ± standard deviation over the seeds run"
	if t.Standard {
		spread = "mean ± standard error of the mean over the seeds run, each with a split of its own"
	}
	lines := []string{
		"ours: " + spread,
		"ESS: median over the iterations",
		"anc>1: share of the iterations with more than one surviving ancestor",
		"gradients: of single examples, over all particles",
		"seconds: without evaluation, which has a column of its own",
	}
	if t.Left != "" {
		lines = append(lines, mark+": no target, "+t.Left)
	}
	return lines
}

// mark stands behind published figures that are no targets.
const mark = "†"

// none stands where there is no figure.
const none = "–"

// column is a column of a table: its heads, and what stands in it. Left ones hold text.
type column struct {
	head     string // in Markdown
	short    string // in the terminal; empty: not there
	left     bool
	paper    func(*Row) string // in the terminal, the line above ours; nil: empty
	ours     func(*Row) string
	separate bool // paper is a column of its own in Markdown
}

// columns are the columns between the name of the cell and the machine. Rows without runs are not asked for ours.
func (t *Table) columns() (all []column) {
	for _, m := range t.Figures {
		if !m.Beside {
			all = append(all, t.scored(m)...)
		}
	}
	all = append(all, column{head: "runs", short: "runs", left: true, ours: func(r *Row) string { return fmt.Sprint(len(r.Runs)) }})
	all = append(all, column{head: "protocol", ours: func(r *Row) string { return r.Protocol }})
	if slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Config(Place{}).Settings != "" }) {
		all = append(all, column{head: "settings", ours: func(r *Row) string { return cmp.Or(r.settings(), none) }})
	}
	seconds := column{head: "seconds", short: "seconds", ours: means(func(run Run) float64 { return run.Sampling }, t, 0)}
	if t.publishes("seconds") {
		seconds.separate, seconds.paper = true, func(r *Row) string {
			p := r.Published["seconds"]
			return meanAndSD(p.Mean, float64(p.SD), 0)
		}
	}
	return append(all,
		column{head: "J", ours: func(r *Row) string { return cmp.Or(r.particles(), none) }},
		column{head: "ESS", short: "ESS", ours: func(r *Row) string {
			ess, _ := r.Mean(func(r Run) float64 { return r.ESS })
			return r.populated(fmt.Sprintf("%.1f", ess))
		}},
		column{head: "anc>1", short: "anc>1", ours: func(r *Row) string {
			share, _ := r.Mean(func(r Run) float64 { return r.Ancestors })
			return r.populated(fmt.Sprintf("%.0f %%", 100*share))
		}},
		column{head: "gradients", short: "grads", ours: func(r *Row) string {
			n, _ := r.Mean(func(r Run) float64 { return float64(r.Gradients) })
			return millions(n)
		}},
		seconds,
		column{head: "evaluation", short: "evaluation", ours: means(func(run Run) float64 { return run.Evaluation }, t, 1)},
	)
}

// means is what stands in a column of means.
func means(f func(Run) float64, t *Table, digits int) func(*Row) string {
	return func(r *Row) string {
		mean, sd := r.Mean(f)
		return meanAndSD(mean, sd/t.over(len(r.Runs)), digits)
	}
}

// over is what a standard deviation over n runs is divided by.
func (t *Table) over(n int) float64 {
	if t.Standard {
		return math.Sqrt(float64(n))
	}
	return 1
}

// populated is the text, or none where the method of the row has no population.
func (r *Row) populated(text string) string {
	if slices.ContainsFunc(r.Runs, func(run Run) bool { return run.ESS > 0 }) {
		return text
	}
	return none
}

// scored are the columns of a measure.
func (t *Table) scored(m Measure) []column {
	c := column{head: m.head(), ours: means(figure(m.Name), t, m.Digits)}
	if !m.Aside {
		c.short = m.head()
	}
	if t.publishes(m.Name) {
		c.separate, c.paper = true, func(r *Row) string { return r.published(m) }
	}
	if !m.Compared {
		return []column{c}
	}
	return []column{c, {head: "ours/paper", ours: func(r *Row) string {
		p, ok := r.target(m.Name)
		if !ok {
			return none
		}
		mean, _ := r.Mean(figure(m.Name))
		return fmt.Sprintf("%.2f", mean/p.Mean)
	}}}
}

// First is a run's first figure in words, as "accuracy 97.55 %".
func (t *Table) First(run *Run) string {
	m := t.Figures[0]
	return strings.TrimSpace(fmt.Sprintf("%s %.*f %s", m.Title, m.Digits, run.Figures[m.Name], m.Unit))
}

// target is the published figure that ours is compared with; there is none in a cell that is excluded.
func (r *Row) target(name string) (Figure, bool) {
	p, ok := r.Published[name]
	return p, ok && !r.Excluded
}

// published is a published figure as the paper printed it.
func (r *Row) published(m Measure) string {
	p, ok := r.Published[m.Name]
	switch {
	case !ok:
		return none
	case r.Excluded:
		return asPrinted(p, m.Digits) + mark
	}
	return asPrinted(p, m.Digits)
}

func markdownHead(columns []column) string {
	heads := []string{"cell"}
	for _, c := range columns {
		if c.separate {
			heads = append(heads, c.head+": paper", "ours")
		} else {
			heads = append(heads, c.head)
		}
	}
	heads = append(heads, "machine")
	return "| " + strings.Join(heads, " | ") + " |\n|" + strings.Repeat("---|", len(heads)) + "\n"
}

// IsMarkdown reports whether a file begins as WriteMarkdown begins it.
func (t *Table) IsMarkdown(beginning []byte) bool {
	return bytes.HasPrefix(beginning, []byte(markdownHead(t.columns())))
}

// WriteMarkdown writes the table, the paper's figures beside ours, and the machines below it.
func (t *Table) WriteMarkdown(w io.Writer, runs []Run) error {
	rows := t.Rows(runs)
	all := machines(rows)
	columns := t.columns()
	var b strings.Builder
	b.WriteString(markdownHead(columns))
	for i := range rows {
		r := &rows[i]
		cells := []string{r.Name}
		for _, c := range columns {
			if c.separate {
				cells = append(cells, c.paper(r))
			}
			cells = append(cells, r.text(c))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(append(cells, cmp.Or(r.on(all), none)), " | "))
	}
	fmt.Fprintf(&b, "\n%s.\n", strings.Join(t.legend(), "; "))
	for i, m := range all {
		fmt.Fprintf(&b, "Machine %d: %s.\n", i+1, m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text is what stands in a column of Markdown for our runs.
func (r *Row) text(c column) string {
	switch {
	case r.Runs != nil:
		return c.ours(r)
	case c.head == "runs":
		return "0"
	case c.head == "protocol":
		return "not run"
	}
	return none
}

// WriteText writes the table for a terminal of 120 columns, our figures below the paper's if there are any.
func (t *Table) WriteText(w io.Writer, runs []Run) error {
	rows := t.Rows(runs)
	all := machines(rows)
	columns := slices.DeleteFunc(t.columns(), func(c column) bool { return c.short == "" })
	beside := slices.ContainsFunc(columns, func(c column) bool { return c.paper != nil })
	heads, left := []string{"cell", ""}, []int{1}
	for _, c := range columns {
		if c.left {
			left = append(left, len(heads))
		}
		heads = append(heads, c.short)
	}
	lines := table.Table{Rows: [][]string{append(heads, "on")}, Left: append(left, len(heads))}
	var reduced []string
	for i := range rows {
		r := &rows[i]
		paper, ours := []string{r.Name, ""}, []string{"", "ours"}
		if beside {
			paper[1] = "paper"
		}
		if j := r.particles(); j != "" {
			ours[0] = "J = " + j // in the column of the cell's name, which is free in this line
		}
		protocol, how, _ := strings.Cut(r.Protocol, ": ")
		if how != "" && !slices.Contains(reduced, r.Protocol) {
			reduced = append(reduced, r.Protocol)
		}
		for _, c := range columns {
			above, below := "", ""
			if c.paper != nil {
				above = c.paper(r)
			}
			if r.Runs != nil {
				below = c.ours(r)
			}
			if c.head == "runs" {
				below += " " + protocol
				if r.Runs == nil {
					above = "not run"
				}
			}
			paper, ours = append(paper, above), append(ours, below)
		}
		if beside || r.Runs == nil {
			lines.Add(append(paper, "")...)
		} else {
			ours[0] = r.Name
		}
		if r.Runs != nil {
			lines.Add(append(ours, r.on(all))...)
		}
	}
	var b strings.Builder
	lines.Write(&b)
	fmt.Fprintf(&b, "\n%s\n", strings.Join(t.legend(), "\n"))
	for _, how := range reduced {
		b.WriteString(how + "\n")
	}
	for i, m := range all {
		fmt.Fprintf(&b, "on %d: %s\n", i+1, m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asPrinted writes a mean with so many decimals, or with more if the paper printed more.
func asPrinted(f Figure, digits int) string {
	mean := strconv.FormatFloat(f.Mean, 'f', -1, 64)
	if _, all, _ := strings.Cut(mean, "."); len(all) > digits && f.SD == f.SD {
		return fmt.Sprintf("%s ± %.*f", mean, digits, f.SD)
	}
	return meanAndSD(f.Mean, float64(f.SD), digits)
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

// settings lists the settings of the row's runs, as they were when the runs were made.
func (r *Row) settings() string {
	var all []string
	for _, run := range r.Runs {
		if !slices.Contains(all, run.Settings) {
			all = append(all, run.Settings)
		}
	}
	return strings.Join(all, "; ")
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
