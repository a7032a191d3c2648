package method

import "github.com/starling-smc/starling/smc"

// iterations is the number of iterations of so many lines of the trace, of which the last may have fewer than the others.
func (s *Sampling) iterations(lines, examples int) int {
	n := lines * s.lines(examples)
	if all := smc.Iterations(s.Path, examples); all > 0 {
		n = min(n, all)
	}
	return n
}

// made is what so many lines of the trace have: iterations or, on a path in epochs, epochs.
func (s *Sampling) made(lines, examples int) int {
	return (s.iterations(lines, examples)-1)/max(1, smc.PerEpoch(s.Path, examples)) + 1
}

// unit is what a path counts: iterations or epochs.
func unit(path smc.Path) (long, short string) {
	if smc.PerEpoch(path, 1) > 0 {
		return "epoch", "ep"
	}
	return "iteration", "k"
}

// Line is what a line of the trace of islands is: an iteration, an epoch, or several of them.
func (s *Sampling) Line() string {
	line, _ := unit(s.Path)
	if s.every > 1 {
		line = "trace line"
	}
	return line
}

// lines is the number of iterations of a line of the trace, for a number of training examples.
func (s *Sampling) lines(examples int) int {
	return max(1, s.every) * max(1, smc.PerEpoch(s.Path, examples))
}
