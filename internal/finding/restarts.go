package finding

// RestartsLost says that some of the restarts of a search were left out, since their loss was not finite.
type RestartsLost struct{ Lost, Restarts int }

func (f RestartsLost) words() words {
	return words{
		says:  say("%v of the %v MAP restarts %s left out, since %s loss became infinite or no number", f.Lost, f.Restarts, plural(f.Lost, "was", "were"), plural(f.Lost, "its", "their")),
		means: "the deep ensemble is that of the others. A chain or a member that would begin at a restart that was left out begins at one of the others",
	}
}
