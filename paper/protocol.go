package paper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A protocol says how the runs of a cell differ from the paper's. It stands wherever their figures stand: in the terminal, in Markdown,
// in records and in JSON.
//
//	same                              not at all
//	reduced: HOW                      they are shorter: those of --budget reduced, or the cell's own (Cell.Short)
//	substitute: WHAT                  something stands for data or a network of the paper's that are not to be had
//	substitute: WHAT; reduced: HOW    both
//
// A cell that nobody can run has the words "not run: WHY" in its place.

const (
	same      = "same"
	reducedBy = "reduced: "
	standsIn  = "substitute: "
	notRun    = "not run"
	between   = "; " // the words of a protocol
)

// Protocol names the protocol of a cell's runs.
func (t *Table) Protocol(c Cell, reduced bool) string {
	var words []string
	if c.Substitute != "" {
		words = append(words, standsIn+c.Substitute)
	}
	switch {
	case reduced:
		words = append(words, reducedBy+t.Reduced)
	case c.Short != "":
		words = append(words, reducedBy+c.Short)
	}
	if words == nil {
		return same
	}
	return strings.Join(words, between)
}

// Protocols maps the names of the cells to the protocol of a whole run, or to why there is none.
func (t *Table) Protocols() map[string]string {
	all := map[string]string{}
	for _, c := range t.Cells {
		all[c.Name] = t.standing(c)
	}
	return all
}

// standing is the protocol of a whole run of a cell, or why there is none.
func (t *Table) standing(c Cell) string {
	if c.NotRun != "" {
		return notRun + ": " + c.NotRun
	}
	return t.Protocol(c, false)
}

// checkProtocol refuses a protocol that no run of the cell has. How runs were reduced may have changed since.
func (t *Table) checkProtocol(c Cell, protocol string) error {
	if c.NotRun != "" {
		return errors.New("the cell has no runs: it is " + t.standing(c))
	}
	if c.From != nil {
		return fmt.Errorf("the cell has no runs of its own: they are those of table %s", c.From.Name)
	}
	whole := t.Protocol(c, false)
	before := reducedBy
	if c.Substitute != "" {
		before = standsIn + c.Substitute + between + reducedBy
	}
	if how, reduced := strings.CutPrefix(protocol, before); protocol != whole && (!reduced || how == "") {
		return fmt.Errorf("want protocol %q or %q", whole, before+"…")
	}
	return nil
}

// isReduced reports whether a protocol is that of reduced runs.
func isReduced(protocol string) bool {
	return strings.HasPrefix(protocol, reducedBy) || strings.Contains(protocol, between+reducedBy)
}

// inBrief is a protocol without its details: same, reduced, substitute, or both.
func inBrief(protocol string) string {
	words := strings.Split(protocol, between+reducedBy)
	if len(words) == 2 {
		return inBrief(words[0]) + ", reduced"
	}
	brief, _, _ := strings.Cut(protocol, ": ")
	return brief
}

// settings are those that a search has chosen for the cell; empty: there was none, or the cell is not run.
func (c *Cell) settings() string {
	if c.Config == nil {
		return ""
	}
	return c.Config(Place{}).Settings
}

// Marks stand behind published figures that are no targets.
const (
	mark   = "†" // Table.Left says why
	others = "‡" // of the paper's own data or network, for which the cell has a substitute
)

// marks explain those of the table.
func (t *Table) marks() (lines []string) {
	if t.Left != "" {
		lines = append(lines, mark+": no target, "+t.Left)
	}
	if slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Substitute != "" && c.Published != nil }) {
		lines = append(lines, others+": no target, for it is of the paper's own data, and ours of a substitute")
	}
	return lines
}

// misprints explain the marks that the table shows.
func (t *Table) misprints() (lines []string) {
	for _, m := range t.Misprints {
		lines = append(lines, fmt.Sprintf("[%s]: %s", m.Mark, m.Says))
	}
	return lines
}
