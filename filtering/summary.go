package filtering

import (
	"iter"
	"math"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/ssm"
)

// Summary sums up a run, scan by scan, in the same memory for any number of scans.
type Summary struct {
	model                          ssm.Model
	filters                        int
	guided                         bool // joint draws are made near the measurements: that all are accepted is healthy
	metrics                        Metrics
	ess, rhat, surprise, ancestors spreading
	accept, seen, bySum            kinds
	nodes                          nodesSum
	evidence                       total
	judge                          *judge
	held                           Held
	rival                          *Rival // nil: there is none
	rivalEvidence                  total
	squares                        float64 // of the differences of the two means
	compared                       int     // numbers of them
}

// Summarise sums up the steps of a run. leftOut is the number of scans that were left out, against the title of the other method.
func Summarise(m ssm.Model, by filter.Method, steps iter.Seq2[*Step, error], leftOut int, against string) (*Metrics, error) {
	s := NewSummary(m, by, against)
	for step, err := range steps {
		if err != nil {
			return nil, err
		}
		s.Add(step)
	}
	return s.Metrics(leftOut), nil
}

// NewSummary is a Summary of no scans, of a run by a method. against is the title of the other method; empty: there is none.
func NewSummary(m ssm.Model, by filter.Method, against string) *Summary {
	s := &Summary{model: m, filters: by.Filters(), judge: newJudge(m)}
	_, s.metrics.linear = m.(ssm.Linear)
	s.metrics.timings = newTimings(m)
	if s.guided = by.Sampler().Guided; s.guided {
		s.metrics.simpler = simpler(m)
	}
	if against != "" {
		s.rival = &Rival{Method: against}
	}
	return s
}

// simpler is the name of a method without samples that suits a model; empty: there is none.
func simpler(m ssm.Model) string {
	for _, way := range filter.Methods {
		if !way.Part.Samples() && way.Part.Suits(m) == nil {
			return way.Name
		}
	}
	return ""
}

// Add adds the next scan.
func (u *Summary) Add(s *Step) {
	m := &u.metrics
	if m.Scans == 0 {
		m.Earlier = s.Line.K - 1
	}
	m.Scans++
	m.Returns += s.Returns
	m.Missing += s.Missing
	m.Partial += s.Partial
	m.Dropped += s.Dropped
	m.Passes += s.Passes
	m.PassTerms += s.PassTerms
	m.Residuals += s.Residuals
	m.Evaluated += s.Evaluated
	m.Skipped += s.Skipped
	if s.Ancestors == 1 {
		m.Lone++
	}
	if s.errorsUnknown(u.model) {
		m.Unknown++
	}
	m.Still = m.Still.add(s.Still)
	m.timings.add(s)
	m.Doubts.add(s, u.filters)
	few := s.ESS != nil && *s.ESS < fewDraws
	if few {
		m.Few++
	}
	if s.RHat != nil && *s.RHat > apart && !few {
		m.Apart++
	}
	if s.Ancestors > 0 {
		u.ancestors.add(float64(s.Ancestors))
	}
	u.ess.addSome(s.ESS)
	u.rhat.addSome(s.RHat)
	u.surprise.addSome(s.Surprise)
	u.accept.add(s.Accept)
	u.seen.add(s.Seen)
	u.bySum.add(s.BySum)
	u.nodes.add(s.Nodes)
	u.evidence.add(s.LogEvidence)
	u.judge.add(s)
	if s.Held != nil {
		u.held.N += s.Held.N
		u.held.LogScore += s.Held.Filter
		u.held.Running += s.Held.Baseline
	}
	if u.rival == nil {
		return
	}
	u.rivalEvidence.add(s.Against.LogEvidence)
	mean := s.whole()
	for c, v := range s.Against.Mean {
		d := float64(mean[c] - v)
		u.squares, u.compared = u.squares+float64(d*d), u.compared+1
		u.rival.KS += s.Against.KS[c]
	}
}

// Metrics sums up the scans so far.
func (u *Summary) Metrics(leftOut int) *Metrics {
	out := u.metrics
	out.LeftOut = leftOut
	out.ESS, out.RHat, out.Ancestors = u.ess.spread(), u.rhat.spread(), u.ancestors.spread()
	if a := u.accept.spreads(); a != nil {
		out.Joint, out.Index, out.Refine = a.Joint, a.Index, a.Refine
	}
	out.Seen, out.BySum = u.seen.spreads(), u.bySum.spreads()
	out.Surprise, out.Sparse = u.surprise.spread(), sparse(u.model, u.rival != nil)
	if out.Idle = out.Idle.beyondClutter(u.model, out.Scans); u.guided {
		out.Idle = nil
	}
	out.Nodes = u.nodes.nodes()
	out.LogEvidence, out.Errors = u.evidence.number(), u.judge.errors()
	if h := u.held; h.N > 0 {
		h.LogScore /= Number(h.N)
		h.Running /= Number(h.N)
		out.Held = &h
	}
	if u.rival != nil && out.Scans > 0 {
		r := *u.rival
		r.LogEvidence = u.rivalEvidence.number()
		r.KS /= Number(u.compared)
		r.Distance = Number(math.Sqrt(u.squares / float64(u.compared)))
		if j := u.judge; j.n > 0 {
			r.RMSE = known(math.Sqrt(j.rivalSquares / float64(j.coordinates)))
		}
		out.Against = &r
	}
	return &out
}

// kinds are spreadings of shares of each kind of decision.
type kinds struct{ joint, index, refine spreading }

func (k *kinds) add(a *Accept) {
	if a != nil {
		k.joint.addSome(a.Joint)
		k.index.addSome(a.Index)
		k.refine.addSome(a.Refine)
	}
}

// spreads are those of the kinds that there were; nil: there were none.
func (k *kinds) spreads() *Spreads {
	if s := (Spreads{k.joint.spread(), k.index.spread(), k.refine.spread()}); s != (Spreads{}) {
		return &s
	}
	return nil
}

// total is the sum of a number that every scan has.
type total struct {
	sum    Number
	n      int
	lacked bool // some scan had none
}

func (t *total) add(v *Number) {
	if t.n++; v == nil {
		t.lacked = true
		return
	}
	t.sum += *v
}

// number is the sum; nil if a scan has none.
func (t *total) number() *Number {
	if t.n == 0 || t.lacked {
		return nil
	}
	sum := t.sum
	return &sum
}
