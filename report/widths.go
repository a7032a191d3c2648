package report

import "github.com/starling-smc/starling/bnn"

// widths is the table of the widths that the prior learned; none if it learns none.
func (v *view) widths() []table {
	if v.a.Metrics.Widths == nil {
		return nil
	}
	t := table{
		Caption: "Standard deviation of each tensor's parameters, which the prior learns",
		Head:    []string{"tensor", "prior: median", "5\u00a0% to 95\u00a0%", "posterior: median", "5\u00a0% to 95\u00a0%"},
	}
	between := func(q bnn.Quantiles) string { return significant(q.At5) + " to " + significant(q.At95) }
	for _, w := range v.a.Metrics.Widths {
		t.add(w.Tensor, significant(w.Prior.At50), between(w.Prior), significant(w.Posterior.At50), between(w.Posterior))
	}
	return []table{t}
}
