package filtering

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// Number is a float64 that JSON can hold.
type Number = numeral.Number

// Line is what a filter says of one scan. It has no times of the computer, so that a run has the same lines wherever it is made.
type Line struct {
	K       int  `json:"k"`    // of the scan, from 1
	Time    Time `json:"time"` // as the source writes it
	Returns int  `json:"returns"`
	Missing int  `json:"missing"`           // measurements that were announced but have no value
	Partial int  `json:"partial,omitempty"` // measurements that lack some of their numbers: returns of a linear model, missing for others
	Dropped int  `json:"dropped,omitempty"` // measurements that the model leaves out, such as returns outside its region

	Tracks    []Track `json:"tracks,omitempty"` // of a model that is a tracker
	*Estimate         // of one that is not

	ESS         *Number  `json:"ess,omitempty"`       // of this scan's sampling: the smallest of a coordinate that does not stand still
	Still       []string `json:"still,omitempty"`     // coordinates that have one value in all samples, because nothing moves them
	RHat        *Number  `json:"rhat,omitempty"`      // of the chains of several filters: the largest of a coordinate
	Surprise    *Number  `json:"surprise,omitempty"`  // share of the scans that the filter predicted that are no more likely (filter.Surprise)
	Ancestors   int      `json:"ancestors,omitempty"` // distinct states of the scan before, from which the present ones come; of several filters the mean
	Accept      *Accept  `json:"accept,omitempty"`
	Seen        *Accept  `json:"seen,omitempty"`            // share of the measurements that a decision by decide: subsample looks at; all, where their sum decides
	BySum       *Accept  `json:"by_sum,omitempty"`          // share of these decisions that the sum over all measurements made
	Passes      int      `json:"passes,omitempty"`          // over the measurements, for Taylor series
	PassTerms   int64    `json:"pass_terms,omitempty"`      // of the terms evaluated, those of these passes
	Residuals   int64    `json:"residuals,omitempty"`       // and those of measurements that decisions looked at one by one
	Evaluated   int64    `json:"evaluated"`                 // terms of the likelihood
	Skipped     int64    `json:"skipped,omitempty"`         // terms left out, because the result is the same without them
	Nodes       *Nodes   `json:"nodes,omitempty"`           // of ep: accept is then that of the last pass
	LogEvidence *Number  `json:"log_evidence,omitempty"`    // log p(z_k | z_1:k−1), in nats
	EvidenceSE  *Number  `json:"log_evidence_se,omitempty"` // its Monte Carlo standard error, of guided draws
}

// Track is one target.
type Track struct {
	ID string `json:"id"`
	Estimate
	Returns *Number `json:"returns,omitempty"` // the expected number of the scan's returns that are the target's; of several filters the smallest
	Lost    bool    `json:"lost,omitempty"`    // they are far fewer than its rate
}

// Estimate is the law of a target's state, or of the whole state of a model that is no tracker.
type Estimate struct {
	Mean []Number   `json:"mean"`
	Cov  [][]Number `json:"cov"`
	Q05  []Number   `json:"q05,omitempty"` // quantiles of each coordinate, where the model is no tracker
	Q95  []Number   `json:"q95,omitempty"`
	MCSE []Number   `json:"mcse,omitempty"` // Monte Carlo standard error of each coordinate's mean, with what earlier scans left in it
}

// errorsUnknown reports whether the Monte Carlo error of a mean is unknown, of a coordinate that does not stand still.
func (s *Step) errorsUnknown(m ssm.Model) bool {
	i := 0
	for _, t := range s.All() {
		for _, v := range t.MCSE {
			if math.IsNaN(float64(v)) && (s.Still == nil || !slices.Contains(s.Still, coordinate(m, i))) {
				return true
			}
			i++
		}
	}
	return false
}

// Accept has a share of each kind of decision, as its acceptance; nil: there is no such decision.
type Accept struct {
	Joint  *Number `json:"joint,omitempty"`
	Index  *Number `json:"index,omitempty"`
	Refine *Number `json:"refine,omitempty"`
}

// ByKind is the same as a filter tells it; nil: there is none.
func (a *Accept) ByKind() *filter.ByKind {
	if a == nil {
		return nil
	}
	known := func(n *Number) float64 {
		if n == nil {
			return math.NaN()
		}
		return float64(*n)
	}
	return &filter.ByKind{Joint: known(a.Joint), Index: known(a.Index), Refine: known(a.Refine)}
}

// Time is a time as a source writes it: seconds, or a date.
type Time string

// Date reports whether the time is a date.
func (t Time) Date() bool {
	_, err := strconv.ParseFloat(string(t), 64)
	return err != nil
}

// MarshalJSON writes seconds as a number, in JSON's form, and a date as a string.
func (t Time) MarshalJSON() ([]byte, error) {
	seconds, err := strconv.ParseFloat(string(t), 64)
	switch {
	case err != nil:
		return json.Marshal(string(t))
	case !json.Valid([]byte(t)): // +2 and .5 are numbers in CSV, and none in JSON
		return json.Marshal(seconds)
	}
	return []byte(t), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(t))
	}
	*t = Time(text)
	return nil
}

// Step is what a scan leaves in the trace: the line, and what pages and scores need beside it.
type Step struct {
	Lag Number `json:"lag"` // seconds from when the scan was read to when its line was ready
	Line
	K         *struct{}           `json:"k,omitempty"`         // nil: every line of the trace begins with k, so that of Line is left out
	Seconds   Number              `json:"at"`                  // the scan's time in seconds
	Truth     map[string][]Number `json:"truth,omitempty"`     // true states, by target
	Quantiles []Number            `json:"quantiles,omitempty"` // 5, 25, 50, 75 and 95 % of measurements of one number
	Held      *HeldScan           `json:"held,omitempty"`
	Against   *Beside             `json:"against,omitempty"`
}

// HeldScan is the score of measurements that the filter did not see.
type HeldScan struct {
	N        int    `json:"n"`
	Filter   Number `json:"filter"`   // Σ log p(z), in nats
	Baseline Number `json:"baseline"` // the same by the normal distribution of all measurements before
}

// Beside is the same scan by another method.
type Beside struct {
	Mean        []Number `json:"mean"` // of the whole state
	SD          []Number `json:"sd"`
	KS          []Number `json:"ks"` // two-sided, of each coordinate
	LogEvidence *Number  `json:"log_evidence,omitempty"`
}

func numbers(x []float64) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}

// known is a number, or nil if it is NaN.
func known(v float64) *Number {
	if math.IsNaN(v) {
		return nil
	}
	n := Number(v)
	return &n
}

// byKind has the shares that are known; nil: none is.
func byKind(k *filter.ByKind) *Accept {
	if k == nil {
		return nil
	}
	if a := (Accept{known(k.Joint), known(k.Index), known(k.Refine)}); a != (Accept{}) {
		return &a
	}
	return nil
}

// newLine describes a state after a scan.
func newLine(m ssm.Model, st *filter.State, rec *scans.Record, info filter.Info, evidence bool) Line {
	l := Line{
		K: st.K, Time: Time(rec.Text), Returns: rec.Measured(), Missing: rec.Missing, Partial: rec.Partial() + rec.Unused, Dropped: info.Dropped, Ancestors: info.Ancestors,
		Evaluated: info.Evaluated, Skipped: info.Skipped, Seen: byKind(info.Seen), BySum: byKind(info.BySum),
		Passes: info.Passes, PassTerms: info.PassTerms, Residuals: info.Residuals, Nodes: newNodes(info.Nodes),
	}
	if evidence {
		l.LogEvidence, l.EvidenceSE = known(info.LogEvidence), known(info.LogEvidenceSE)
	}
	least := math.NaN()
	for i, ess := range info.ESS {
		if math.IsNaN(ess) {
			l.Still = append(l.Still, coordinate(m, i))
		} else if !(least <= ess) {
			least = ess
		}
	}
	l.ESS = known(least)
	most := math.NaN()
	for _, r := range info.RHat { // a coordinate that is the same in all states has none
		if !(r <= most) && !math.IsNaN(r) {
			most = r
		}
	}
	l.RHat = known(most)
	l.Accept = byKind(&filter.ByKind{Joint: info.Joint, Index: info.Index, Refine: info.Refine})
	mean, cov := st.Moments()
	estimate := func(b ssm.Block) Estimate {
		e := Estimate{Mean: numbers(mean[b.From:b.To])}
		for i := b.From; i < b.To; i++ {
			e.Cov = append(e.Cov, numbers(cov[i*st.Dim+b.From:i*st.Dim+b.To]))
		}
		if info.MCSE != nil {
			e.MCSE = numbers(info.MCSE[b.From:b.To])
		}
		return e
	}
	if t, ok := m.(ssm.Tracker); ok {
		for r, b := range ssm.Blocks(t) {
			track := Track{ID: strconv.Itoa(r + 1), Estimate: estimate(b)}
			if info.Explained != nil {
				track.Returns, track.Lost = known(info.Explained[r]), info.Lost[r]
			}
			l.Tracks = append(l.Tracks, track)
		}
		return l
	}
	e := estimate(ssm.Block{From: 0, To: st.Dim})
	e.Q05, e.Q95 = numbers(st.Quantiles(0.05)), numbers(st.Quantiles(0.95))
	l.Estimate = &e
	return l
}
