package filter_test

import (
	"cmp"
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/testkit"
)

// flightsWays are the ways of TestFlightsWays: 2,000 samples a day, as the preset has, by one filter or by four nodes. The first is what the
// others' work is compared with. Sites of nodes, and the normal law of Laplace, are approximations: these ways are wrong on some days.
func flightsWays() (ways []flightsWay) {
	const right, loose = 0.3, 0.4 // four seeds' mean of a right way has an error of .03 or less on most days, one seed's of .07
	chain := filter.SMCMC{Particles: 2000, Burn: 500, Repeat: 1, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}}
	add := func(name string, seeds int, most float64, m filter.Method) {
		ways = append(ways, flightsWay{name, seeds, most, m})
	}
	add("decide: all", 4, right, chain)
	for _, order := range []int{1, 2} {
		for _, giveUp := range []float64{1, 0.01} {
			some := filter.Subsample{Order: order, GiveUp: giveUp}
			some.Defaults()
			m := chain
			m.Decide = some
			add(fmt.Sprintf("order %d, give_up: %v", order, giveUp), 1, loose, m)
		}
	}
	guided := filter.SMCMC{Particles: 2000, Burn: 500, Repeat: 1, Joint: filter.Guided{}}
	add("joint: guided", 4, right, guided)
	some := filter.Subsample{Order: 2, GiveUp: 1}
	some.Defaults()
	guided.Decide = some
	add("joint: guided, order 2, give_up: 1", 1, loose, guided)
	nodes := filter.EP{Nodes: 4, Passes: 2, Particles: 2000, Burn: 500, Index: chain.Index, Refine: chain.Refine}
	add("ep", 4, 2, nodes)
	nodes.Decide = some
	add("ep, order 2, give_up: 1", 1, 2, nodes)
	add("ep, joint: guided", 4, 2, filter.EP{Nodes: 4, Passes: 2, Particles: 2000, Burn: 500, Joint: filter.Guided{}})
	add("ep, joint: guided, 4 passes", 4, 0.4, filter.EP{Nodes: 4, Passes: 4, Particles: 2000, Burn: 500, Joint: filter.Guided{}})
	add("laplace", 1, 0.2, filter.Laplace{})
	return ways
}

type flightsWay struct {
	name  string
	seeds int
	most  float64 // error of a day's mean over the seeds, in exact sds, that the test lets pass
	filter.Method
}

// TestFlightsWays compares SMCMC by all departures, by some of them, and by guided draws, expectation propagation over four nodes, and the
// Laplace filter with the integrals, on all days, and prints the table of docs/results/filtering.md.
func TestFlightsWays(t *testing.T) {
	testkit.Takes(t, 30)
	list := flights(t, 365)
	exact, ways := integrate(t, flightsModel, list), flightsWays()
	found := make([][][]estimate, len(ways))
	t.Run("run", func(t *testing.T) {
		for i, w := range ways {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				found[i] = runs(t, w.Method, list, w.seeds)
			})
		}
	})
	for i, w := range ways {
		if found[i] == nil { // not asked for
			continue
		}
		r := besideIntegral(found[i], exact)
		if !(math.Abs(r.worst.size) <= w.most) {
			t.Errorf("%s: the mean of day %d is wrong by %.2f standard deviations, want at most %v", w.name, r.worst.day, r.worst.size, w.most)
		}
		t.Logf("%-35s | %v | %s", w.name, r, r.work(found[i], found[0]))
	}
}

// What two passes of nodes leave is the sites' error and not the samples': with eight times as many samples it stays, and two more passes take it
// away. The storm of day 67 is among these days.
func TestFlightsPasses(t *testing.T) {
	testkit.Takes(t, 5)
	list := flights(t, 70)
	exact := integrate(t, flightsModel, list)
	for _, passes := range []int{2, 4} {
		r := besideIntegral(runs(t, filter.EP{Nodes: 4, Passes: passes, Particles: 16_000, Burn: 100, Joint: filter.Guided{}}, list, 1), exact)
		t.Logf("%d passes of 16,000 samples: %v", passes, r)
		if passes == 4 && !(r.rms <= 0.05) {
			t.Errorf("after %d passes the error is %v", passes, r)
		}
	}
}

// Decisions by some of a day's departures are those of all of them: with steps that are not learned, the means of all days have the same bits.
func TestFlightsDecisions(t *testing.T) {
	testkit.Takes(t, 5)
	list := flights(t, 365)
	m := filter.SMCMC{Particles: 500, Burn: 500, Repeat: 1, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: 0.1}}
	all := runs(t, m, list, 1)
	for _, order := range []int{1, 2} {
		some := filter.Subsample{Order: order, GiveUp: 1}
		some.Defaults()
		m.Decide = some
		got, seen := runs(t, m, list, 1), 0.0
		for k := range list {
			seen += got[k][0].info.Seen.Refine / float64(len(list))
			if got[k][0].mean != all[k][0].mean {
				t.Fatalf("order %d: on day %d the means are %v, by all departures %v", order, k+1, got[k][0].mean, all[k][0].mean)
			}
		}
		t.Logf("order %d: %.3f of the departures seen, the same bits on %d days", order, seen, len(list))
	}
}

// offIntegral is how far a way is from the integral.
type offIntegral struct {
	rms           float64 // of a run's daily means, in exact sds
	worst, spread worst   // of the mean over seeds, in exact sds; of the sd over seeds, relative
	sd            float64 // the mean, of the exact one's
	evidence      float64 // mean error of a day, nats
	evidenceOff   worst
}

// worst is the largest error, and its day.
type worst struct {
	size float64
	day  int
}

func (w *worst) see(size float64, day int) {
	if !(math.Abs(size) <= math.Abs(w.size)) {
		*w = worst{size, day}
	}
}

func (w worst) String() string { return fmt.Sprintf("%+.3f (day %d)", w.size, w.day) }

func besideIntegral(got [][]estimate, exact []estimate) (r offIntegral) {
	numbers := float64(2 * len(exact))
	for k, e := range exact {
		for c := range 2 {
			mean, _ := meanError(got[k], c)
			off, sd := (mean-e.mean[c])/e.sd[c], 0.0
			for _, g := range got[k] {
				d := (g.mean[c] - e.mean[c]) / e.sd[c]
				r.rms += d * d / numbers / float64(len(got[k]))
				sd += g.sd[c] / e.sd[c] / float64(len(got[k]))
			}
			r.worst.see(off, k+1)
			r.spread.see(sd-1, k+1)
			r.sd += sd / numbers
		}
		off := 0.0
		for _, g := range got[k] {
			off += (g.evidence - e.evidence) / float64(len(got[k]))
		}
		r.evidence += off / float64(len(exact))
		r.evidenceOff.see(off, k+1)
	}
	r.rms = math.Sqrt(r.rms)
	return r
}

func (r offIntegral) String() string {
	s := fmt.Sprintf("%.3f | %v | %.3f, %v", r.rms, r.worst, r.sd, r.spread)
	if math.IsNaN(r.evidence) {
		return s + " | "
	}
	return s + fmt.Sprintf(" | %+.4f, %v", r.evidence, r.evidenceOff)
}

// work is what a way costs on a day, beside the first way.
func (offIntegral) work(got, all [][]estimate) string {
	var seen, bySum, accepted, terms, critical, passes, first float64
	days := 0
	for k := range got {
		for i, g := range got[k] {
			info := g.info
			days++
			first += float64(all[k][i].info.Evaluated)
			terms += float64(info.Evaluated)
			passes += float64(info.PassTerms)
			if info.Nodes != nil {
				critical += float64(info.Nodes.Critical)
			} else {
				critical += float64(info.Evaluated)
			}
			if info.Seen != nil {
				seen += number(info.Seen.Joint) + number(info.Seen.Refine)
				bySum += number(info.BySum.Joint) + number(info.BySum.Refine)
			} else {
				seen, bySum = seen+1, bySum+1
			}
			accepted += cmp.Or(number(info.Joint), number(info.Refine))
		}
	}
	n := float64(days)
	return fmt.Sprintf("accepted %.3f, seen %.3f, by the sum %.3f, terms %.0f (passes %.0f), critical %.0f a day; of all's %.3f, %.3f",
		accepted/n, seen/n, bySum/n, terms/n, passes/n, critical/n, terms/first, critical/first)
}

// number is x, or 0 for NaN.
func number(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
