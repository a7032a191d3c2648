package starling

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
)

// ofNorms is the network of testdata/pytorch/bottleneck.yaml, with the rest of a config.
func ofNorms(t *testing.T, sets ...string) Spec {
	t.Helper()
	return ofPyTorch(t, "bottleneck", sets...)
}

// ofPyTorch is a network of testdata/pytorch, with the rest of a config.
func ofPyTorch(t *testing.T, name string, sets ...string) Spec {
	t.Helper()
	spec := parsed(t, "testdata/pytorch/"+name+".yaml", sets...)
	for _, file := range []*string{&spec.Model.Init, &spec.Data.Train.Inputs, &spec.Data.Train.Targets} {
		*file = filepath.Join("testdata", "pytorch", *file)
	}
	return spec
}

const (
	fromInit  = "method={mcmc: {chains: 2, epochs: 40, keep: 4, move: {hmc: {steps: 4}}}}"
	epochs    = "method={smc: {particles: 4, weight: momentum, path: {full: {iterations: 4}}, move: {epoch: {step: 0.001, batch: 10}}, keep: {after: 2}}}"
	normal    = "prior={normal: {variance: 1}}"
	swagDraws = "method={swag: {snapshots: 3, draws: 4}}"
)

// TestNormsInRuns: every method keeps the statistics of model.init in all particles, in memory and in the run's files, begins at that network
// where it says so, and counts no statistics as parameters.
func TestNormsInRuns(t *testing.T) {
	file, err := os.ReadFile("testdata/pytorch/bottleneck.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	w, err := bnn.ReadNetwork(file, netOf(t, "bottleneck"))
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]Spec{
		"as-is":   ofNorms(t),
		"mcmc":    ofNorms(t, normal, fromInit),
		"epochs":  ofNorms(t, normal, epochs),
		"map":     ofNorms(t, normal, "method=map", "map={epochs: 2}", "data.whole=true"),
		"swag":    ofNorms(t, normal, swagDraws, "map={epochs: 1}", "data.whole=true"),
		"vi":      ofNorms(t, normal, "method={vi: {epochs: 2, draws: 3}}", "data.whole=true"),
		"partly":  ofNorms(t, normal, "model.random=last", fromInit),
		"learned": ofNorms(t, normal, "model.random=last", "method={smc: {particles: 4, path: {full: {epochs: 20}}, move: {hmc: {steps: 2, mutations: 1}}, learn: {adam: {rate: 0.001}}}}"),
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := kept(t, spec)
			if r.Net.Partly() != (len(spec.Model.Random) > 0) || r.Net.Parameters() != 630 {
				t.Errorf("partly random: %v, %s", r.Net.Partly(), r.Net.Size())
			}
			run, err := OpenRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			all := map[string]*bnn.Ensemble{"posterior": r.Posterior, "posterior of the folder": run.Posterior}
			if r.Restarts != nil {
				all["restarts"], all["restarts of the folder"] = r.Restarts, run.Restarts
			}
			for of, e := range all {
				if !slices.Equal(e.Net.Whole().Held(), w.Net.Held()) {
					t.Errorf("%s: other statistics than those of model.init", of)
				}
			}
			j, err := run.Evaluate(t.Context(), On{}, Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if j.Metrics.NLL != r.Metrics.NLL {
				t.Errorf("evaluated again: NLL %v, was %v", j.Metrics.NLL, r.Metrics.NLL)
			}
			if name == "as-is" && (away(r.Posterior, w.Whole) != 0 || *r.Metrics.Accuracy != 1) {
				t.Errorf("%v from the network, accuracy %v on PyTorch's own answers", away(r.Posterior, w.Whole), *r.Metrics.Accuracy)
			}
			counted := false
			for _, f := range r.Findings {
				counted = counted || f.Kind == "counters-ignored" && strings.Contains(f.Words(), "model.init has 8 counters of batches")
			}
			if !counted {
				t.Errorf("the run says nothing of the counters: %+v", r.Findings)
			}
		})
	}
}

// TestNormsFromDraws: statistics belong to a trained network. What would begin elsewhere is refused, with the way out.
func TestNormsFromDraws(t *testing.T) {
	text, err := os.ReadFile("testdata/pytorch/bottleneck.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for want, sets := range map[string][]string{
		"model.layers.1: a batch norm has the statistics of a trained network, and there is none: name the file of its weights, model.init, or take frn": {normal, "model.init=null", "method={mcmc: {chains: 2, start: prior}}"},
		"the first restart begins at model.init, and the other 3 at draws; want restarts: 1":                                                             {normal, "map={restarts: 4}", "method=map"},
		"the first restart begins at model.init, and the other 4 at draws":                                                                               {normal, "method={ensemble: {members: 5}}"},
		"svgd begins there; want mcmc or smc with start: init, or another method":                                                                        {normal, "method=svgd"},
		"mcmc begins there; want mcmc or smc with start: init":                                                                                           {normal, "map={epochs: 2}", "method={mcmc: {chains: 2, start: prior}}"},
		"prior.anchor.s": {"prior={normal: {variance: 1}, anchor: {s: 0.7}}", "method={vi: {epochs: 2}}"},
	} {
		if _, err := ParseSpec("bottleneck.yaml", text, sets...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", sets, err, want)
		}
	}
	if spec := ofNorms(t, normal, "method=map", "map={epochs: 2}"); spec.MAP.Restarts != 1 {
		t.Errorf("%d restarts by default", spec.MAP.Restarts)
	}
	if _, err := ParseSpec("bottleneck.yaml", text, "prior={normal: {variance: 1}, anchor: {s: 0.1}}", "method={smc: {particles: 4}}"); err != nil {
		t.Errorf("particles around the trained network: %v", err)
	}
}

// TestNormsInside: batch norms deep inside residuals are found.
func TestNormsInside(t *testing.T) {
	for _, layers := range []string{
		"[{residual: {body: [{residual: {body: [{norm: {batch: frozen}}]}}]}}, {dense: 3}]",
		"[{residual: {body: [{conv: {filters: 3, kernel: 1}}], shortcut: [{norm: {batch: frozen}}]}}, {dense: 3}]",
	} {
		text := "data: {set: mnist7}\nmodel: {layers: " + layers + ", likelihood: categorical}\n" + "prior: {normal: {variance: 1}}\nmethod: map\n"
		if _, err := ParseSpec("inside.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "model.layers.0: a batch norm has the statistics of a trained network") {
			t.Errorf("%s: error %v", layers, err)
		}
	}
}
