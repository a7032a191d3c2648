package starling

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
)

// partlyRandom are small runs of networks of which a part is random and the rest is learned once for all particles, and of SVGD.
func partlyRandom(t *testing.T) map[string]Spec {
	t.Helper()
	wave := func(random, method string, sets ...string) Spec {
		return regression(t, "both", append(sets, "model.random="+random, "method="+method)...)
	}
	const sets = "data.split={train: 0.5, validate: 0.3, test: 0.2}"
	trained := goingOutFrom(t, "testdata/pytorch", `
prior: {normal: {fan_in: 1}}
method: {smc: {particles: 5, islands: 2, combine: evidence, move: {pcn: {mutations: 3}}}}
`, "model.random=last")
	return map[string]Spec{
		"partly-smc": wave("first", "{smc: {particles: 6, islands: 2, path: {constant: {epochs: 5, batch: 11}}, move: {leapfrog: {steps: 1, step: 0.1}}, learn: {adam: {rate: 0.05}}, keep: best, trace: {every: 2}}}",
			sets, "model.layers.2.dense=2", "model.likelihood={gaussian: {sd: predicted}}"),
		"partly-walk":       wave("first", "{smc: {particles: 6, weight: bootstrap, path: {constant: {epochs: 3, batch: 20}}, move: {walk: {sd: 0.1}}, learn: {sgd: {rate: 0.02, momentum: 0.5}}}}"),
		"partly-full":       wave("first", "{smc: {particles: 5, islands: 2, path: {full: {iterations: 4}}, move: {leapfrog: {steps: 2, step: 0.02}}, keep: {after: {iterations: 1}}}}"),
		"partly-metropolis": wave("last", "{smc: {particles: 6, path: {constant: {epochs: 3, batch: 20}}, move: {metropolis: {sd: 0.2}}, learn: adamw, keep: {after: {iterations: 4}}}}"),
		"partly-sghmc":      wave("first", "{mcmc: {chains: 2, start: prior, epochs: 8, keep: 8, move: {sghmc: {batch: 9, step: 1.0e-4}}}}"),
		"partly-hmc":        wave("[\"2\"]", "{mcmc: {chains: 2, start: prior, epochs: 40, keep: 4, move: {hmc: {steps: 2, step: 0.02}}}}"),
		"partly-learned":    wave("first", "{mcmc: {chains: 2, start: prior, epochs: 40, keep: 4, move: {hmc: {steps: 2}}}}", "prior={learned: {}}"),
		"partly-tempering":  trained,
		"partly-vi":         wave("first", "{vi: {epochs: 4, batch: 20, draws: 5}}"),
		"partly-swag":       wave("last", "{swag: {members: 2, warmup: 1, snapshots: 3, rank: 2, draws: 3}}", "map={restarts: 2, epochs: 3}"),
		"partly-svgd":       wave("last", "{svgd: {particles: 5, epochs: 4, batch: 20, keep: {spread: {states: 10}}, trace: {every: 3}}}"),
		"svgd":              trees(t, "map=null", "prior.anchor=null", "method={svgd: {particles: 5, epochs: 3, batch: 20, keep: last}}"),
	}
}

// goingOutFrom is a Spec that goes out from the network in a folder that PyTorch has trained as gelu.
func goingOutFrom(t *testing.T, dir, rest string, sets ...string) Spec {
	t.Helper()
	file := func(name string) string { return filepath.Join(dir, name) }
	spec, err := ParseSpec("gelu.yaml", fmt.Appendf(nil, `
name: gelu
data: {train: {inputs: %s, targets: %s}}
model:
  init: %s
  layers: [{dense: 32, name: fc1}, gelu, {dense: 32, name: fc2}, gelu, {dense: 3, name: fc3}]
  likelihood: categorical
%s`, file("gelu-inputs.npy"), file("gelu-targets.npy"), file("gelu.safetensors"), rest), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// learning returns how a method moves what its particles share, and which states it keeps; nil: by its default or not at all.
func learning(m method.Method) (smc.Learner, smc.Keeper) {
	switch m := m.(type) {
	case method.SMC:
		return m.Learn, m.Keep
	case method.SVGD:
		return m.Learn, m.Keep
	case method.MCMC:
		return m.Learn, nil
	}
	return nil, nil
}
