package finding

// Findings about filters.

// Sampler says which of the settings that a cure may name are on already. The zero value is an unknown method, as in runs that did not
// keep it.
type Sampler struct {
	Weighted bool `kept:"weighted?"` // particles with weights
	Chains   bool `kept:"chains?"`   // smcmc
	Joint    bool `kept:"joint?"`    // joint: prior
	Index    bool `kept:"index?"`    // index: exact or uniform
	Walk     bool `kept:"walk?"`     // refine: walk
}

// unless is the text of a cure, or nothing if it is on.
func unless(on bool, text string) string {
	if on {
		return ""
	}
	return text
}

// FewDraws says that the samples of some scans are worth few independent draws.
type FewDraws struct {
	Some, Scans   int
	Least, Enough float64 // the smallest number of draws, and what is enough
	Sampler
}

func (f FewDraws) words() words {
	cure := "take more particles or, for smcmc, a longer burn and refine: walk"
	if f.Weighted {
		cure = "take more particles"
	} else if f.Chains {
		cure = "take more particles, or a longer burn" + unless(f.Walk, " and refine: walk")
	}
	return words{
		look:  warning,
		says:  say("in %v of %v scans the samples are worth fewer than %.0f independent draws (%.1f in the worst)", f.Some, f.Scans, f.Enough, f.Least),
		means: "there the means and spreads are rough",
		cure:  cure, help: helpFilters,
	}
}

// LoneAncestor says that the filter of some scans comes from one particle of the scan before.
type LoneAncestor struct {
	Some, Scans int
	Sampler
}

func (f LoneAncestor) words() words {
	cure := "for smcmc take index: exact or uniform; for particle filters, more particles"
	if f.Weighted {
		cure = "take more particles"
	} else if f.Chains {
		cure = "take more particles" + unless(f.Index, ", or index: exact or uniform")
	}
	return words{
		look: warning, says: say("in %v of %v scans all samples come from one particle of the scan before", f.Some, f.Scans),
		means: "coordinates that the measurements do not show, such as velocities, then seem too certain",
		cure:  cure, help: helpFilters,
	}
}

// FiltersApart says that in some scans the chains of several filters are in different places.
type FiltersApart struct {
	Some, Scans  int
	Worst, Limit float64 // the largest R-hat, which is above the limit
	Sampler
}

func (f FiltersApart) words() words {
	return words{
		look: warning,
		says: say("in %v of %v scans the chains end in different places (R-hat %.1f, want at most %.0f)", f.Some, f.Scans, f.Worst, f.Limit),
		means: "each stays in one of several modes, has not left its start, or has too few particles (fewer filters, method.smcmc.repeat, have more), " +
			"so that the shares of the modes are unknown",
		cure: "take " + unless(f.Joint, "joint: prior, ") + "more particles, a longer burn, or method: bootstrap", help: helpFilters,
	}
}

// SmallFilters says that each of several filters of smcmc has fewer particles than enough.
type SmallFilters struct{ Filters, Each, Enough int }

func (f SmallFilters) words() words {
	return words{
		look:  warning,
		says:  say("each of the %v filters of smcmc has %v %s, fewer than %v", f.Filters, f.Each, plural(f.Each, "particle", "particles"), f.Enough),
		means: "errors that all filters share are then larger than mcse shows",
		cure:  "take fewer filters (method.smcmc.repeat) or more particles (method.smcmc.particles)", help: helpErrors,
	}
}

// ErrorsUnknown says that in some scans the Monte Carlo error of a mean is unknown.
type ErrorsUnknown struct{ Some, Scans int }

func (f ErrorsUnknown) words() words {
	return words{
		look: note, says: say("in %v of %v scans the Monte Carlo error of a mean is unknown (mcse: NaN)", f.Some, f.Scans),
		means: "a coordinate never moved, or four particles or fewer carry the error", cure: "take more particles", help: helpErrors,
	}
}

// StillCoordinates names coordinates that have one value in all samples of some scans, because nothing moves them.
type StillCoordinates struct {
	Coordinates Some
	In, Scans   int
}

func (f StillCoordinates) words() words {
	return words{
		look: note,
		says: say("%v %s one value in all samples of %v of %v scans, so that ess leaves %s out", f.Coordinates.Names,
			f.Coordinates.plural("has", "have"), f.In, f.Scans, f.Coordinates.plural("it", "them")),
		means: "no noise moves " + f.Coordinates.plural("it", "them") + ", and the start has no spread or all samples descend from one state", help: helpFilters,
	}
}

// ScansLeftOut counts scans that could not be used.
type ScansLeftOut struct{ Count int }

func (f ScansLeftOut) words() words {
	return words{
		look: warning, says: say("%v %s left out", f.Count, plural(f.Count, "scan could not be used and was", "scans could not be used and were")),
		cure: "look for " + plural(f.Count, "its error", "their errors") + " in what the command wrote while it ran", help: helpFilters,
	}
}
