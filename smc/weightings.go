package smc

import (
	"fmt"
	"reflect"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
)

// Weightings lists the weightings that a config can name.
var Weightings = config.Table[Weighting]{
	{Name: "momentum", Part: Momentum{}},
	{Name: "literal", Part: Momentum{Literal: true}},
	{Name: "reversal", Part: Reversal{}},
	{Name: "bootstrap", Part: Bootstrap{}},
	{Name: "equal", Part: Equal{}},
}

// DefaultWeighting returns Reversal for moves that leave their target invariant, else Momentum.
func DefaultWeighting(move mcmc.Kernel) Weighting {
	if !move.Traits().Invariant() {
		return Momentum{}
	}
	return Reversal{}
}

// SuitsWeighting says why a weighting cannot go with a path. The text begins with the weighting's name.
func SuitsWeighting(path Targets, w Weigher) error {
	switch p, t := path.Traits(), w.Traits(); {
	case p.Prepares && t.Untargeted && !t.Equal:
		return fmt.Errorf("%s leaves out changes of target, but a tempered start weights particles by nothing else: "+
			"the likelihood would never enter the weights", nameOf(w))
	case p.Gradual && t.Afresh:
		return fmt.Errorf("%s leaves out the change of target, and this path lets the likelihood in little by little: take path constant or full", nameOf(w))
	}
	return nil
}

// SuitsMove says why a weighting cannot go with a move. The text begins with the weighting's name.
func SuitsMove(w Weigher, move mcmc.Kernel) error {
	why := w.Traits().NotOthers
	if move.Traits().Invariant() {
		why = w.Traits().NotInvariant
	}
	if why != "" {
		return fmt.Errorf("%s %s", nameOf(w), why)
	}
	return nil
}

// nameOf is a weighting's name in a config, or the type of a program's own.
func nameOf(w Weigher) string {
	if row, ok := reflect.Indirect(reflect.ValueOf(w)).Interface().(Weighting); ok {
		if name := Weightings.Name(row); name != "" {
			return name
		}
	}
	return fmt.Sprintf("%T", w)
}
