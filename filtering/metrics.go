package filtering

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/dense"
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

	ESS       *Spread `json:"ess,omitempty"` // the smallest of a coordinate, over scans
	Ancestors *Spread `json:"ancestors,omitempty"`
	Joint     *Spread `json:"accept_joint,omitempty"`
	Index     *Spread `json:"accept_index,omitempty"`
	Refine    *Spread `json:"accept_refine,omitempty"`

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
	RMSE     Number `json:"rmse"`     // √ of the mean squared error of a coordinate
	SD       Number `json:"sd"`       // √ of the mean variance that the filter claims for it
	NEES     Number `json:"nees"`     // mean of (m − x)ᵀ P⁻¹ (m − x), over whole states of a target; NEESDim is right
	NEESDim  int    `json:"nees_dim"` // numbers in such a state
	Coverage Number `json:"coverage"` // share of the coordinates whose truth is within 1.96 sd; .95 is right
	Judged   int    `json:"judged"`   // states that were compared
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

// ReadSteps reads the trace of a pass.
func ReadSteps(trace []runs.TraceLine) ([]Step, error) {
	out := make([]Step, len(trace))
	for i, l := range trace {
		if err := json.Unmarshal(l.Fields, &out[i]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return out, nil
}

// Summarise sums up a run by its trace. leftOut is the number of scans that were left out, against the title of the other method.
func Summarise(m ssm.Model, trace []runs.TraceLine, leftOut int, against string) (*Metrics, error) {
	list, err := ReadSteps(trace)
	if err != nil {
		return nil, err
	}
	out := &Metrics{Scans: len(list), LeftOut: leftOut}
	var ess, ancestors, joint, index, refine []float64
	for _, s := range list {
		out.Returns += s.Returns
		out.Missing += s.Missing
		out.Dropped += s.Dropped
		out.Evaluated += s.Evaluated
		out.Skipped += s.Skipped
		if s.Ancestors == 1 {
			out.Lone++
		}
		if s.ESS != nil && *s.ESS < fewDraws {
			out.Few++
		}
		if s.Ancestors > 0 {
			ancestors = append(ancestors, float64(s.Ancestors))
		}
		ess = add(ess, s.ESS)
		if s.Accept != nil {
			joint, index, refine = add(joint, s.Accept.Joint), add(index, s.Accept.Index), add(refine, s.Accept.Refine)
		}
	}
	out.ESS, out.Ancestors = spread(ess), spread(ancestors)
	out.Joint, out.Index, out.Refine = spread(joint), spread(index), spread(refine)
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

// whole is the mean of the whole state.
func (s *Step) whole() (mean []Number) {
	if s.Estimate != nil {
		return s.Estimate.Mean
	}
	for _, t := range s.Tracks {
		mean = append(mean, t.Mean...)
	}
	return mean
}

// judge compares estimates with the truth.
type judge struct {
	positions                              int            // coordinates of a target that are compared
	ids                                    map[string]int // the track of each true target, bound where both are first seen
	n                                      int
	coordinates, within                    int
	squares, variances, nees, rivalSquares float64
	dim                                    int
}

func newJudge(m ssm.Model) *judge {
	j := &judge{ids: map[string]int{}, dim: m.Dim(), positions: m.Dim()}
	if t, ok := m.(ssm.Tracker); ok {
		j.dim = m.Dim() / t.Targets()
		j.positions = j.dim / 2
	}
	return j
}

func (j *judge) all(list []Step) {
	for i := range list {
		s := &list[i]
		tracks := s.All()
		j.bind(tracks, s.Truth)
		for _, id := range slices.Sorted(maps.Keys(s.Truth)) { // sums must not depend on the order of a map
			r, ok := j.ids[id]
			if !ok {
				continue
			}
			truth := s.Truth[id]
			var other []Number
			if s.Against != nil {
				other = s.Against.Mean[r*j.dim : (r+1)*j.dim]
			}
			j.one(&tracks[r].Estimate, truth, other)
		}
	}
}

// Match returns the true state of each track at each scan, nil where it is unknown: a true target belongs to the track that is nearest
// where both are first seen.
func Match(m ssm.Model, list []Step) (truth [][][]float64) {
	j := newJudge(m)
	for i := range list {
		s := &list[i]
		tracks := s.All()
		j.bind(tracks, s.Truth)
		var states [][]float64
		for id, state := range s.Truth {
			r, ok := j.ids[id]
			if !ok {
				continue
			}
			if states == nil {
				states = make([][]float64, len(tracks))
			}
			for _, v := range state {
				states[r] = append(states[r], float64(v))
			}
			for len(states[r]) < j.dim { // positions alone are known
				states[r] = append(states[r], math.NaN())
			}
		}
		truth = append(truth, states)
	}
	return truth
}

// bind gives each true target that is new the nearest track that no other has, nearest pair first.
func (j *judge) bind(tracks []Track, truth map[string][]Number) {
	taken := make([]bool, len(tracks))
	for _, r := range j.ids {
		taken[r] = true
	}
	for {
		best, id, track := math.Inf(1), "", -1
		for t, state := range truth {
			if _, bound := j.ids[t]; bound || len(state) < j.positions {
				continue
			}
			for r := range tracks {
				d := 0.0
				for c := range j.positions {
					e := float64(tracks[r].Mean[c] - state[c])
					d += float64(e * e)
				}
				if !taken[r] && (d < best || d == best && t < id) {
					best, id, track = d, t, r
				}
			}
		}
		if track < 0 {
			return
		}
		j.ids[id], taken[track] = track, true
	}
}

func (j *judge) one(e *Estimate, truth, other []Number) {
	j.n++
	for c := range j.positions {
		d, variance := float64(e.Mean[c]-truth[c]), float64(e.Cov[c][c])
		j.coordinates++
		j.squares += float64(d * d)
		j.variances += variance
		if d*d <= 1.96*1.96*variance {
			j.within++
		}
		if other != nil {
			o := float64(other[c] - truth[c])
			j.rivalSquares += float64(o * o)
		}
	}
	if len(truth) < j.dim {
		j.nees = math.NaN()
		return
	}
	factor, dev := make([]float64, 0, j.dim*j.dim), make([]float64, j.dim)
	for c := range j.dim {
		dev[c] = float64(e.Mean[c] - truth[c])
		for _, v := range e.Cov[c] {
			factor = append(factor, float64(v))
		}
	}
	if !dense.Cholesky(factor, j.dim) {
		j.nees = math.NaN()
		return
	}
	dense.Forward(factor, dev)
	for _, v := range dev {
		j.nees += float64(v * v)
	}
}

func (j *judge) errors() *Errors {
	if j.n == 0 {
		return nil
	}
	n := float64(j.coordinates)
	return &Errors{
		RMSE: Number(math.Sqrt(j.squares / n)), SD: Number(math.Sqrt(j.variances / n)), NEES: Number(j.nees / float64(j.n)), NEESDim: j.dim,
		Coverage: Number(float64(j.within) / n), Judged: j.n,
	}
}
