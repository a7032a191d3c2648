package report

import (
	"slices"

	"github.com/starling-smc/starling"
)

// island is the trace of one island or chain.
type island struct {
	name  int
	lines []starling.TraceLine
}

// islands divides a trace, which is sorted by island and iteration.
func islands(trace []starling.TraceLine) (all []island) {
	for _, line := range trace {
		if n := len(all); n == 0 || all[n-1].name != line.Island {
			all = append(all, island{name: line.Island})
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
	}
	return all
}

// values returns a value of every line of an island's trace.
func (i island) values(of func(*starling.TraceLine) float64) []float64 {
	x := make([]float64, len(i.lines))
	for k := range i.lines {
		x[k] = of(&i.lines[k])
	}
	return x
}

// tested returns the islands with only those lines that have scores on the test examples; none if there are no such lines.
func tested(islands []island) (all []island) {
	for _, i := range islands {
		untested := func(l starling.TraceLine) bool { return l.TestNLL == nil }
		if lines := slices.DeleteFunc(slices.Clone(i.lines), untested); len(lines) > 0 {
			all = append(all, island{i.name, lines})
		}
	}
	return all
}
