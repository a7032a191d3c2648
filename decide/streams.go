package decide

import "github.com/starling-smc/starling/internal/rng"

// The streams of the purpose rng.Decide by their Particle.
const (
	streamUniform = iota
	streamHold
	streamThird
	streamStart
	streamBatch
)

// Uniform is the number u of a row, for scores that draw: a function of the seed, of the part that the row is of (0: the examples
// that calibrate; each other part has a number of its own) and of the row's number in it, below 2³².
func Uniform(seed uint64, part, row int) float64 {
	return rng.Key{Seed: seed, Purpose: rng.Decide, Island: part, Iteration: row, Particle: streamUniform}.Stream().Float64()
}

// Third reports which of n calibration examples serve a temperature alone, where a run has no validation examples: a third of them, drawn by
// the seed. No set, threshold or classifier may be learnt from these.
func Third(n int, seed uint64) []bool {
	rows := make([]int32, n)
	rng.Key{Seed: seed, Purpose: rng.Decide, Particle: streamThird}.Stream().Perm(rows)
	third := make([]bool, n)
	for _, i := range rows[:n/3] {
		third[i] = true
	}
	return third
}

// heldShare: one example in five is held out.
const heldShare = 5

// HoldOut reports which examples a Network must not be trained on, a fifth of each kind, drawn by the seed: they stop the training, and a
// threshold of its output is chosen by them. z: the examples that should abstain, wrong answers and foreign inputs.
func HoldOut(z []bool, seed uint64) (held []bool) {
	held = make([]bool, len(z))
	for k, kind := range []bool{false, true} {
		var rows []int
		for i, v := range z {
			if v == kind {
				rows = append(rows, i)
			}
		}
		rng.Shuffle(rng.Key{Seed: seed, Purpose: rng.Decide, Particle: streamHold, Iteration: k}.Stream(), rows)
		for _, i := range rows[:len(rows)/heldShare] {
			held[i] = true
		}
	}
	return held
}

// allFor is a number of examples of which HoldOut holds out at least so many, however many of them are wrong.
func allFor(held int) int {
	if held == 0 {
		return 0
	}
	return heldShare*held + heldShare - 1
}

// ofHeld says that examples are for the part that is held out.
func ofHeld(what string) string {
	return what + " by the classifier, for a fifth of them to be held out,"
}
