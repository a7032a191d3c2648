package ssm

import (
	"fmt"

	"github.com/starling-smc/starling/internal/rng"
)

// Scene simulates the truth of a model and its scans, one after another: scan k = 1, 2, … is at k intervals. The state and the
// measurements of each scan have random streams of their own, with purpose rng.Scene, iteration k and mutation 0 or 1. So scan k
// depends on the model and the seed alone.
type Scene struct {
	Model Simulator
	Seed  uint64

	k          int
	state      []float64
	transition Transition
}

// Next returns the state at the next scan and the scan. The caller may keep both. The error is the model's, or says that the
// state has left the finite numbers.
func (s *Scene) Next() (truth []float64, scan Scan, err error) {
	interval := Interval(s.Model)
	if s.k == 0 {
		if s.transition, err = s.Model.Transition(interval); err != nil {
			return nil, Scan{}, err
		}
		s.state = make([]float64, s.Model.Dim())
		s.Model.Start(s.stream(0), s.state)
	}
	s.k++
	truth = make([]float64, len(s.state))
	s.transition.Sample(s.stream(0), s.state, truth)
	for i, v := range truth {
		if !isFinite(v) {
			return nil, Scan{}, fmt.Errorf("scan %d: coordinate %d of the simulated state is %v", s.k, i, v)
		}
	}
	copy(s.state, truth)
	scan.Time = float64(s.k) * interval
	s.Model.Measure(s.stream(1), truth, &scan)
	return truth, scan, nil
}

// stream is the stream of the present scan.
func (s *Scene) stream(mutation int) *Stream {
	return rng.Key{Seed: s.Seed, Purpose: rng.Scene, Iteration: s.k, Mutation: mutation}.Stream()
}
