package bnn

import "github.com/starling-smc/starling/internal/config"

// Priors are the families of priors by name.
var Priors = config.Table[PriorFamily]{
	{Name: "normal", Part: NormalPrior{}},
	{Name: "learned", Part: LearnedPrior{}},
}
