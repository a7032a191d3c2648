package filter

// ByKind has a number of each kind of decision of SMCMC; NaN: there is no such decision.
type ByKind struct{ Joint, Index, Refine float64 }
