package report

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
)

// work shows what the filter did at each scan, and how long that took.
func (v *tracking) work() section {
	s := section{ID: "work", Title: "What did the filter do?"}
	show := func(f *figure, caption string) {
		if f != nil {
			f.Caption = caption
			s.Figures = append(s.Figures, *f)
		}
	}
	whole := func(y float64) string { return fixed(y, 0) }
	share := chart.Axis{Label: "share of the proposals", Min: 0, Max: 1, Percent: true}
	acceptance := v.over("acceptance", "Acceptance", share, percent, v.kinds(accepted)...)
	show(acceptance, "How many proposals of each kind the chain accepts. Near 0\u00a0% it stays where it is, and its draws repeat each other: proposals are too large. "+
		"Steps of a walk that are nearly all accepted are too small.")
	if acceptance == nil {
		s.Text = append(s.Text, "The method makes no proposals that could be refused, so there is no acceptance.")
	}
	looked := chart.Axis{Label: "share of the measurements", Min: 0, Max: 1, Percent: true}
	show(v.over("seen", "Measurements looked at", looked, percent, v.kinds(func(s *FilteredScan) *filter.ByKind { return s.Seen })...),
		"How many of the scan's measurements a decision looks at. Decisions that a few of them could not make add up all, which vector instructions make fast, and count as 100\u00a0%.")
	sums := chart.Axis{Label: "share of the decisions", Min: 0, Max: 1, Percent: true}
	show(v.over("sums", "Decisions by the sum over all measurements", sums, percent, v.kinds(func(s *FilteredScan) *filter.ByKind { return s.BySum })...),
		"How many decisions a few of the measurements could not make. Near 100\u00a0% subsampling saves nothing, as for draws from a wide prediction, and for scans of few measurements.")
	ess := v.over("ess", "Effective sample size", chart.Axis{Label: "independent draws (log scale)", Log: true}, whole,
		series{"smallest of all coordinates", "s0", v.each((*FilteredScan).smallestESS)},
		series{"median of the coordinates", "s1", v.each(func(s *FilteredScan) float64 {
			if len(s.ESS) < 2 {
				return math.NaN()
			}
			return numeral.Median(s.ESS)
		})},
		series{"too few", "rule", v.each(func(s *FilteredScan) float64 {
			if s.ESS == nil {
				return math.NaN()
			}
			return fewDraws
		})})
	show(ess, fmt.Sprintf("How many independent draws the mean of a coordinate is worth. Below %d, a mean is not to be trusted.", fewDraws))
	if ess == nil {
		s.Text = append(s.Text, "The method draws no sample, so there is no effective sample size.")
	}
	show(v.over("rhat", "R-hat", chart.Axis{Label: "largest R-hat of a coordinate"}, func(y float64) string { return fixed(y, 2) },
		series{"largest of all coordinates", "s0", v.each((*FilteredScan).largestRHat)}),
		"Whether the chains of the independent filters, or of the nodes, which begin in different places, end in the same one. A little above 1 is right. Above 3, chains stay in different modes.")
	show(v.over("surprise", "Surprise", chart.Axis{Label: "share of predicted scans (log scale)", Log: true}, significant[float64],
		series{"surprise", "s0", v.each(func(s *FilteredScan) float64 { return s.Surprise })}),
		"How many of the scans that the filter predicted are no more likely than the one that came. Values from 0.01 to 1 are usual. Below 0.001 the scan has outliers, a target is lost, or the model is too sure of itself.")
	show(v.over("ancestors", "Ancestors", chart.Axis{Label: "distinct states", Whole: true, Zero: true}, whole, series{"ancestors", "s0", v.counts(func(s *FilteredScan) int64 { return int64(s.Ancestors) })}), "How many different states of the scan before the sample comes from. A few would be bad: what came before is then known from a few draws alone.")
	show(v.over("terms", "Terms of the likelihood", chart.Axis{Label: "terms", Zero: true}, whole,
		series{"evaluated", "s0", v.counts(func(s *FilteredScan) int64 { return s.Evaluated })},
		series{"left out", "s1", v.counts(func(s *FilteredScan) int64 { return s.Skipped })}), v.saved())
	s.Figures = append(s.Figures, v.nodes()...)
	evidence := v.over("evidence", "Log evidence of each scan", chart.Axis{Label: "nats"}, significant[float64], series{"log evidence", "s0", v.each(logEvidence)})
	show(evidence, "How well the scan was predicted, on a log scale: the sum over all scans is the log evidence of the model. It varies with the number of measurements. "+
		"A sudden fall is a scan that the model did not expect.")
	if evidence == nil {
		s.Text = append(s.Text, "The method estimates no evidence.")
	}
	show(v.over("returns", "Measurements", chart.Axis{Label: "measurements of a scan", Zero: true, Whole: true}, whole,
		series{"with a value", "s0", v.each(func(s *FilteredScan) float64 { return float64(s.Returns) })},
		series{"without a value", "s1", v.counts(func(s *FilteredScan) int64 { return int64(s.Missing) })}),
		"A gap in the input shows as a fall.")
	show(v.over("seconds", "Time", chart.Axis{Label: "seconds", Zero: true}, significant[float64],
		series{"work on the scan", "s0", v.each(seconds)}, series{"lag: from the scan's arrival to its estimate", "s1", v.each(func(s *FilteredScan) float64 { return s.Lag })}),
		"A lag that grows from scan to scan would be bad: the filter cannot keep up with its input.")
	return s
}

// saved says which share of the likelihood's terms could be left out.
func (v *tracking) saved() string {
	text := "A term belongs to one measurement and one proposal. The work of the filter grows with the terms that it evaluates."
	var evaluated, skipped int64
	if v.Of != nil {
		evaluated, skipped = v.Of.Metrics.Evaluated, v.Of.Metrics.Skipped
	} else {
		for _, s := range v.Scans {
			evaluated += s.Evaluated
			skipped += s.Skipped
		}
	}
	if skipped > 0 {
		text += fmt.Sprintf(" %s of all terms were left out, because the result is the same without them: they belong to measurements too far from the proposal.",
			percent(float64(skipped)/float64(evaluated+skipped)))
	}
	return text
}
