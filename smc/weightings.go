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
	if !move.Invariant() {
		return Momentum{}
	}
	return Reversal{}
}

// SuitsWeighting says why a weighting cannot go with a path, if the path has a method that decides it. The text begins with the
// weighting's name.
func SuitsWeighting(path Targets, w Weigher) error {
	if path, ok := path.(interface{ SuitsWeighting(w Weigher) error }); ok {
		if err := path.SuitsWeighting(w); err != nil {
			return fmt.Errorf("%s %w", nameOf(w), err)
		}
	}
	return nil
}

// SuitsMove says why a weighting cannot go with a move, if the weighting has a method that decides it. The text begins with
// the weighting's name.
func SuitsMove(w Weigher, move mcmc.Kernel) error {
	if suits, ok := w.(interface{ Suits(invariant bool) error }); ok {
		if err := suits.Suits(move.Invariant()); err != nil {
			return fmt.Errorf("%s %w", nameOf(w), err)
		}
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
