package smc

import "github.com/starling-smc/starling/internal/config"

// Weightings lists the weightings that a config can name.
var Weightings = config.Table[Weighting]{
	{Name: "momentum", Part: Momentum{}},
	{Name: "literal", Part: Momentum{Literal: true}},
	{Name: "reversal", Part: Reversal{}},
	{Name: "bootstrap", Part: Bootstrap{}},
	{Name: "equal", Part: Equal{}},
}
