package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// evidence is an estimate of an evidence: e^log, with a relative standard error.
type evidence struct{ log, se float64 }

// averaged is the mean of estimates that are given by their logarithms. Their spread is that of few filters, or of many draws.
func averaged(logs []float64, few bool) evidence {
	top, n, mean, square := math.Inf(-1), float64(len(logs)), 0.0, 0.0
	for _, l := range logs {
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		return evidence{top, math.NaN()}
	}
	for _, l := range logs {
		mean += rng.Exp(l-top) / n
	}
	for _, l := range logs {
		dev := rng.Exp(l-top)/mean - 1
		square += float64(dev*dev) / (n - 1)
	}
	if few {
		square *= student(n)
	}
	return evidence{top + rng.Log(mean), math.Sqrt(square / n)}
}

// weigh adds to an Info what the filters' estimates say together.
func (info *Info) weigh(filters []evidence) {
	all := filters[0]
	if len(filters) > 1 {
		var logs []float64
		for _, e := range filters {
			logs = append(logs, e.log)
		}
		all = averaged(logs, true)
	}
	info.LogEvidence, info.LogEvidenceSE = all.log, all.se
}
