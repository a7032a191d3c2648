package filtering

import (
	"maps"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/ssm"
)

// judge compares estimates with the truth.
type judge struct {
	positions                              int            // coordinates of a target that are compared
	ids                                    map[string]int // the track of each true target, bound where both are first seen
	n, whole                               int            // states compared, and of them those that are known as a whole
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

// add judges the next scan.
func (j *judge) add(s *Step) {
	tracks := s.All()
	j.bind(tracks, s.Truth)
	for _, id := range slices.Sorted(maps.Keys(s.Truth)) { // sums must not depend on the order of a map
		r, ok := j.ids[id]
		truth := s.Truth[id]
		if !ok || len(truth) < j.positions {
			continue
		}
		var other []Number
		if s.Against != nil {
			other = s.Against.Mean[r*j.dim : (r+1)*j.dim]
		}
		j.one(&tracks[r].Estimate, truth, other)
	}
}

// Matcher finds the true states of the tracks, scan by scan: a true target belongs to the track that is nearest where both are first seen.
type Matcher struct{ judge *judge }

// NewMatcher is a Matcher before the first scan.
func NewMatcher(m ssm.Model) Matcher { return Matcher{newJudge(m)} }

// Positions is the number of coordinates of a target that are compared with the truth.
func (m Matcher) Positions() int { return m.judge.positions }

// Next returns the true state of each track at the next scan; nil where it is unknown.
func (m Matcher) Next(s *Step) (states [][]float64) {
	j, tracks := m.judge, s.All()
	j.bind(tracks, s.Truth)
	for id, state := range s.Truth {
		r, ok := j.ids[id]
		if !ok || len(state) < j.positions {
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
	return states
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
		return
	}
	j.whole++
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
		RMSE: Number(math.Sqrt(j.squares / n)), SD: Number(math.Sqrt(j.variances / n)), NEES: known(j.nees / float64(j.whole)), NEESDim: j.dim,
		Coverage: Number(float64(j.within) / n), Judged: j.n,
	}
}
