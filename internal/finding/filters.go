package finding

import "math"

// Findings about filters.

// Sampler says which of the settings that a cure may name are on already. The zero value is an unknown method, as in runs that did not
// keep it.
type Sampler struct {
	Weighted bool `kept:"weighted?"` // particles with weights
	Chains   bool `kept:"chains?"`   // smcmc
	Joint    bool `kept:"joint?"`    // joint: prior or guided
	Guided   bool `kept:"guided?"`   // joint: guided
	Index    bool `kept:"index?"`    // index: exact or uniform
	Walk     bool `kept:"walk?"`     // refine: walk
	Nodes    bool `kept:"nodes?"`    // ep of several nodes
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
		cure = "take more particles" + unless(f.Guided, ", joint: guided") + either(f.Walk, ", or a longer burn", " or refine: walk")
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

// FewAncestors says that the filter of some scans comes from few particles of the scan before.
type FewAncestors struct {
	Some, Scans, Least int    // scans, and the smallest number of particles
	Worst              string // the time of that scan
	Enough             int
}

func (f FewAncestors) words() words {
	return words{
		look: warning, says: say("in %v of %v scans fewer than %v ancestors are left (%v at %s)", f.Some, f.Scans, f.Enough, f.Least, f.Worst),
		means: "the samples come from so few particles of the scan before, after an outlier or a prediction that is wide beside the noise, and their spread is too small",
		cure:  "look there; take more particles, or give the model more noise", help: helpSurprise,
	}
}

// LostTarget says that in some scans a target explains far fewer returns than its rate.
type LostTarget struct {
	Target      string
	Some, Scans int
	Worst       string  // the time of the scan where it explains the fewest
	Returns     float64 // the fewest
}

func (f LostTarget) words() words {
	return words{
		look: warning, says: say("in %v of %v scans target %s has far fewer returns than its rate (%.1f at %s)", f.Some, f.Scans, f.Target, f.Returns, f.Worst),
		means: "the filter has not found its returns, or it gave few, and then mean and spread may be wrong",
		cure:  "look there; compare with --against laplace or bootstrap, or take more acceleration", help: helpSurprise,
	}
}

// IdleScans says that in some scans with returns every joint draw was accepted.
type IdleScans struct {
	Some, Scans int
	First       string // the time of the first of them
}

func (f IdleScans) words() words {
	return words{
		look: note, says: say("in %v of %v scans every joint draw was accepted, although there were returns, first at %s", f.Some, f.Scans, f.First),
		means: "these returns are far from all that the filter predicts, and tell it nothing: they are clutter, or those of a target that it has lost",
		cure:  "look there", help: helpSurprise,
	}
}

// NearlyNormal says that nearly all guided draws were accepted in every scan.
type NearlyNormal struct {
	Scans    int
	Least    float64 // the smallest acceptance of a scan
	Method   string  // that would have done: laplace or kalman
	Compared bool    `kept:"compared=yes|no"` // with another method
}

func (f NearlyNormal) words() words {
	least := either(f.Least < 1, "at least "+percent(math.Floor(1000*f.Least)/1000, 1)+" of", "all")
	return words{
		look: note | page, says: say("samples are not needed, since %s guided draws were accepted in %s", least, plural(f.Scans, "the one scan", say("each of %v scans", f.Scans))),
		means: "the law of each scan is nearly normal, so that method: " + f.Method + " has the same estimates without samples",
		cure:  either(f.Compared, "", "compare with --against "+f.Method), help: helpFilters,
	}
}

// SurprisingScans says that some scans are less likely than nearly all that the filter predicted.
type SurprisingScans struct {
	Some, Scans int
	Worst       string  // the time of the most surprising
	Share       float64 // of the predicted scans that are no more likely
}

func (f SurprisingScans) words() words {
	return words{
		look: warning, says: say("%v of %v scans surprised the filter (surprise %.2g at %s)", f.Some, f.Scans, f.Share, f.Worst),
		means: "they are less likely than nearly all scans that it predicted: outliers, a target that is lost, or a model that is too sure of itself",
		cure:  "look there; leave outliers out, or give the model more noise", help: helpSurprise,
	}
}

// SparseTargets says that several targets give few returns each.
type SparseTargets struct {
	Targets  int
	Rate     float64 // mean number of returns of each in a scan
	Compared bool    `kept:"compared=yes|no"` // with another method
}

func (f SparseTargets) words() words {
	return words{
		look: note, says: say("each of %v targets gives %.2g returns a scan", f.Targets, f.Rate),
		means: "samples then stand for many ways to assign returns to targets; data association filters elsewhere, such as JPDA and MHT, count these ways one by one",
		cure:  either(f.Compared, "", "check it with --against bootstrap"), help: helpTargets,
	}
}

// FiltersApart says that in some scans the chains of several filters are in different places.
type FiltersApart struct {
	Some, Scans  int
	Worst, Limit float64 // the largest R-hat, which is above the limit
	Sampler
}

func (f FiltersApart) words() words {
	if f.Nodes {
		return words{
			look:  warning,
			says:  say("in %v of %v scans the nodes' chains end in different places (R-hat %.1f, want at most %.0f)", f.Some, f.Scans, f.Worst, f.Limit),
			means: "their sites are too rough, or each stays in one of several modes or has not left its start. The mean over nodes is then no estimate of the state",
			cure:  "take " + unless(f.Guided, "joint: guided, ") + "more particles, fewer nodes or a longer burn", help: helpNodes,
		}
	}
	return words{
		look: warning,
		says: say("in %v of %v scans the chains end in different places (R-hat %.1f, want at most %.0f)", f.Some, f.Scans, f.Worst, f.Limit),
		means: "each stays in one of several modes, has not left its start, or has too few particles (fewer filters, method.smcmc.repeat, have more), " +
			"so that the shares of the modes are unknown",
		cure: "take " + either(f.Joint, unless(f.Guided, "joint: guided, "), "joint: prior or guided, ") + "more particles, a longer burn, or bootstrap", help: helpFilters,
	}
}

// IdleSubsampling says that nearly all decisions by decide: subsample were made by the sum over all measurements.
type IdleSubsampling struct{ Share float64 }

func (f IdleSubsampling) words() words {
	return words{
		look: note, says: say("decide: subsample left %.0f %% of the decisions to the sum over all measurements", 100*f.Share),
		means: "scans have too few measurements for it, or most of theirs have no bound (returns of clutter outside the region, positions at a sensor); " +
			"the estimates are right",
		cure: "take decide: all, which does the same for less", help: helpSubsampling,
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

// PartialMeasurements counts measurements that lack some of their numbers.
type PartialMeasurements struct {
	Count int
	Used  bool `kept:"model=linear|other"` // the model takes the numbers that are there
}

func (f PartialMeasurements) words() words {
	lack := say("%v %s", f.Count, plural(f.Count, "measurement lacks some of its numbers", "measurements lack some of their numbers"))
	if f.Used {
		return words{look: note, says: lack + ": the model, which is linear, took the numbers that are there"}
	}
	return words{look: note, says: lack + plural(f.Count, " and was left out", " and were left out") + ": this model takes whole measurements alone"}
}

// MostScansLeftOut says that a run could use the smaller part of its scans.
type MostScansLeftOut struct{ Count, Scans int }

func (f MostScansLeftOut) words() words {
	return words{
		look: warning | failure,
		says: say("%v of %v scans could not be used and were left out, more than half", f.Count, f.Scans),
		cure: "look for their errors in what the command wrote while it ran", help: helpFilters,
	}
}

// WrongUnit says that the times of scans look like those of a smaller unit than seconds.
type WrongUnit struct {
	Step, Interval float64 // the usual step of time, about, and what the model expects, in seconds
	Unit, Name     string  // in which the steps would fit, for the setting and in words
}

func (f WrongUnit) words() words {
	return words{
		look: warning, says: say("most scans are about %.0f s apart, the model expects %.3g s: the times look like %s", f.Step, f.Interval, f.Name),
		cure: "if they are, set scans.time_unit=" + f.Unit + ", if not, the model's interval", help: helpTimes,
	}
}

// WiderThanRegion says that the spread of a track is larger than the region in which the model expects returns.
type WiderThanRegion struct {
	Some, Scans int
	Target      string
	First       string // the time of the first such scan, as the source writes it
}

func (f WiderThanRegion) words() words {
	return words{
		look:  warning,
		says:  say("in %v of %v scans the sd of a track is larger than the region (first target %s at %s)", f.Some, f.Scans, f.Target, f.First),
		means: "the target is lost there",
		cure:  "check scans.time_unit, start and acceleration", help: helpTimes,
	}
}

// TruthElsewhere says that no true state has the time of a scan.
type TruthElsewhere struct {
	First string `kept:"?"` // the time of the first true state, as it is written; empty: there is none
	Scan  string // the time of the last scan
}

func (f TruthElsewhere) words() words {
	return words{
		look: warning,
		says: "no true state has the time of a scan, so there are no scores (" + either(f.First == "", "the file has no rows", "the first is at "+f.First) + ", the last scan at " + f.Scan + ")",
		cure: "give both the same times, in one unit", help: helpTimes,
	}
}

// OneNode says that a method for several nodes has one.
type OneNode struct{}

func (OneNode) words() words {
	return words{
		look: note, says: "method ep has one node, and so is smcmc of one filter, without sites", cure: "take more nodes (method.ep.nodes), or method: smcmc", help: helpNodes,
	}
}

// OnePass says that nodes do not hear of each other.
type OnePass struct{ Nodes int }

func (f OnePass) words() words {
	return words{
		look: warning, says: say("method ep makes one pass, so its %v nodes do not hear of each other's measurements", f.Nodes),
		means: "each node's samples are those of its own share, and the spreads of all together are too large",
		cure:  "take method.ep.passes=2 or more", help: helpNodes,
	}
}

// MoreNodesThanMeasurements says that in some scans nodes have no measurements.
type MoreNodesThanMeasurements struct {
	Some, Scans, Nodes int
}

func (f MoreNodesThanMeasurements) words() words {
	return words{
		look: note, says: say("%v of %v scans have fewer measurements than there are nodes (%v)", f.Some, f.Scans, f.Nodes),
		means: "some nodes have none there. They do no harm, and are of no use",
		cure:  "take fewer nodes (method.ep.nodes)", help: helpNodes,
	}
}

// EmptySites says that sites of nodes with measurements say nothing of the state.
type EmptySites struct{ Some, Sites int }

func (f EmptySites) words() words {
	return words{
		look: warning, says: say("%v of %v sites say nothing of the state, although their nodes have measurements", f.Some, f.Sites),
		means: "a node's samples are worth too few independent draws for a covariance, or are spread more widely than its prediction; " +
			"the other nodes then do without its measurements",
		cure: "take more particles, fewer nodes or a longer burn", help: helpNodes,
	}
}

// RepairedSites says that more sites had to be repaired than were good as they came.
type RepairedSites struct{ Some, Kept int }

func (f RepairedSites) words() words {
	return words{
		look: warning, says: say("%v sites had to be repaired, and %v were good as they came", f.Some, f.Kept),
		means: "their precision had eigenvalues below 0: the noise of a node's samples is larger than what its measurements tell",
		cure:  "take more particles or fewer nodes", help: helpNodes,
	}
}
