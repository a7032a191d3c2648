package smc

import "github.com/starling-smc/starling/internal/config"

// Schemes lists the resampling schemes.
var Schemes = config.Table[Scheme]{
	{Name: "multinomial", Part: Multinomial{}},
	{Name: "systematic", Part: Systematic{}},
	{Name: "stratified", Part: Stratified{}},
	{Name: "residual", Part: Residual{}},
}
