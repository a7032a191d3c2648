package finding

// Findings about filters.

// FewDraws says that the samples of some scans are worth few independent draws; least is the smallest number of draws.
func FewDraws(some, scans int, least, enough float64) Finding {
	return Finding{Kind: KindFewDraws, Numbers: numbers{"some": float64(some), "scans": float64(scans), "least": least, "enough": enough}.safe()}
}

// LoneAncestor says that the filter of some scans comes from one particle of the scan before.
func LoneAncestor(some, scans int) Finding {
	return Finding{Kind: "lone-ancestor", Numbers: numbers{"some": float64(some), "scans": float64(scans)}.safe()}
}

// FiltersApart says that in some scans the chains of several filters are in different places; worst is the largest R-hat, which is
// above limit.
func FiltersApart(some, scans int, worst, limit float64) Finding {
	return Finding{Kind: "filters-apart", Numbers: numbers{"some": float64(some), "scans": float64(scans), "worst": worst, "limit": limit}.safe()}
}

// SmallFilters says that each of several filters of smcmc has fewer particles than enough.
func SmallFilters(filters, each, enough int) Finding {
	return Finding{Kind: "small-filters", Numbers: numbers{"filters": float64(filters), "each": float64(each), "enough": float64(enough)}.safe()}
}

// ErrorsUnknown says that in some scans the Monte Carlo error of a mean is unknown.
func ErrorsUnknown(some, scans int) Finding {
	return Finding{Kind: "errors-unknown", Numbers: numbers{"some": float64(some), "scans": float64(scans)}.safe()}
}

// ScansLeftOut says that some scans could not be used.
func ScansLeftOut(n int) Finding {
	return Finding{Kind: "scans-left-out", Numbers: numbers{"count": float64(n)}.safe()}
}
