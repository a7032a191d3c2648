package starling

import (
	"math"
	"strings"
	"testing"
)

// TestLearnedWidths: where the prior learns its widths, the metrics say what was learned of each random tensor, by the name that it has
// in the file of the posterior; ensembles that are no draws of a posterior have none. The short form means the same, and stays in the
// run's config.
func TestLearnedWidths(t *testing.T) {
	const chains = "method={mcmc: {chains: 2, epochs: 60, keep: 4, move: {hmc: {steps: 3}}}}"
	of := func(sets ...string) *Result {
		return fitted(t, trees(t, append(sets, "prior.anchor=null", "map.epochs=2")...), Options{})
	}
	long, short := of("prior={learned: {}}", chains), of("prior={normal: {variance: learned}}", chains)
	var names []string
	for i, w := range long.Metrics.Widths {
		names = append(names, w.Tensor)
		if w != short.Metrics.Widths[i] {
			t.Errorf("%+v, in short %+v", w, short.Metrics.Widths[i])
		}
		if want := 1 / math.Sqrt(math.Ln2); !(math.Abs(float64(w.Prior.At50)-want) < 1e-5) {
			t.Errorf("%s: the prior's median is %v, want %v", w.Tensor, w.Prior.At50, want)
		}
		if p := w.Posterior; !(p.At5 < p.At50 && p.At50 < p.At95) {
			t.Errorf("%s: quantiles %+v", w.Tensor, p)
		}
	}
	if got, want := strings.Join(names, " "), "0.weight 0.bias 2.weight 2.bias"; got != want {
		t.Errorf("widths of %q, want %q", got, want)
	}
	for r, want := range map[*Result]string{long: "prior: {learned: {shape: 1, rate: 1}}\n", short: "prior: {normal: {variance: learned}}\n"} {
		if text := string(r.Spec.YAML()); !strings.Contains(text, want) {
			t.Errorf("the config does not have %q:\n%s", want, text)
		}
	}
	for _, sets := range [][]string{{"prior={learned: {}}", "method=ensemble"}, {"prior={normal: {variance: 1}}", chains}} {
		if r := of(sets...); r.Metrics.Widths != nil {
			t.Errorf("%v: widths %+v", sets, r.Metrics.Widths)
		}
	}
}
