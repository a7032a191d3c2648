package filtering

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/ssm"
)

// Metrics sum up a run. Numbers that a run cannot have, such as errors without truth, are left out.
type Metrics struct {
	Scans     int   `json:"scans"`
	LeftOut   int   `json:"left_out"` // scans that could not be used
	Returns   int   `json:"returns"`  // measurements
	Missing   int   `json:"missing"`
	Dropped   int   `json:"dropped"` // measurements that the model leaves out
	Evaluated int64 `json:"evaluated"`
	Skipped   int64 `json:"skipped"`       // terms
	Few       int   `json:"few_draws"`     // scans whose samples are worth fewer than 50 draws
	Lone      int   `json:"lone_ancestor"` // scans that come from one particle of the scan before
	Unknown   int   `json:"mcse_unknown"`  // scans in which the Monte Carlo error of a mean is unknown
	Apart     int   `json:"filters_apart"` // scans whose R-hat is above 3, although the samples are worth 50 draws

	ESS       *Spread `json:"ess,omitempty"`  // the smallest of a coordinate, over scans
	RHat      *Spread `json:"rhat,omitempty"` // the largest of a coordinate, over scans
	Ancestors *Spread `json:"ancestors,omitempty"`
	Joint     *Spread `json:"accept_joint,omitempty"`
	Index     *Spread `json:"accept_index,omitempty"`
	Refine    *Spread `json:"accept_refine,omitempty"`

	Doubts
	LogEvidence *Number `json:"log_evidence,omitempty"` // log p(z_1:T), in nats
	*Errors             // against the truth
	Held        *Held   `json:"held,omitempty"`
	Against     *Rival  `json:"against,omitempty"`
}

// Spread describes numbers of several scans.
type Spread struct {
	Min    Number `json:"min"`
	Median Number `json:"median"`
	Mean   Number `json:"mean"`
	Max    Number `json:"max"`
}

// Errors compare estimates with the truth. Targets of a tracker are judged by their positions, other states by all coordinates.
type Errors struct {
	RMSE     Number  `json:"rmse"`           // √ of the mean squared error of a coordinate
	SD       Number  `json:"sd"`             // √ of the mean variance that the filter claims for it
	NEES     *Number `json:"nees,omitempty"` // mean of (m − x)ᵀ P⁻¹ (m − x), over states whose truth is known as a whole; NEESDim is right
	NEESDim  int     `json:"nees_dim"`       // numbers in such a state
	Coverage Number  `json:"coverage"`       // share of the coordinates whose truth is within 1.96 sd; .95 is right
	Judged   int     `json:"judged"`         // states that were compared
}

// Held scores measurements that the filter did not see.
type Held struct {
	N        int    `json:"n"`
	LogScore Number `json:"log_score"`          // mean log p(z), in nats
	Running  Number `json:"log_score_baseline"` // the same by the normal distribution of all earlier measurements
}

// Rival sums up another method on the same scans.
type Rival struct {
	Method      string  `json:"method"`
	RMSE        *Number `json:"rmse,omitempty"` // against the truth
	Distance    Number  `json:"distance"`       // √ of the mean squared difference of the two means
	KS          Number  `json:"ks"`             // mean two-sided distance of the laws, over scans and coordinates
	LogEvidence *Number `json:"log_evidence,omitempty"`
}

// fewDraws is the number of independent draws below which the samples of a scan say little about the spread of the state.
const fewDraws = 50

// apart is the R-hat above which the chains of several filters are in different places. Filters that mix well have errors of their
// own, which make R-hat larger than that of chains with one target: of a bimodal model up to 2.8 was seen, of others seldom more than
// 1.1. Where a chain moves so slowly that its states are worth few draws, R-hat is large as well, and the number of draws says why.
const apart = 3

// Summarise sums up a run by its trace. leftOut is the number of scans that were left out, against the title of the other method.
func Summarise(m ssm.Model, trace []runs.TraceLine, leftOut int, against string) (*Metrics, error) {
	list, err := ReadSteps(trace)
	if err != nil {
		return nil, err
	}
	out := &Metrics{Scans: len(list), LeftOut: leftOut}
	var ess, rhat, surprise, ancestors, joint, index, refine []float64
	for _, s := range list {
		out.Returns += s.Returns
		out.Missing += s.Missing
		out.Dropped += s.Dropped
		out.Evaluated += s.Evaluated
		out.Skipped += s.Skipped
		if s.Ancestors == 1 {
			out.Lone++
		}
		if slices.ContainsFunc(s.All(), Track.errorUnknown) {
			out.Unknown++
		}
		few := s.ESS != nil && *s.ESS < fewDraws
		if few {
			out.Few++
		}
		if s.RHat != nil && *s.RHat > apart && !few {
			out.Apart++
		}
		if s.Ancestors > 0 {
			ancestors = append(ancestors, float64(s.Ancestors))
		}
		ess, rhat, surprise = add(ess, s.ESS), add(rhat, s.RHat), add(surprise, s.Surprise)
		out.Doubts.add(&s)
		if s.Accept != nil {
			joint, index, refine = add(joint, s.Accept.Joint), add(index, s.Accept.Index), add(refine, s.Accept.Refine)
		}
	}
	out.ESS, out.RHat, out.Ancestors = spread(ess), spread(rhat), spread(ancestors)
	out.Joint, out.Index, out.Refine = spread(joint), spread(index), spread(refine)
	out.Surprise, out.Sparse = spread(surprise), sparse(m, against != "")
	out.LogEvidence = total(list, func(s *Step) *Number { return s.LogEvidence })
	judge := newJudge(m)
	judge.all(list)
	out.Errors = judge.errors()
	out.Held = heldOut(list)
	if against != "" && len(list) > 0 {
		out.Against = rival(list, judge, against)
	}
	return out, nil
}

func add(list []float64, v *Number) []float64 {
	if v == nil {
		return list
	}
	return append(list, float64(*v))
}

func spread(x []float64) *Spread {
	if len(x) == 0 {
		return nil
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return &Spread{Number(slices.Min(x)), Number(numeral.Median(x)), Number(mean), Number(slices.Max(x))}
}

// total is the sum of a number that every step has; nil if one has none.
func total(list []Step, of func(*Step) *Number) *Number {
	if len(list) == 0 {
		return nil
	}
	sum := Number(0)
	for i := range list {
		v := of(&list[i])
		if v == nil {
			return nil
		}
		sum += *v
	}
	return &sum
}

func heldOut(list []Step) *Held {
	h := &Held{}
	for _, s := range list {
		if s.Held != nil {
			h.N += s.Held.N
			h.LogScore += s.Held.Filter
			h.Running += s.Held.Baseline
		}
	}
	if h.N == 0 {
		return nil
	}
	h.LogScore /= Number(h.N)
	h.Running /= Number(h.N)
	return h
}

func rival(list []Step, j *judge, name string) *Rival {
	r := &Rival{Method: name, LogEvidence: total(list, func(s *Step) *Number { return s.Against.LogEvidence })}
	squares, n := 0.0, 0
	for i := range list {
		s := &list[i]
		mean := s.whole()
		for c, v := range s.Against.Mean {
			d := float64(mean[c] - v)
			squares, n = squares+float64(d*d), n+1
			r.KS += s.Against.KS[c]
		}
	}
	r.KS /= Number(n)
	r.Distance = Number(math.Sqrt(squares / float64(n)))
	if j.n > 0 {
		r.RMSE = known(math.Sqrt(j.rivalSquares / float64(j.coordinates)))
	}
	return r
}
