package finding

import "strconv"

// RestartsLost says that some of the restarts of a search were left out, since their loss was not finite.
type RestartsLost struct{ Lost, Restarts int }

func (f RestartsLost) words() words {
	return words{
		says:  say("%v of the %v MAP restarts %s left out, since %s loss became infinite or no number", f.Lost, f.Restarts, plural(f.Lost, "was", "were"), plural(f.Lost, "its", "their")),
		means: "the deep ensemble is that of the others. A chain or a member that would begin at a restart that was left out begins at one of the others",
	}
}

// StillFalling says that the chosen restart ended after all its epochs while its validation NLL was falling. NLLs are in the targets' units.
type StillFalling struct {
	Epochs int
	Best   int     // the epoch of the least validation NLL, counted from 1
	NLL    float64 // there
	Twice  float64 // what twice the epochs would try to reach, if gains went on as before
	Rate   float64 // map.rate
	Start  bool    `kept:"?"` // chains or islands only begin at the restarts
}

func (f StillFalling) words() words {
	w := words{
		look: warning, says: say("the best MAP still learnt when its %v epochs ended (validation NLL %.3f)", f.Epochs, f.NLL),
		means: say("if twice the epochs gained as much as the last doublings did, the NLL would be near %.3f. This is extrapolated, not measured", f.Twice),
		cure:  say("take map.epochs: %s (to try for %.3f) or map.rate: %s", strconv.Itoa(2*f.Epochs), f.Twice, short(3*f.Rate)),
		help:  helpDescents,
	}
	if f.Start {
		w.look, w.cure, w.help = note|page, "", noHelp
		w.means += ". Chains only begin there"
	}
	return w
}
