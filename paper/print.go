package paper

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/table"
)

// legend explains the columns, in the terminal and in Markdown.
func (t *Table) legend() []string {
	lines := []string{"ours: " + t.Errors.String()}
	for _, m := range t.measures() {
		if m.Legend != "" {
			lines = append(lines, m.Title+": "+m.Legend)
		}
	}
	return slices.Concat(lines, t.marks(), t.misprints())
}

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
		all = append(all, t.scored(m)...)
	}
	all = append(all, column{head: "runs", short: "runs", left: true, ours: func(r *Row) string { return fmt.Sprint(len(r.Runs)) }})
	all = append(all, column{head: "protocol", ours: (*Row).protocol})
	if slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.settings() != "" }) {
		all = append(all, column{head: "settings", ours: func(r *Row) string { return cmp.Or(r.settings(), none) }})
	}
	all = append(all, column{head: "J", ours: func(r *Row) string { return cmp.Or(r.particles(), none) }})
	for _, m := range t.Kind.Costs {
		all = append(all, t.scored(m)...)
	}
	return all
}

// scored are the columns of a measure: none if it stands beside the table.
func (t *Table) scored(m Measure) []column {
	if m.Beside {
		return nil
	}
	c := column{head: m.head(), ours: func(r *Row) string { return m.write(t.joined(r, &m)) }}
	if !m.Aside {
		c.short = m.titled(cmp.Or(m.Short, m.Title))
	}
	if t.publishes(m.Name) {
		c.separate, c.paper = true, func(r *Row) string { return r.published(m) }
	}
	if !m.Compared {
		return []column{c}
	}
	return []column{c, {head: "ours/paper", ours: func(r *Row) string {
		p, ok := r.target(m.Name)
		ours := t.joined(r, &m)
		if !ok || ours == nil {
			return none
		}
		return fmt.Sprintf("%.2f", ours.centre()/p.centre())
	}}}
}

// First is the first figure that a run has, in words, as "accuracy 97.55 %".
func (t *Table) First(run *Run) string {
	for _, m := range t.Figures {
		if f := t.joined(&Row{Runs: []Run{*run}}, &m); f != nil {
			return strings.TrimSpace(m.Title + " " + m.write(f) + " " + m.Unit)
		}
	}
	return ""
}

// target is the published figure that ours is compared with; there is none where a mark says that it is no target, or that it is misprinted.
func (r *Row) target(name string) (Figure, bool) {
	p, ok := r.Published[name]
	return p, ok && r.mark() == "" && r.Misprints[name] == ""
}

// published is a published figure as the paper printed it.
func (r *Row) published(m Measure) string {
	p, ok := r.Published[m.Name]
	if !ok {
		return none
	}
	text := p.printed(m.Digits)
	if m.Form != nil {
		text = m.Form(p)
	}
	return text + r.mark() + r.misprint(m.Name)
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
	fmt.Fprintf(&b, "\n- %s\n\n", strings.Join(t.legend(), "\n- "))
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
		return r.protocol()
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
	standing := same
	for i := range rows {
		r := &rows[i]
		if s := t.standing(r.Cell); s != standing {
			standing = s
			lines.Add(s) // above all cells that have it
		}
		paper, ours := []string{r.Name, ""}, []string{"", "ours"}
		if beside {
			paper[1] = "paper"
		}
		if j := r.particles(); j != "" {
			ours[0] = "J = " + j // in the column of the cell's name, which is free in this line
		}
		if isReduced(r.Protocol) && !slices.Contains(reduced, r.Protocol) {
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
				below += " " + inBrief(r.Protocol)
				if r.Runs == nil {
					above = notRun
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
