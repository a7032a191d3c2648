package method

import (
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Moves that do not move leave a sampler that looks as if it had worked: weights are made even by copying particles, and the
// product of the weights still has a value. What tells is how far the moves carried the particles, beside how often they were copied: in a
// stage (smc.Info.Stuck), or between two resamplings (smc.Info.Displacement). The share of moves that are accepted is a reason to ask. It
// is no answer: many moves of which few are accepted may carry particles far, and moves that are all accepted may lead nowhere.
const (
	stillBelow      = 0.1  // displacement a resampling, in spreads of the particles, below which an island stands still
	fewestMoves     = 5    // of a second half, from which on a chain that did not leave its place is no chance
	chainStillBelow = 1e-3 // displacement of the second half, in lengths of the parameter vector, below which a chain stands still
)

// motion lists the islands, or chains, whose particles did not move.
type motion struct {
	stuck  []int     // their moves were refused
	still  []int     // their moves were made, and led nowhere
	count  int       // number of stages of islands that are stuck (smc.Info.Stuck)
	copies int       // of them, those that began with copies of one particle
	first  TraceLine // of them, the one at the lowest power of the likelihood
	staged bool      // each such stage counts: the path is one of temperatures
	frozen bool      // some of the chains that are stuck did not leave their place at all
	failed bool      // most stages are stuck, or most chains did not leave their place at all
}

// unmoved reports whether there are particles that did not move.
func (m motion) unmoved() bool { return m.stuck != nil || m.still != nil || m.staged || m.failed }

// motion judges a trace. On a path of temperatures every stage must carry the particles. On a path of batches, whose iterations
// are many and have few moves, the last ones tell.
func (s *Sampling) motion(trace []TraceLine) (m motion) {
	islands := s.each(trace)
	unmoved := 0 // chains
	for _, lines := range islands {
		standsStill := islandStill
		if s.Chains() {
			standsStill = chainStill
		}
		stuck := 0
		if !(s.Path.Traits().Batches && carried(lines)) {
			stuck = m.stages(lines)
		}
		late, island := s.late(lines), lines[0].Island
		frozen := s.Chains() && moves(late) >= fewestMoves && chainStill(lines)
		if frozen {
			unmoved++
		}
		refused := s.Move.Traits().Invariant() && !(acceptance(late) >= smc.StuckBelow) && (s.Chains() || !carried(late))
		switch {
		case refused && (s.Chains() || s.Path.Traits().Batches):
			m.stuck, m.frozen = append(m.stuck, island), m.frozen || frozen
		case refused || 2*stuck > len(lines): // the stages say so
		case standsStill(lines):
			m.still = append(m.still, island)
		}
	}
	m.staged = m.count > 0 && !s.Path.Traits().Batches
	m.failed = 2*m.count > len(trace) || 2*unmoved > len(islands)
	return m
}

// stages counts the stages of an island that are stuck.
func (m *motion) stages(lines []TraceLine) (stuck int) {
	for _, l := range lines {
		if !l.Stuck {
			continue
		}
		stuck++
		if l.Parents == 1 {
			m.copies++
		}
		if m.count++; m.count == 1 || l.Lambda < m.first.Lambda {
			m.first = l
		}
	}
	return stuck
}

// motionFindings reports particles that did not move, and moves without a scale of their own.
func (s *Sampling) motionFindings(trace []TraceLine) (found []finding.Finding) {
	m := s.motion(trace)
	if m.staged || m.failed {
		carried := finding.Known(float64(m.first.Displacement))
		if m.first.Parents == 1 {
			carried = nil // the spread of copies is nothing but what the moves have made of it
		}
		stuck := finding.Stuck{
			Stages: m.count, Of: len(trace), Islands: s.Islands, Copies: m.copies,
			Temperature: m.first.Lambda, Acceptance: float64(m.first.Acceptance), Mutations: m.first.Mutations, Displacement: carried,
			Refused: !(m.first.Acceptance >= smc.StuckBelow), Written: s.Move.Traits().Aim == 0,
			Step: s.Step, Moves: s.Step[:strings.LastIndex(s.Step, ".")+1] + "mutations",
		}
		f := finding.Of(finding.MovesStuck{Stuck: stuck})
		if m.failed {
			f = finding.Of(finding.SamplingFailed{Stuck: stuck})
		}
		found = append(found, f)
	} else if m.stuck != nil {
		found = append(found, finding.Of(finding.IslandsStuck{
			Islands: finding.Numbered(m.stuck), Bound: smc.StuckBelow, Step: s.Step, Adapted: s.Move.Traits().Aim != 0,
		}))
	}
	if m.still != nil {
		found = append(found, finding.Of(finding.IslandsStill{Islands: finding.Numbered(m.still), Bound: stillBelow, Step: s.Step}))
	}
	kept := 0
	for _, l := range trace {
		if l.ScaleKept {
			kept++
		}
	}
	if kept > 0 {
		found = append(found, finding.Of(finding.ScaleKept{Kept: kept, Stages: len(trace), Islands: s.Islands}))
	}
	return found
}

// late is the part of an island's path by which its acceptance is judged: the last quarter of the iterations; of a chain the
// second half of its budget, in which the step size is frozen.
func (s *Sampling) late(lines []TraceLine) []TraceLine {
	if s.Chains() {
		return secondHalf(lines)
	}
	return lines[len(lines)*3/4:]
}

// secondHalf returns the lines of a chain whose moves were made after the warm-up.
func secondHalf(lines []TraceLine) []TraceLine {
	for i, l := range lines {
		if l.Progress >= mcmc.WarmUp {
			return lines[i+1:]
		}
	}
	return nil
}

// moves counts the moves of lines.
func moves(lines []TraceLine) (n int) {
	for _, l := range lines {
		n += l.Mutations
	}
	return n
}

// acceptance is the mean over the moves of lines; NaN if there are none.
func acceptance(lines []TraceLine) float64 {
	sum, moves := 0.0, 0
	for _, l := range lines {
		sum += float64(float64(l.Acceptance) * float64(l.Mutations))
		moves += l.Mutations
	}
	return sum / float64(moves)
}

// distance is how far the moves of lines lead together, as independent moves do: the root of the summed squares.
func distance(lines []TraceLine) float64 {
	sum := 0.0
	for _, l := range lines {
		sum += float64(float64(l.Displacement) * float64(l.Displacement))
	}
	return math.Sqrt(sum)
}

// islandStill compares how far moves carry the particles with how often they are copied: the copies of a particle must part
// before the next resampling. A displacement that is no number, as where one particle was lost, is none. Iterations after all particles have come to descend from one are left out, if there are
// others: then the spread of the particles is nothing but what the moves have made of it, however small their steps.
func islandStill(lines []TraceLine) bool { return !(reach(lines) >= stillBelow) }

// carried reports whether the moves of lines carried the particles so far that a low acceptance says nothing against them. It is false
// where all particles descended from one before, as their displacement says nothing then.
func carried(lines []TraceLine) bool {
	return lines[0].Ancestors > 1 && reach(lines) >= smc.CarriedFrom
}

// reach is how far moves carry the particles for each resampling, in their spreads.
func reach(lines []TraceLine) float64 {
	apart := lines
	for i, l := range lines {
		if l.Ancestors <= 1 && i > 0 {
			apart = lines[:i]
			break
		}
	}
	resampled := 0
	for _, l := range apart {
		if l.Resampled {
			resampled++
		}
	}
	return distance(apart) / math.Sqrt(float64(max(1, resampled)))
}

// chainStill is the same for a chain, which has no spread: its second half must lead it away from where it is.
func chainStill(lines []TraceLine) bool { return !(distance(secondHalf(lines)) >= chainStillBelow) }
