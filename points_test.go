package starling

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/eval"
)

// TestPointMethods: method map is the best restart alone, method ensemble all of them, equally weighted. Both are what other
// methods' metrics have beside the posterior, and their metrics have the same.
func TestPointMethods(t *testing.T) {
	sampled := fitted(t, trees(t), Options{})
	d := sampled.Net.Dim()
	for method, c := range map[string]struct {
		theta []float32
		score func(m *eval.Metrics) *eval.Evaluation
		title string
	}{
		"map": {sampled.Restarts.Theta[sampled.Chosen*d:][:d], func(m *eval.Metrics) *eval.Evaluation { return m.MAP }, "the best MAP alone"},
		"ensemble": {sampled.Restarts.Theta, func(m *eval.Metrics) *eval.Evaluation { return m.DeepEnsemble },
			"a deep ensemble of 3 MAP restarts"},
	} {
		spec := trees(t, "prior.anchor=null", "method="+method)
		r, dir := kept(t, spec)
		if !slices.Equal(r.Posterior.Theta, c.theta) || len(r.Trace) > 0 || r.Metrics.LogEvidence != nil || r.Metrics.Combined != nil {
			t.Errorf("%s: %d particles, %d iterations, evidence %v", method, r.Posterior.Size(), len(r.Trace), r.Metrics.LogEvidence)
		}
		if diff := cmp.Diff(*c.score(r.Metrics), r.Metrics.Evaluation); diff != "" {
			t.Errorf("%s: the posterior's scores are not those of the point estimates:\n%s", method, diff)
		}
		for _, score := range []func(m *eval.Metrics) *eval.Evaluation{func(m *eval.Metrics) *eval.Evaluation { return m.MAP },
			func(m *eval.Metrics) *eval.Evaluation { return m.DeepEnsemble }} {
			if diff := cmp.Diff(score(sampled.Metrics), score(r.Metrics)); diff != "" {
				t.Errorf("%s: the same restarts score differently beside another method:\n%s", method, diff)
			}
		}
		if title := r.Spec.Way().Title(); title != c.title {
			t.Errorf("%s is called %q", method, title)
		}
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		if run.Chosen != r.Chosen || !slices.Equal(run.Posterior.Theta, r.Posterior.Theta) || !slices.Equal(run.Restarts.Theta, r.Restarts.Theta) {
			t.Errorf("%s: the run reads back differently", method)
		}
	}
	if a, b := fitted(t, trees(t, "prior.anchor=null", "method=map"), Options{}), fitted(t, trees(t, "prior.anchor.s=0"), Options{}); !slices.Equal(a.Posterior.Theta, b.Posterior.Theta) {
		t.Error("a posterior that has shrunk to the MAP is not the MAP")
	}
}

// TestPointMethodsSearch: both search restarts where the config has no map, and one restart is not an ensemble.
func TestPointMethodsSearch(t *testing.T) {
	for _, method := range []string{"map", "ensemble"} {
		if spec := trees(t, "prior.anchor=null", "map=null", "method="+method); spec.MAP == nil || spec.MAP.Restarts != 8 {
			t.Errorf("%s searches %+v", method, spec.MAP)
		}
	}
	_, err := ParseSpec("one.yaml", trees(t, "prior.anchor=null").YAML(), "method=ensemble", "map.restarts=1")
	if err == nil || !strings.Contains(err.Error(), "one restart is not an ensemble") {
		t.Errorf("an ensemble of one restart: %v", err)
	}
	if _, err := ParseSpec("one.yaml", trees(t, "prior.anchor=null").YAML(), "method=map", "map.restarts=1"); err != nil {
		t.Error(err)
	}
}
