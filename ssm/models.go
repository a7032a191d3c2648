package ssm

import "github.com/starling-smc/starling/internal/config"

// Models lists the models that a config can name. Each of them is also a Simulator.
var Models = config.Table[Model]{
	{Name: "linear_gaussian", Part: LinearGaussian{}},
	{Name: "clutter", Part: Clutter{}},
	{Name: "student", Part: Student{}},
	{Name: "range_bearing", Part: RangeBearing{}},
}
