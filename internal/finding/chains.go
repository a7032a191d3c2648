package finding

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about whether chains sample one posterior together.

// MostRHat is the R-hat up to which chains agree.
const MostRHat = 1.1

// WhatRHatIs defines R-hat for a reader, without a full stop.
func WhatRHatIs(chains int) string {
	parts := "chains"
	if chains == 1 {
		parts = "the halves of the chain"
	}
	return fmt.Sprintf("R-hat compares the spread between %s with the spread within them: 1 is agreement, and up to %v counts as agreement", parts, MostRHat)
}

// RHat compares chains: the R-hat of their predictions, and of their log-likelihoods.
type RHat struct {
	Chains        int
	Median, Q95   float64 // over the predictions
	Low, High     float64 // an interval of Median; both equal to it: none
	LogLikelihood float64 // NaN: none
	ESS           float64 // of the predictions; NaN: none
}

func (r RHat) finding(kind string) Finding {
	n := numbers{"chains": float64(r.Chains), "median": r.Median, "q95": r.Q95}
	if r.Low != r.High {
		n["low"], n["high"] = r.Low, r.High
	}
	if !math.IsNaN(r.LogLikelihood) {
		n["log_likelihood"] = r.LogLikelihood
	}
	if !math.IsNaN(r.ESS) {
		n["ess"] = r.ESS
	}
	return Finding{Kind: kind, Numbers: n.safe()}
}

// ChainsAgree says that the chains sample one posterior together.
func ChainsAgree(r RHat) Finding { return r.finding("chains-agree") }

// ChainsApart says that each chain samples a part of the posterior of its own.
func ChainsApart(r RHat) Finding { return r.finding(KindApart) }

// ChainsUnsure says that the states are too few to tell, or that predictions agree and log-likelihoods do not.
func ChainsUnsure(r RHat) Finding { return r.finding("chains-unsure") }

// ChainsUntold says that there is no R-hat of the predictions, and why. Nothing else speaks against the chains. few: the chains keep too few states.
func ChainsUntold(chains int, why string, few bool) Finding {
	f := Finding{Kind: "chains-untold", Numbers: numbers{"chains": float64(chains)}.safe(), Names: map[string]string{"why": why}}
	if few {
		f.Names["because"] = "few"
	}
	return f
}

// ChainsUncompared says that there is no R-hat of the predictions, and why, and that the log-likelihoods do not tell either: their R-hat is
// above MostRHat, or NaN: none. few: the chains keep too few states.
func ChainsUncompared(chains int, why string, few bool, likelihood float64) Finding {
	f := ChainsUntold(chains, why, few)
	f.Kind = KindUncompared
	if !math.IsNaN(likelihood) {
		f.Numbers["log_likelihood"] = numeral.Number(likelihood)
	}
	return f
}

// FewStates says that the states of all chains are worth fewer independent ones than enough.
func FewStates(ess, enough float64) Finding {
	return Finding{Kind: "few-states", Numbers: numbers{"ess": ess, "enough": enough}.safe()}
}

// Budget is a chain's budget of epochs, and how many trajectories it makes.
type Budget struct {
	Chains, Few  int     // of all chains, those with too few trajectories
	Epochs       int     // of a chain
	Trajectories int     // of a chain, of those the fewest
	Leapfrogs    float64 // of a trajectory, each an epoch
	Least        bool    // the leapfrogs are not known yet, and are at least so many
	Enough, Need int     // the least number of trajectories, and the epochs that make so many
	Field        string  // the path of the epochs in the config
}

// FewTrajectories says that chains make too few trajectories to leave their start, and how many epochs would do.
func FewTrajectories(b Budget) Finding {
	known := "known"
	if b.Least {
		known = "least"
	}
	return Finding{
		Kind: KindFew,
		Numbers: numbers{
			"chains": float64(b.Chains), "few": float64(b.Few), "epochs": float64(b.Epochs), "trajectories": float64(b.Trajectories),
			"leapfrogs": b.Leapfrogs, "enough": float64(b.Enough), "need": float64(b.Need),
		}.safe(),
		Names: map[string]string{"field": b.Field, "leapfrogs": known},
	}
}
