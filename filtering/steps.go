package filtering

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/ssm"
)

// Steps reads the lines of a pass, one after another. The first error ends them.
func Steps(lines runs.Lines) iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		for l, err := range lines {
			var s Step
			if err == nil {
				if s, err = stepOf(l); err != nil {
					err = fmt.Errorf("k %d: %w", l.K, err)
				}
			}
			if !yield(&s, err) || err != nil {
				return
			}
		}
	}
}

// stepOf reads a line of the trace.
func stepOf(l runs.TraceLine) (s Step, err error) {
	err = json.Unmarshal(l.Fields, &s)
	s.Line.K = l.K
	return s, err
}

// All lists the estimates: one without an ID where the model is no tracker.
func (s *Step) All() []Track {
	if s.Estimate != nil {
		return []Track{{Estimate: *s.Estimate}}
	}
	return s.Tracks
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

// coordinate names coordinate i of a model's state: vx of target 2.
func coordinate(m ssm.Model, i int) string {
	names, tracker := Names(m)
	if tracker {
		return fmt.Sprintf("%s of target %d", names[i%len(names)], i/len(names)+1)
	}
	return names[i]
}

// Names lists the coordinates of a target or, where the model is no tracker, of the state.
func Names(m ssm.Model) (names []string, tracker bool) {
	switch m := m.(type) {
	case ssm.Tracker:
		return m.Coordinates(), true
	case ssm.Named:
		return m.Coordinates(), false
	}
	for i := range m.Dim() {
		names = append(names, "x"+strconv.Itoa(i+1))
	}
	return names, false
}
