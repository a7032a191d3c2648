package paper

import (
	"fmt"
	"math"
	"strings"
)

// writeGains writes Tables I and IV as Markdown: what an algorithm gains over SMCMC on the same scans, in seconds and in terms.
func writeGains(t *Table, _ string, runs []Run) (string, error) {
	var b strings.Builder
	rows := map[string]*Row{}
	for _, r := range t.Rows(runs) {
		rows[r.Name] = &r
	}
	for _, example := range []string{"gaussian500", "gaussian5000", "clutter3"} {
		p := publishedTimes[example]
		base := rows[example+"-smcmc"]
		lines := ""
		for _, c := range t.Cells {
			name, ok := strings.CutPrefix(c.Name, example+"-")
			r := rows[c.Name]
			if !ok || r.Runs == nil || base.Runs == nil || r.Protocol != base.Protocol {
				continue
			}
			time, printed := none, none
			for _, row := range p.rows {
				if row.algorithm == name {
					time, printed = fmt.Sprintf("%.2f %s", row.time, p.unit), shortest(row.gain)+" %"
				}
			}
			lines += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", c.Name, time, printed, gain(base, r, seconds), gain(base, r, "terms"))
		}
		if lines != "" {
			fmt.Fprintf(&b, "### Table %s: gain over SMCMC\n\n| cell | time a scan: paper | gain: paper | gain in seconds: ours | gain in terms: ours |\n|---|---|---|---|---|\n%s\n", p.at, lines)
		}
	}
	return b.String(), nil
}

// gain is how much less a cell takes than another, in percent of that.
func gain(base, r *Row, name string) string {
	before, _ := base.Mean(figure(name))
	after, _ := r.Mean(figure(name))
	if g := 100 * (1 - after/before); !math.IsNaN(g) {
		return fmt.Sprintf("%.1f %%", g)
	}
	return none
}
