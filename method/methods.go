package method

import (
	"github.com/starling-smc/starling/internal/config"
)

// Methods lists the methods by their names in a config.
var Methods = config.Table[Method]{
	{Name: "map", Part: MAP{}},
	{Name: "ensemble", Part: Ensemble{}},
	{Name: "swa", Part: SWA{}},
	{Name: "swag", Part: SWAG{}},
	{Name: "as-is", Part: AsIs{}},
	{Name: "mcmc", Part: MCMC{}},
	{Name: "smc", Part: SMC{}},
}
