package filter

import "github.com/starling-smc/starling/internal/config"

// Methods lists the methods by their names in a config.
var Methods = config.Table[Method]{
	{Name: "smcmc", Part: SMCMC{}},
	{Name: "kalman", Part: Kalman{}},
	{Name: "bootstrap", Part: Bootstrap{}},
	{Name: "auxiliary", Part: Auxiliary{}},
	{Name: "laplace", Part: Laplace{}},
	{Name: "ep", Part: EP{}},
}

// Families lists the tables of all parts that a method may name.
var Families = []config.Family{Methods, Joints, Indices, Refinements, Decisions, Repairs}

// Joints lists the joint proposals by their names in a config.
var Joints = config.Table[Joint]{
	{Name: "none", Part: NoJoint{}},
	{Name: "prior", Part: PriorJoint{}},
	{Name: "guided", Part: Guided{}},
}

// Indices lists the ways to refine the index by their names in a config.
var Indices = config.Table[Index]{
	{Name: "none", Part: FixedIndex{}},
	{Name: "uniform", Part: UniformIndex{}},
	{Name: "exact", Part: ExactIndex{}},
}

// Refinements lists the refinements by their names in a config.
var Refinements = config.Table[Refinement]{
	{Name: "none", Part: NoRefinement{}},
	{Name: "prior", Part: PriorRefinement{}},
	{Name: "walk", Part: Walk{}},
}

// Decisions lists the ways to look at the measurements by their names in a config.
var Decisions = config.Table[Decision]{
	{Name: "all", Part: AllRows{}},
	{Name: "subsample", Part: Subsample{}},
}

// Repairs lists the ways to make a site positive semidefinite by their names in a config.
var Repairs = config.Table[Repair]{
	{Name: "clip", Part: Clip{}},
	{Name: "softabs", Part: SoftAbs{}},
}
