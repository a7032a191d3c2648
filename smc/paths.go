package smc

import "github.com/starling-smc/starling/internal/config"

// Paths lists the paths that a config can name. Fixed and TemperedStart have no name.
var Paths = config.Table[Path]{
	{Name: "tempering", Part: Tempering{}},
	{Name: "ladder", Part: Ladder{}},
	{Name: "constant", Part: Schedule[Constant]{}},
	{Name: "full", Part: Schedule[Full]{}},
	{Name: "ctr", Part: Schedule[ConstantToRefine]{}},
	{Name: "linear", Part: Schedule[Linear]{}},
	{Name: "automated", Part: Schedule[Automated]{}},
	{Name: "sda", Part: SDA{}},
}
