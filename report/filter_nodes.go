package report

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/chart"
)

// nodes shows the work and the sites of the nodes of ep; nothing where there are none.
func (v *tracking) nodes() (figures []figure) {
	most := 0 // passes
	for _, s := range v.Scans {
		if s.Nodes != nil {
			most = max(most, len(s.Nodes.Passes))
		}
	}
	if most == 0 {
		return nil
	}
	whole := func(y float64) string { return fixed(y, 0) }
	count := func(of func(n *filter.Nodes) int64) []float64 {
		return v.counts(func(s *FilteredScan) int64 {
			if s.Nodes == nil {
				return 0
			}
			return of(s.Nodes)
		})
	}
	show := func(f *figure, caption string) {
		if f != nil {
			f.Caption = caption
			figures = append(figures, *f)
		}
	}
	show(v.over("critical", "Terms on the way", chart.Axis{Label: "terms", Zero: true}, whole,
		series{"of all nodes", "s0", v.counts(func(s *FilteredScan) int64 { return s.Evaluated })},
		series{"of the slowest node in each pass", "s1", count(func(n *filter.Nodes) int64 { return n.Critical })}),
		"Where each node has a processor of its own, one waits for the slowest of them in each pass. Its terms, summed over passes, are what is left of all terms then.")
	var lines []series
	for l := range min(most, 3) {
		lines = append(lines, series{fmt.Sprintf("pass %d", l+1), fmt.Sprintf("s%d", l), v.each(func(s *FilteredScan) float64 {
			if s.Nodes == nil || l >= len(s.Nodes.Passes) {
				return math.NaN()
			}
			p := s.Nodes.Passes[l]
			if math.IsNaN(p.Joint) {
				return p.Refine
			}
			return p.Joint
		})})
	}
	show(v.over("passes", "Acceptance in each pass", chart.Axis{Label: "share of the proposals", Min: 0, Max: 1, Percent: true}, percent, lines...),
		"Of joint draws or, without them, of refinements. From the second pass on the other nodes' sites guide the draws, so that more are accepted.")
	show(v.over("sites", "Sites", chart.Axis{Label: "sites of a scan", Zero: true, Whole: true}, whole,
		series{"made", "s0", count(func(n *filter.Nodes) int64 { return int64(n.Sites) })},
		series{"repaired", "s1", count(func(n *filter.Nodes) int64 { return int64(n.Repaired) })},
		series{"that say nothing", "s2", count(func(n *filter.Nodes) int64 { return int64(n.Empty) })}),
		"What the nodes tell each other. Many that are repaired or say nothing would be bad: nodes then do without the measurements of others.")
	return figures
}
