package method

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// Lost is how an island ended whose moves left the numbers (mcmc.Diverged). It keeps the state before them, but it is no part of the posterior.
type Lost struct {
	Step int    // of the island, from 1: the line of the trace with the loss
	Why  string // the error of the moves
}

// lose ends the island by an error of its moves, which its state has not made.
func (p *island) lose(why error) runs.Line {
	p.lost = &Lost{p.K() + 1, why.Error()}
	p.sampler.Release()
	st := p.state
	return runs.Line{Progress: 1, Fields: Iteration{Lost: p.lost.Why, Info: smc.Info{
		Epochs: st.Epochs(), Examples: st.Examples, Lambda: st.Lambda, Gradients: st.Gradients, Values: st.Values,
		Acceptance: numeral.Number(math.NaN()), LogLikelihood: numeral.Number(math.NaN()),
	}}}
}

// remaining are the islands that were not lost.
func remaining(phase runs.Phase) (islands []*island) {
	for _, part := range phase.Parts {
		if p := part.(*island); p.lost == nil {
			islands = append(islands, p)
		}
	}
	return islands
}

// leaveOut makes s the sampling of the islands that remain, and tells of the others. Fewer than half are an error.
func (s *Sampling) leaveOut(phase runs.Phase) (found []finding.Finding, err error) {
	var lost []int
	var first *Lost
	for i, part := range phase.Parts {
		if p := part.(*island); p.lost != nil {
			if lost = append(lost, i); first == nil {
				first = p.lost
			}
		}
	}
	all := s.Islands
	s.Islands -= len(lost)
	if first == nil {
		return nil, nil
	}
	f := s.islandsLost(lost, all, phase.Parts[0].(*island).sampler.Learn != nil)
	switch {
	case 2*s.Islands >= all:
		return []finding.Finding{finding.Of(f)}, nil
	case all == 1:
		return nil, fmt.Errorf("the only %s was lost: %s. %s", s.Unit, f.Mend(), first.Why)
	}
	share := fmt.Sprintf("%d of the %d", len(lost), all)
	if s.Islands == 0 {
		share = fmt.Sprintf("all %d", all)
	}
	return nil, fmt.Errorf("%s %ss were lost, and at least half must remain: %s. The first of them: %s", share, s.Unit, f.Mend(), first.Why)
}

// islandsLost is the finding that some of all islands were lost. Moves that accept or reject do not leave the numbers: then it was the
// weights, which more particles mend. Shared parameters that are learned may have led there, too.
func (s *Sampling) islandsLost(lost []int, all int, learns bool) finding.IslandsLost {
	f := finding.IslandsLost{Unit: s.Unit, Islands: finding.Numbered(lost), Of: all, Step: s.Step}
	if s.Move.Traits().Invariant() {
		f.Step, f.Particles = "", s.at+".particles"
	}
	if learns {
		f.Learn = s.at + ".learn"
	}
	return f
}

// Remaining returns the lines of the islands that were not lost. Whatever is said of a run is said of these.
func Remaining(trace []TraceLine) (remain []TraceLine) {
	for _, lines := range byIsland(trace) {
		if lines[len(lines)-1].Lost == "" {
			remain = append(remain, lines...)
		}
	}
	return remain
}

// Islands is the number of islands in a trace.
func Islands(trace []TraceLine) int { return len(byIsland(trace)) }

const lostKind = "method.Lost/1"

// writeTo packs the loss before the island's other bytes.
func (l *Lost) writeTo(w io.Writer) (int64, error) {
	e := ckpt.NewEncoder(lostKind)
	e.Ints("step", l.Step)
	e.Bytes("why", []byte(l.Why))
	return writeBefore(w, e.Encode(), nil)
}

// cutLost divides the bytes of an island that was lost; nil: it was not, and the bytes are as they are.
func cutLost(b []byte) (*Lost, []byte) {
	own, rest, err := cutBefore(b)
	if err != nil {
		return nil, b
	}
	d, err := ckpt.NewDecoder(bytes.Clone(own), lostKind)
	if err != nil {
		return nil, b
	}
	l := new(Lost)
	d.Ints("step", &l.Step)
	l.Why = string(slices.Clone(d.Bytes("why")))
	if d.Err() != nil || l.Step < 1 || l.Why == "" {
		return nil, b
	}
	return l, rest
}
