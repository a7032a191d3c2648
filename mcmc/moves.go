package mcmc

import "github.com/starling-smc/starling/internal/config"

// Moves lists the moves that a config can name.
var Moves = config.Table[Move]{
	{Name: "hmc", Part: HMC{}},
	{Name: "pcn", Part: PCN{}},
	{Name: "leapfrog", Part: Unadjusted{}},
}
