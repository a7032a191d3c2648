package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// writeGains writes Tables I and IV as Markdown: what an algorithm gains over SMCMC on the same scans, in seconds and in terms, by the medians of the
// runs. A table of what the nodes' gain consists of follows.
func writeGains(t *Table, _ string, runs []Run) (string, error) {
	var b strings.Builder
	rows := map[string]*Row{}
	for _, r := range t.Rows(runs) {
		rows[r.Name] = &r
	}
	parts := ""
	for _, e := range sequentialExamples {
		lines, base := "", rows[e.name+"-smcmc"]
		for _, a := range e.algorithms {
			r := rows[e.name+"-"+a.name]
			if r == nil || r.Runs == nil || base == nil || base.Runs == nil || r.Protocol != base.Protocol {
				continue
			}
			time, printed := none, none
			for _, p := range e.times.rows {
				if p.algorithm == a.printed {
					time, printed = fmt.Sprintf("%.2f %s", p.time, e.times.unit), shortest(p.gain)+" %"
				}
			}
			lines += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.Name, time, printed, gain(base, r, seconds), gain(base, r, "terms"))
			if a.nodes > 0 {
				parts += a.parts(e.algorithms[0], base, r)
			}
		}
		if lines != "" {
			fmt.Fprintf(&b, "### Table %s: gain over SMCMC\n\n| cell | time a scan: paper | gain: paper | gain in seconds: ours | gain in terms: ours |\n|---|---|---|---|---|\n%s\n",
				e.times.table, lines)
		}
	}
	if parts != "" {
		fmt.Fprintf(&b, "### What the gain of nodes consists of: how many times fewer terms than SMCMC\n\n"+
			"| cell | fewer steps of a chain | fewer measurements of a node | passes | expected of a node | ours, critical path | ours, all nodes |\n|---|---|---|---|---|---|---|\n%s\n", parts)
	}
	return b.String(), nil
}

// parts says what the nodes' gain over SMCMC consists of (sequential-mcmc-massive-data, section 5, A5).
func (a algorithm) parts(smcmc algorithm, base, r *Row) string {
	const passes = 2
	if a.burn == 0 || r.Protocol == "" {
		return ""
	}
	steps := float64(smcmc.each+smcmc.burn) / float64(a.each+a.burn)
	return fmt.Sprintf("| %s | × %s | × %d | ÷ %d | × %s | × %s | × %s |\n", r.Name, times(steps), a.nodes, passes, times(steps*float64(a.nodes)/passes),
		times(quotient(base, r, "terms", "critical_terms")), times(quotient(base, r, "terms", "terms")))
}

func times(v float64) string { return numeral.Fixed(v, 1) }

// quotient is the median over the runs of one figure of a row, divided by that of another figure of another row. A run that another program
// has slowed down does not count for more than one.
func quotient(above, below *Row, of, by string) float64 { return above.median(of) / below.median(by) }

func (r *Row) median(name string) float64 {
	var all []float64
	for _, run := range r.Runs {
		all = append(all, figure(name)(run))
	}
	return numeral.Median(all)
}

// gain is how much less a cell takes than another, in percent of that.
func gain(base, r *Row, name string) string {
	if g := 100 * (1 - quotient(r, base, name, name)); !math.IsNaN(g) {
		return numeral.Fixed(g, 1) + " %"
	}
	return none
}
