package bnn

import "github.com/starling-smc/starling/internal/config"

// Combinations lists the weightings of islands by their names in configs and in metrics.json.
var Combinations = config.Table[Combination]{
	{Name: "equal", Part: Equal{}},
	{Name: "evidence", Part: Evidence{}},
}
