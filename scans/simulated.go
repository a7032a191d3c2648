package scans

import (
	"fmt"
	"io"
	"strconv"

	"github.com/starling-smc/starling/ssm"
)

// Simulated is a Source of scans that a model draws, with the truth. The targets of an ssm.Tracker have the IDs "1", "2", …; the
// state of another model is that of one target, "1".
type Simulated struct {
	scene   ssm.Scene
	targets int
	left    int
}

// NewSimulated draws n scans by a seed: scan k does not depend on n.
func NewSimulated(model ssm.Simulator, seed uint64, n int) *Simulated {
	return &Simulated{scene: ssm.Scene{Model: model, Seed: seed}, targets: len(ssm.Blocks(model)), left: n}
}

// Next returns the next scan: see Source.
func (s *Simulated) Next() (*Record, error) {
	if s.left <= 0 {
		return nil, io.EOF
	}
	s.left--
	state, scan, err := s.scene.Next()
	if err != nil {
		return nil, fmt.Errorf("simulated scans: %w", err)
	}
	r := &Record{Scan: scan, Text: strconv.FormatFloat(scan.Time, 'g', -1, 64)}
	n := len(state) / s.targets
	for i := range s.targets {
		r.Truth = append(r.Truth, Truth{ID: strconv.Itoa(i + 1), State: state[i*n : (i+1)*n : (i+1)*n]})
	}
	return r, nil
}
