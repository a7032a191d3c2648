package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
)

// The summary of a filter run warns below these values.
const (
	fewDraws   = 10  // independent draws that a mean is worth
	smallCover = .8  // share of truths inside the 95 % ellipses, or of coordinates inside the 90 % intervals
	fewMoves   = .01 // share of proposals that are accepted
)

func (v *tracking) lead() string {
	what := several(len(v.IDs), "track")
	if !v.plane && v.IDs[0] == "" {
		what = "the hidden state (" + v.list(v.Names) + ")"
	}
	return fmt.Sprintf("%s, %s: %s by %s.", several(v.scans(), "scan"), v.period(), what, v.Method)
}

// list joins the first names.
func (v *tracking) list(names []string) string {
	const few = 6
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", …"
	}
	return numeral.List(names)
}

// period says when the scans begin and end.
func (v *tracking) period() string {
	at := func(k int) string {
		if s := v.Scans[k]; s.Text != "" {
			return s.Text
		}
		return plain(v.Scans[k].Time) + "\u00a0s"
	}
	if len(v.Scans) == 1 {
		return "at " + at(0)
	}
	return at(0) + " to " + at(len(v.Scans)-1)
}

// scans is the number of scans, also of those that are not drawn.
func (v *tracking) scans() int {
	if v.Of != nil {
		return v.Of.Scans
	}
	return len(v.Scans)
}

// thinnedNote says which of the scans the page draws; empty: all.
func (v *tracking) thinnedNote() string {
	if v.Of == nil {
		return ""
	}
	return fmt.Sprintf("The page draws %s of the %s scans: one of each %s that follow one another, chosen at random, the first and the last. "+
		"Numbers of scans and of returns, sums, the log evidence and the effective sample sizes in this summary are of all scans; other numbers are of those that are drawn. "+
		"metrics.json has the scores of all scans, and tracks.jsonl all lines.", count(len(v.Scans)), count(v.Of.Scans), count(v.Of.Each))
}

func (v *tracking) returns() (returns, missing int) {
	if v.Of != nil {
		return v.Of.Metrics.Returns, v.Of.Metrics.Missing
	}
	for _, s := range v.Scans {
		returns += s.Returns
		missing += s.Missing
	}
	return returns, missing
}

// covered returns 1 for each truth inside its 95 % ellipse (in the plane) or 90 % interval, 0 for each one outside.
func (v *tracking) covered() (all []float64) {
	if v.plane {
		return v.ofTracks((*FilteredScan).inside)
	}
	for c := range v.Names {
		all = append(all, v.each(func(s *FilteredScan) float64 { return s.between(c) })...)
	}
	return all
}

// region names what covered asks for.
func (v *tracking) region() string {
	if v.plane {
		return "95\u00a0% ellipses"
	}
	return "90\u00a0% intervals"
}

func (v *tracking) cards() []card {
	returns, missing := v.returns()
	note := ""
	if missing > 0 {
		note = "and " + count(missing) + " without a value"
	}
	cards := []card{{"scans", count(v.scans()), ""}, {"returns", count(returns), note}}
	if v.truth && v.plane {
		cards = append(cards, card{"position error (RMSE)", significant(rms(v.ofTracks((*FilteredScan).distance))),
			"posterior sd " + significant(rms(v.ofTracks((*FilteredScan).spread)))})
	}
	if inside := share(v.covered()); !math.IsNaN(inside) {
		cards = append(cards, card{"truth inside", percent(inside), "of the " + v.region()})
	}
	if ess := v.each((*FilteredScan).smallestESS); finiteAny(ess) {
		cards = append(cards, card{"smallest ESS", fixed(v.medianESS(), 0), "median over the scans"})
	}
	if z := v.each(logEvidence); finiteAny(z) {
		cards = append(cards, card{"log evidence", fixed(v.evidence(), 1), "nats, all scans"})
	}
	if t := v.each(seconds); finiteAny(t) {
		cards = append(cards, card{"seconds a scan", significant(numeral.Median(t)), "median"})
	}
	return cards
}

// medianESS and leastESS are of all scans, also of those that are not drawn.
func (v *tracking) medianESS() float64 {
	if v.Of != nil {
		return float64(v.Of.Metrics.ESS.Median)
	}
	return numeral.Median(v.each((*FilteredScan).smallestESS))
}

func (v *tracking) leastESS() float64 {
	if v.Of != nil {
		return float64(v.Of.Metrics.ESS.Min)
	}
	return numeral.Quantile(v.each((*FilteredScan).smallestESS), 0)
}

// evidence is the sum over the scans; NaN if a scan has none.
func (v *tracking) evidence() float64 {
	if v.Of != nil {
		if z := v.Of.Metrics.LogEvidence; z != nil {
			return float64(*z)
		}
		return math.NaN()
	}
	sum := 0.0
	for _, z := range v.each(logEvidence) {
		sum += z
	}
	return sum
}

func (v *tracking) summary() []topic {
	return []topic{v.estimated(), v.accurate(), v.mixes(), v.keepsUp()}
}

func (v *tracking) estimated() topic {
	t := topic{Title: "What was estimated?"}
	returns, missing := v.returns()
	if v.IDs[0] == "" {
		t.say("After each scan the filter estimates the hidden state (%s) from all measurements so far.", v.list(v.Names))
	} else {
		t.say("After each scan the filter estimates %s of %s from all returns so far.", v.list(v.Names), several(len(v.IDs), "target"))
	}
	t.say("It was given %s in %s, %s.", several(returns, "measurement"), several(v.scans(), "scan"), v.period())
	if missing > 0 {
		t.say("Another %s had no value and were left out.", several(missing, "measurement"))
	}
	for _, note := range []string{v.Last, v.thinnedNote()} {
		if note != "" {
			t.say("%s", note)
		}
	}
	return t
}

// accurate says how far the estimates are from the truth, and whether the filter knows that.
func (v *tracking) accurate() topic {
	t := topic{Title: "How good is it?"}
	if h := v.HeldOut; h != nil {
		t.say("The filter did not see %s. It gave them a log density of %s nats on average. The normal distribution of all measurements before gives %s: less is worse.",
			several(h.N, "measurement"), fixed(float64(h.LogScore), 4), fixed(float64(h.Running), 4))
	}
	if !v.truth {
		t.say("The truth is not known here, so there is no error to show. The uncertainty that is shown is the filter's own.")
		return t
	}
	if v.plane {
		t.say("The estimated positions are %s away from the truth (root mean square). The filter's own standard deviation says %s: the two should be about equal.",
			significant(rms(v.ofTracks((*FilteredScan).distance))), significant(rms(v.ofTracks((*FilteredScan).spread))))
	}
	inside := share(v.covered())
	switch says := fmt.Sprintf("%s of the true values lie inside the filter's %s", percent(inside), v.region()); {
	case math.IsNaN(inside):
	case inside < smallCover:
		t.warn("The filter is too sure of itself: %s.", says)
	default:
		t.say("%s.", says)
	}
	return t
}

// mixes says whether the sample of a scan can be trusted, and tells the findings of the run.
func (v *tracking) mixes() topic {
	t := topic{Title: "Can the sample be trusted?"}
	ess := v.each((*FilteredScan).smallestESS)
	if !finiteAny(ess) {
		t.say("The method draws no sample: there is nothing to diagnose.")
	} else {
		t.say("Draws depend on each other, or have unequal weights. The mean of the least certain coordinate is worth %s independent draws (median over the scans; the worst scan: %s).",
			fixed(v.medianESS(), 0), fixed(v.leastESS(), 0))
		poor := 0
		for _, e := range ess {
			if e < fewDraws {
				poor++
			}
		}
		if poor > 0 && !finding.Has(v.Findings, finding.FewDraws{}) {
			t.warn("In %s a mean is worth fewer than %d independent draws: draw more samples a scan, or make smaller proposals.", several(poor, "scan"), fewDraws)
		}
	}
	most := 0.0 // one kind of proposal may be hopeless, if another one moves the chain
	for _, a := range v.kinds(accepted) {
		most = max(most, numeral.Median(a.y))
	}
	if v.kinds(accepted) != nil && most < fewMoves {
		t.warn("The chain hardly moves: it accepts %s of its proposals, of the kind that it accepts most.", percent(most))
	}
	for _, f := range v.Findings {
		t.tell(f)
	}
	return t
}

// keepsUp compares the time that a scan takes with the time between scans.
func (v *tracking) keepsUp() topic {
	t := topic{Title: "Does it keep up?"}
	work := v.each(seconds)
	if !finiteAny(work) {
		t.say("The times of this run were not recorded.")
		return t
	}
	var apart []float64
	for k := 1; k < len(v.Scans); k++ {
		since := v.Scans[k].Time - v.Scans[k-1].Time
		if v.Of != nil { // the scan before is not drawn
			since = v.Scans[k].Since
		}
		apart = append(apart, since)
	}
	says := fmt.Sprintf("A scan takes %s\u00a0s of work (median; the longest %s\u00a0s)", significant(numeral.Median(work)), significant(numeral.Quantile(work, 1)))
	switch between := numeral.Median(apart); {
	case math.IsNaN(between):
		t.say("%s.", says)
	case numeral.Median(work) > between:
		t.warn("%s, but scans are %s\u00a0s apart: live, it would fall behind.", says, plain(between))
	default:
		t.say("%s, and scans are %s\u00a0s apart: live, it keeps up.", says, plain(between))
	}
	return t
}
