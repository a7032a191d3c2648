package starling

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/method"
)

// SVGD finds a rate on small networks with a small noise, wide priors and deep layers, where J/(10 N) alone ends with an error, and
// predicts better than the mean of the targets or the most frequent class. Nothing is written but what is in the config; the seed is fixed.
func TestSVGDOnSmallNetworks(t *testing.T) {
	const yacht = "examples/regression.yaml"
	for _, c := range []struct {
		file string
		sets []string
	}{
		{yacht, []string{"prior.normal.variance=1", "model.likelihood={gaussian: {sd: 0.1}}"}},
		{yacht, []string{"prior.normal.variance=10", "model.likelihood={gaussian: {sd: 0.05}}"}},
		{yacht, []string{"prior.normal.variance=1", "model.likelihood={gaussian: {sd: 0.6}}", "model.layers=[{dense: 1}]"}},
		{yacht, []string{"prior.normal.variance=1", "model.likelihood={gaussian: {sd: 0.3}}", "model.layers=[{dense: 20}, relu, {dense: 20}, relu, {dense: 1}]"}},
		{"examples/classification.yaml", []string{"prior.normal.variance=10"}},
	} {
		r := fitted(t, parsed(t, c.file, append(c.sets, "map=null", "method=svgd")...), Options{Threads: 2})
		m := r.Metrics
		if m.R2 != nil && !(float64(*m.R2) > 0.3) || m.Accuracy != nil && !(float64(*m.Accuracy) > 0.5) || !(float64(m.NLL) < math.Inf(1)) {
			t.Errorf("%s %v: R² %v, accuracy %v, NLL %v", c.file, c.sets, m.R2, m.Accuracy, m.NLL)
		}
		if s, ok := r.Spec.Method.(method.SVGD); !ok || s.Rate != 0 {
			t.Errorf("%s: %+v", c.file, r.Spec.Method)
		}
	}
}
