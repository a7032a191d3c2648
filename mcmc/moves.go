package mcmc

import "github.com/starling-smc/starling/internal/config"

// Moves lists the moves that a config can name.
var Moves = config.Table[Move]{
	{Name: "hmc", Part: HMC{}},
	{Name: "pcn", Part: PCN{}},
	{Name: "nuts", Part: NUTS{}},
	{Name: "leapfrog", Part: Unadjusted{}},
	{Name: "epoch", Part: Epoch{}},
	{Name: "sghmc", Part: SGHMC{}},
	{Name: "walk", Part: Walk{}},
	{Name: "metropolis", Part: Metropolis{}},
}

// MovesWhere lists the names of the moves that leave their target invariant, or of those whose errors a weight corrects.
func MovesWhere(invariant bool) (names []string) {
	for _, row := range Moves {
		if t := row.Part.Traits(); t.Invariant() == invariant && !t.Biased() {
			names = append(names, row.Name)
		}
	}
	return names
}
