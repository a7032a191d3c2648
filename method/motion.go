package method

import "math"

// Moves that do not move leave a sampler that looks as if it had worked: weights are made even by copying particles, and the
// product of the weights still has a value. Two things tell: the share of moves that are accepted, and how far they carry the
// particles (smc.Info.Displacement).
const (
	stuckBelow      = 0.1  // acceptance below which a chain or an island is stuck
	stillBelow      = 0.1  // displacement a resampling, in spreads of the particles, below which an island stands still
	chainStillBelow = 1e-3 // displacement of the second half, in lengths of the parameter vector, below which a chain stands still
)

// motion lists the islands, or chains, whose particles did not move.
type motion struct {
	stuck []int // their moves were refused
	still []int // their moves were made, and led nowhere
}

func (m motion) failed() bool { return m.stuck != nil || m.still != nil }

// motion judges a trace.
func (s *Sampling) motion(trace []TraceLine) (m motion) {
	for _, lines := range byIsland(trace) {
		standsStill := islandStill
		if s.Chains() {
			standsStill = chainStill
		}
		switch late := s.late(lines); {
		case s.Move.Invariant() && !(acceptance(late) >= stuckBelow):
			m.stuck = append(m.stuck, lines[0].Island)
		case standsStill(lines):
			m.still = append(m.still, lines[0].Island)
		}
	}
	return m
}

// late is the part of an island's path by which its acceptance is judged: the last quarter of the iterations; of a chain the
// second half of its budget, in which the step size is frozen.
func (s *Sampling) late(lines []TraceLine) []TraceLine {
	if s.Chains() {
		return secondHalf(lines)
	}
	return lines[len(lines)*3/4:]
}

// secondHalf returns the lines of the second half of a chain's budget.
func secondHalf(lines []TraceLine) []TraceLine {
	for i, l := range lines {
		if l.Progress > 0.5 {
			return lines[i:]
		}
	}
	return nil
}

// acceptance is the mean over lines; NaN if there are none.
func acceptance(lines []TraceLine) float64 {
	sum := 0.0
	for _, l := range lines {
		sum += l.Acceptance
	}
	return sum / float64(len(lines))
}

// distance is how far the moves of lines lead together, as independent moves do: the root of the summed squares.
func distance(lines []TraceLine) float64 {
	sum := 0.0
	for _, l := range lines {
		sum += float64(l.Displacement) * float64(l.Displacement)
	}
	return math.Sqrt(sum)
}

// islandStill compares how far moves carry the particles with how often they are copied: the copies of a particle must part
// before the next resampling. Iterations after all particles have come to descend from one are left out, if there are
// others: then the spread of the particles is nothing but what the moves have made of it, however small their steps.
func islandStill(lines []TraceLine) bool {
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
	return distance(apart) < stillBelow*math.Sqrt(float64(max(1, resampled)))
}

// chainStill is the same for a chain, which has no spread: its second half must lead it away from where it is.
func chainStill(lines []TraceLine) bool { return distance(secondHalf(lines)) < chainStillBelow }
