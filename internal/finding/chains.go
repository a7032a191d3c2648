package finding

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about whether chains sample one posterior together.

// MostRHat is the R-hat up to which chains agree.
const MostRHat = 1.1

// WhatRHatIs defines R-hat for a reader, without a full stop.
func WhatRHatIs(chains int) string {
	return say("R-hat compares the spread between %s with the spread within them: 1 is agreement, and up to %.1f counts as agreement",
		plural(chains, "the halves of the chain", "chains"), MostRHat)
}

// ChainsEnd gives the number of chains, and the ranges of their last log-likelihoods, in nats, and of their acceptance in the second half.
type ChainsEnd struct {
	Chains          int `kept:"?"`
	Lowest, Highest float64
	Least, Most     *numeral.Number // nil: moves without an accept step
}

func (f ChainsEnd) words() words {
	one, several := "", ""
	if f.Least != nil && f.Most != nil {
		one = say("; it accepted %.2f of its moves in the second half", *f.Least)
		several = "; they accepted " + between(float64(*f.Least), float64(*f.Most), 2) + " of their moves in the second half"
	}
	return words{look: note, says: plural(f.Chains, say("the chain ends at log-likelihood %.1f", f.Lowest)+one,
		"chains end at log-likelihoods of "+between(f.Lowest, f.Highest, 1)+several)}
}

// ChainsOutlying names chains, counted from 0, whose last log-likelihood is far from the other chains'.
type ChainsOutlying struct{ Chains Some }

func (f ChainsOutlying) words() words {
	return words{
		look: note | page,
		says: say(f.Chains.plural("chain %s ended far from the other chains, by its log-likelihood",
			"chains %s ended far from the other chains, by their log-likelihoods"), f.Chains.Names),
		means: f.Chains.plural("it is in another mode, or still on its way", "they are in another mode, or still on their way"),
	}
}

// FewTrajectories says that chains make too few trajectories to leave their start, and how many epochs would do.
type FewTrajectories struct {
	Chains, Few  int     // of all chains, those with too few trajectories
	Epochs       int     // of a chain
	Trajectories int     // of a chain, of those the fewest
	Leapfrogs    float64 // of a trajectory, each an epoch
	Least        bool    `kept:"leapfrogs=least|known"` // the leapfrogs are not known yet, and are at least so many
	Enough, Need int     // the least number of trajectories, and the epochs that make so many
	Field        string  // the path of the epochs in the config
}

func (f FewTrajectories) words() words {
	who := plural(f.Chains, "the chain makes", either(f.Few == f.Chains, "each chain makes", say("%v of %v chains %s", f.Few, f.Chains, plural(f.Few, "makes", "make"))))
	what, shorter := " moves", ""
	if f.Leapfrogs != 1 {
		what = say(" %s of %.0f leapfrogs", plural(f.Trajectories, "trajectory", "trajectories"), f.Leapfrogs)
		shorter = " or shorter trajectories"
	}
	w := words{
		look: warning, says: say("%s too few moves (%v epochs are %v%s)", who, f.Epochs, f.Trajectories, what),
		means: say("a chain of fewer than %v stays near its start", f.Enough),
		cure:  say("take at least %v epochs (%s)%s", f.Need, f.Field, shorter), help: helpMixing,
	}
	if f.Least {
		w.says = say("the budget is too small (%v epochs make at most %v trajectories)", f.Epochs, f.Trajectories)
		w.means = say("on a model of this size a trajectory takes about %.0f leapfrogs or more, and ", f.Leapfrogs) + w.means
	}
	return w
}

// Change is the Monte Carlo error of what chains predict together, by the spread between them (eval.Change).
type Change struct {
	Cost    *numeral.Number // NLL that it costs, in nats an example; nil: not known, as in a run of an older version
	By      *numeral.Number // standard error: of class probabilities, or of means in predicted standard deviations
	Limit   *numeral.Number // the cost up to which it does not matter
	Numbers bool            `kept:"numbers?"` // the predictions are numbers, not classes
}

// known reports whether the run says what the chains' differences do to its predictions. Then that is what warns.
func (c Change) known() bool { return c.Cost != nil && c.By != nil && c.Limit != nil }

// Matters reports whether it is known that they matter.
func (c Change) Matters() bool { return c.known() && !(*c.Cost <= *c.Limit) }

// look is that of a finding about chains that may differ: a note on the page where their Change says whether to warn.
func (c Change) look(otherwise look) look {
	if c.known() {
		return note | page
	}
	return otherwise
}

// means says how large the error is.
func (c Change) means() string {
	by := say("the class probabilities have a Monte Carlo error of %s (mean total variation)", percent(float64(*c.By), 1))
	if c.Numbers {
		by = say("the predicted means have a Monte Carlo error of %.3f predicted standard deviations", *c.By)
	}
	return "by the spread between the chains, " + by
}

// costs says what it costs.
func (c Change) costs() string {
	return c.means() + say(", which costs about %.4f nats of NLL", *c.Cost)
}

// after adds what follows for the predictions, where it is known.
func (c Change) after(text string) string {
	if !c.known() {
		return text
	}
	return text + ". " + numeral.Capital(c.costs())
}

// ChainsRough says that the chains differ so much that the predictions of all together have an error that matters.
type ChainsRough struct {
	Chains          int
	Cost, By, Limit float64 // as of Change
	Numbers         bool    `kept:"numbers?"`
}

// Rough is what is found of chains whose error matters.
func (c Change) Rough(chains int) ChainsRough {
	return ChainsRough{chains, float64(*c.Cost), float64(*c.By), float64(*c.Limit), c.Numbers}
}

func (f ChainsRough) words() words {
	who := plural(f.Chains, "the two halves of the chain", say("the %v chains", f.Chains))
	if math.IsNaN(f.Cost) || math.IsInf(f.Cost, 0) {
		return words{
			look: warning, says: who + " predict differently, by more than numbers can tell",
			means: "predictions of some of them are infinite, or nearly so, as after steps that are too long",
			cure:  "take a smaller step of the moves", help: helpMoves,
		}
	}
	change := Change{By: new(numeral.Number(f.By)), Numbers: f.Numbers}
	return words{
		look:  warning,
		says:  who + say(" predict differently, which costs about %.3f nats of NLL", f.Cost),
		means: change.means() + say(". Up to %.3f nats count as little here", f.Limit),
		cure:  "take more chains (method.mcmc.chains), and as many map.restarts", help: helpMixing,
	}
}

// RHat compares chains: the R-hat of their predictions, and of their log-likelihoods. What is nil is not known.
type RHat struct {
	Chains        int
	Median, Q95   float64         // over the predictions
	Low, High     *numeral.Number // an interval of Median
	LogLikelihood *numeral.Number
	ESS           *numeral.Number // of the predictions
	Change
}

// mixing is the R-hats in short.
func (r RHat) mixing() string {
	return say(" (R-hat: median %.2f, want at most %.1f; 95th percentile %.2f)", r.Median, MostRHat, r.Q95)
}

// means is all that is known.
func (r RHat) means() string {
	text := "the predictions have these R-hats"
	if r.Low != nil && r.High != nil {
		text += ", a median of " + between(float64(*r.Low), float64(*r.High), 2) + " within two standard errors"
	}
	if r.LogLikelihood != nil {
		text += say(". The log-likelihood has %.2f", *r.LogLikelihood) + either(*r.LogLikelihood > MostRHat, say(", which is above %.1f", MostRHat), "")
	}
	if r.ESS != nil {
		text += say(". All states together are worth %.0f independent ones", *r.ESS)
	}
	return r.after(text + ". " + WhatRHatIs(r.Chains))
}

// cure is empty where the chains' Change is known: then ChainsRough has one, if it matters.
func (r RHat) cure(otherwise string) string { return either(r.known(), "", otherwise) }

// ChainsAgree says that the chains sample one posterior together.
type ChainsAgree struct{ RHat }

// ChainsApart says that each chain samples a part of the posterior of its own.
type ChainsApart struct{ RHat }

// ChainsUnsure says that the states are too few to tell, or that predictions agree and log-likelihoods do not.
type ChainsUnsure struct{ RHat }

func (f ChainsAgree) words() words {
	who := plural(f.Chains, "the two halves of the chain agree", say("the %v chains agree", f.Chains))
	return words{look: note, says: who + f.mixing(), means: f.means()}
}

func (f ChainsApart) words() words {
	if f.Chains == 1 {
		return words{
			look: f.look(warning), says: "the chain has not mixed, as its two halves differ" + f.mixing(), means: f.means(),
			cure: f.cure("take more epochs and several chains"), help: helpMixing,
		}
	}
	says := say("the %v chains are not one mixed posterior", f.Chains)
	means := "each chain explores a part of its own: a mode or, as the chains are short, its way from the start. "
	if f.ESS != nil {
		says = say("the %v chains are in different modes", f.Chains)
		means = say("each chain explores its own mode, and together they are %v modes. ", f.Chains)
	}
	return words{
		look: f.look(warning), says: says + f.mixing(), means: means + numeral.Capital(f.means()), cure: f.cure("take more epochs; more chains find more modes"),
		help: helpMixing,
	}
}

func (f ChainsUnsure) words() words {
	return words{
		look: f.look(note), says: plural(f.Chains, "the chain", say("the %v chains", f.Chains)) + " may not have mixed" + f.mixing(), means: f.means(),
		cure: f.cure("take twice the epochs"), help: helpMixing,
	}
}

// ChainsUntold says that there is no R-hat of the predictions, and why. Nothing else speaks against the chains.
type ChainsUntold struct {
	Chains int
	Why    string
	Few    bool `kept:"because=few|?"` // the chains keep too few states
}

// ChainsUncompared says that there is no R-hat of the predictions, and why, and that the log-likelihoods do not tell either: their R-hat is
// above MostRHat, or nil: none.
type ChainsUncompared struct {
	Chains        int
	Why           string
	Few           bool `kept:"because=few|?"` // the chains keep too few states
	LogLikelihood *numeral.Number
	Change
}

func (f ChainsUntold) words() words {
	return words{
		look: note | page,
		says: say("it is not known whether %s, as %s",
			plural(f.Chains, "the chain has mixed", say("the %v chains explore one posterior", f.Chains)), f.Why),
		cure: either(f.Few, "take more epochs and keep more states (keep): from 50 a chain there is also an effective sample size", ""), help: helpMixing,
	}
}

func (f ChainsUncompared) words() words {
	means := "nothing else says whether " + plural(f.Chains, "it has mixed", "they explore one posterior")
	if f.LogLikelihood != nil {
		means = say("%s an R-hat of %.2f, and up to %.1f counts as agreement",
			plural(f.Chains, "its log-likelihood has", "their log-likelihoods have"), *f.LogLikelihood, MostRHat)
	}
	w := words{
		look:  warning,
		says:  plural(f.Chains, "the two halves of the chain", say("the %v chains", f.Chains)) + " cannot be compared, as " + f.Why,
		means: f.after(means),
		cure:  "take a smaller step, and check the scale of the inputs",
		help:  helpMixing,
	}
	if f.Few {
		w.look, w.cure = f.look(warning), either(f.known(), "", "take more epochs, so that each chain keeps at least 8 states (keep)")
	}
	return w
}

// FewStates says that the states of all chains are worth fewer independent ones than enough.
type FewStates struct {
	ESS, Enough float64
	Change
}

func (f FewStates) words() words {
	return words{
		look: f.look(warning), says: say("all states together are worth %.0f independent ones", f.ESS),
		means: f.after(say("that is fewer than %.0f", f.Enough) + either(f.known(), "", ", so probabilities and uncertainties are rough")),
		cure:  either(f.known(), "", "take more epochs, and keep more states (keep)"), help: helpMixing,
	}
}
