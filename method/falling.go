package method

import (
	"github.com/starling-smc/starling/internal/finding"
)

// Thresholds of a descent that ended while it still learnt.
const (
	fewestEpochs  = 8    // of which quarters and their ends are told apart
	endOfDescent  = 0.05 // share of the epochs, the last ones, that has the best one
	worthDoubling = 0.01 // nats of the validation NLL that a doubling of the epochs would gain at least
)

// falling reports a descent whose budget of epochs ended it while its validation NLL was falling: its best epoch is among the last, and twice
// the epochs would gain more than a hundredth of a nat if gains went on as before. With V(t) the mean NLL of the last epochs up to t, a
// twentieth of all, the gains of the last two doublings of the epochs are
//
//	g₁ = V(E/4) − V(E/2),  g₂ = V(E/2) − V(E)
//
// and the next is taken for g₂ · min(1, g₂/g₁): gains fall by the same factor again, or stay where they rose. So a descent that converges
// geometrically is extrapolated to less than it gained, and noise around a constant to nothing. Descents that patience ended, and those whose
// rate the schedule has lowered by more than half, are none: there, more epochs are another descent.
func (s Search) falling(c Course) (f finding.StillFalling, is bool) {
	e := s.Epochs
	if len(c.Val) < e+1-c.From || e < fewestEpochs || s.Schedule.Share(e-1, e) < 0.5 {
		return f, false
	}
	val := make([]float64, e) // without that of a given start, epoch 0
	best, few := 0, max(1, int(endOfDescent*float64(e)))
	for k := range val {
		if val[k] = float64(c.Val[k+1-c.From]); val[k] <= val[best] {
			best = k
		}
	}
	mean := func(end int) (m float64) {
		for _, nll := range val[end-few : end] {
			m += nll / float64(few)
		}
		return m
	}
	before, last := mean(e/4)-mean(e/2), mean(e/2)-mean(e)
	gain := last
	if before > last {
		gain *= last / before
	}
	if best < e-few || !(last > 0) || !(gain >= worthDoubling) {
		return f, false
	}
	return finding.StillFalling{Epochs: e, Best: best + 1, NLL: val[best], Twice: val[best] - gain, Rate: s.Rate}, true
}

// stillFalling reports that the chosen restart, whose course is given, was falling when it ended. What the method makes of it is a posterior of
// its own if chains or islands only begin there; a Gaussian about the restart is not.
func (j *Job) stillFalling(m Method, chosen Course) []finding.Finding {
	f, is := j.Search.falling(chosen)
	if !is {
		return nil
	}
	needs := m.Needs()
	f.Start = needs.Posterior && !needs.Point && !j.About.Moved()
	if !j.Net.Likelihood().Regression() { // the NLL of classes is never below 0
		f.Twice = max(f.Twice, 0)
	}
	return []finding.Finding{finding.Of(f)}
}
