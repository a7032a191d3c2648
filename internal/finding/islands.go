package finding

import "math"

// IslandsLost names islands, or chains, that were left out since their moves led to infinite parameters or likelihoods, or to no numbers.
type IslandsLost struct {
	Unit      string // island, or chain
	Islands   Some
	Of        int    // of all
	Step      string `kept:"?"` // the path of the step size; empty: the step is not to blame
	Particles string `kept:"?"` // the path of the number of particles; empty: the step is to blame
	Learn     string `kept:"?"` // the path of what learns the shared parameters; empty: nothing does
}

func (f IslandsLost) words() words {
	return words{
		look: warning, says: say("%s %s (of %v) diverged and %s left out", f.Islands.plural(f.Unit, f.Unit+"s"), f.Islands.Names, f.Of, f.Islands.plural("was", "were")),
		means: f.Islands.plural("its", "their") + " moves led to infinite or undefined numbers. The posterior and all figures are those of the others" +
			either(f.Unit == "island", say(". A log evidence is that of the others, and about %.2f too high: those that were left out had found 0",
				math.Log(float64(f.Of)/float64(f.Of-f.Islands.Count))), ""),
		cure: f.Mend(), help: helpMoves,
	}
}

// Mend is the cure.
func (f IslandsLost) Mend() string {
	mend := say("take a smaller step (%s)", f.Step)
	if f.Step == "" {
		mend = say("take more particles (%s)", f.Particles)
	}
	return mend + either(f.Learn != "", say(" or learn more slowly (%s)", f.Learn), "")
}
