package starling

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/spec"
)

// small are runs of every kind below 2e5 image-particle gradients and 1,000 parameters, by name.
func small(t *testing.T) map[string]Spec {
	t.Helper()
	const conv, changed = "model.layers.0={conv: {filters: 1, kernel: 5, stride: 4}}", "data={set: mnist7, standardise: channels, augment: {crop: 2, flip: true}}"
	yes := filepath.Join(t.TempDir(), "yes.csv")
	save(t, yes, []byte(testkit.Table(60, "yes", "no")))
	more := filepath.Join(t.TempDir(), "more.csv")
	save(t, more, bytes.ReplaceAll(read(t, "testdata", "trees.csv"), []byte("."), []byte(".1"))) // other rows than those that train
	specs := map[string]Spec{
		"smc":             trees(t),
		"pcn":             trees(t, "method.smc.move={pcn: {mutations: {eta: 0.2, max: 6}}}", "method.smc.combine=evidence", "method.smc.weight=reversal", "method.smc.resample={scheme: stratified}"),
		"chains":          trees(t, "method={mcmc: {chains: 3, epochs: 90, keep: last, move: {hmc: {steps: 1}}}}", "prior.anchor.s=0.1"),
		"chains-pcn":      trees(t, "map=null", "method={mcmc: {chains: 3, start: prior, epochs: 90, keep: 6, move: {pcn: {}}}}"),
		"chains-together": trees(t, "map=null", "method={mcmc: {chains: 6, together: 3, start: prior, epochs: 60, keep: 12, move: {hmc: {steps: 1}}}}"),
		"cold-islands":    trees(t, "map={restarts: 3, epochs: 3}", "prior.anchor={s: 0.1, per: island}", "method={smc: {islands: 3, particles: 4, temperature: 0.5}}"),
		"cold-added":      trees(t, "prior.anchor=null", "prior.added.s=0.2", "method={mcmc: {chains: 4, together: 2, start: prior, epochs: 40, keep: last, temperature: 0.25, move: {hmc: {steps: 2}}}}"),
		"chains-nuts":     trees(t, "map=null", "method={mcmc: {chains: 2, start: prior, epochs: 120, keep: 4, move: {nuts: {}}}}"),
		"chains-sghmc":    trees(t, "method={mcmc: {chains: 3, epochs: 60, keep: 6, move: {sghmc: {batch: 7, step: 0.002}}}}", "prior.anchor.s=0.1"),
		"chains-sparse":   trees(t, "map=null", "method={mcmc: {chains: 2, start: prior, epochs: 38, keep: 10, move: {hmc: {steps: 1}}, trace: {every: 4}}}"),
		"images": preset(t, "mnist7", conv, "map.epochs=1", "map.restarts=2",
			"method={mcmc: {chains: 2, epochs: 12, keep: 4, move: {hmc: {steps: 3, step: 0.005, scale: diagonal, jitter: 0.1}}}}"),
		"means": preset(t, "mnist7", conv, "model.layers.2={avgpool: 2}", "map.epochs=1", "map.restarts=2",
			"method={smc: {particles: 3, start: map, path: {ctr: {iterations: 5, batch: 100}}, move: {leapfrog: {step: 0.01}}}}"),
		"augmented": preset(t, "mnist7", conv, changed, "map.epochs=2", "map.restarts=2", "method={swag: {members: 2, warmup: 1, snapshots: 2, rank: 2, draws: 2}}", "prior.anchor=null"),
		"augmented-epochs": preset(t, "mnist7", conv, changed, "map.epochs=1", "map.restarts=2", "prior.anchor=null",
			"method={smc: {particles: 3, start: map, weight: bootstrap, path: {full: {iterations: 3}}, move: {epoch: {step: 0.0005, batch: 300}}, keep: {after: {iterations: 2}}}}"),
		"point":           trees(t, "prior.anchor.s=0"),
		"map":             trees(t, "prior.anchor=null", "method=map", "map.start=prior"),
		"ensemble":        trees(t, "prior.anchor=null", "method=ensemble"),
		"optimised":       trees(t, "prior.anchor=null", "method=ensemble", "map.optimiser={adamw: {decay: 0.02}}", "map.schedule=cosine"),
		"descents":        trees(t, "prior.anchor=null", "method=ensemble", "map={restarts: 3, epochs: 5, keep: last, start: he, optimiser: adam, schedule: {cosine: {warmup: 2}}}"),
		"swa":             trees(t, "prior.anchor=null", "method={swa: {warmup: 2, snapshots: 3}}", "map.optimiser={sgd: {momentum: 0.5}}", "map.schedule={step: {every: 2}}"),
		"swag":            trees(t, "prior.anchor=null", "map={optimiser: adam, epochs: 4}", "method={swag: {members: 3, warmup: 1, snapshots: 4, rank: 2, draws: 3}}"),
		"dropout":         trees(t, "prior.anchor=null", "model.layers=[{dense: 4}, relu, {dropout: 0.4}, {dense: 3}]", "method={dropout: {passes: 3}}"),
		"vi":              trees(t, "prior.anchor=null", "map=null", "method={vi: {epochs: 6, batch: 20, draws: 12}}"),
		"vi-at-map":       trees(t, "prior.anchor.s=0.1", "map.epochs=2", "method={vi: {epochs: 3, draws: 3}}"),
		"laplace":         trees(t, "prior.anchor=null", "map.epochs=4", "method={laplace: {structure: full, predict: draws, precision: evidence}}"),
		"laplace-last":    trees(t, "prior.anchor=null", "map.epochs=4", "method={laplace: {of: last, draws: 5, precision: validation}}"),
		"laplace-images":  preset(t, "mnist7", conv, "map.epochs=1", "map.restarts=2", "method={laplace: {draws: 4}}", "prior.anchor=null"),
		"laplace-at-init": ofNorms(t, normal, fromInit, "method={laplace: {structure: diagonal, draws: 3}}"),
		"as-is":           asIs(t),
		"regression":      regression(t, "inputs"),
		"units":           regression(t, "both"),
		"noise": regression(t, "both", "model.layers.2.dense=2", "model.likelihood={gaussian: {sd: predicted}}",
			"data.split={train: 0.5, validate: 0.3, test: 0.2}"),
		"tails": regression(t, "both", "model.likelihood={student: {df: learned, sd: learned}}"),
		"decided": trees(t, "prior.anchor=null", "method=ensemble", "data.split={calibrate: 0.3}",
			"decide={temperature: true, sets: {score: lac, rate: 0.8}, abstain: {by: epistemic, at: {coverage: 0.8}}}"),
		"decided-aps": trees(t, "prior.anchor=null", "method=ensemble", "data.split={calibrate: 0.3}",
			"decide={sets: {score: aps, rate: 0.8}, abstain: {by: confidence, at: 0.5}}"),
		"decided-raps": trees(t, "map=null", "method={mcmc: {chains: 2, start: prior, epochs: 90, keep: 6, move: {pcn: {}}}}", "data={csv: {file: testdata/trees.csv, target: kind, calibrate: "+more+"}, whole: true}",
			"decide={temperature: true, sets: {score: {raps: {after: 1}}, rate: 0.7, by_class: true}, abstain: {by: energy, at: {pass: 0.9}}}"),
		"decided-risk": trees(t, "prior.anchor=null", "method=map", "data.split={calibrate: 0.3}",
			"decide={temperature: true, abstain: {by: entropy, at: {risk: 0.6}}}"),
		"norms": ofNorms(t, normal, fromInit),
		// An embedding, and a low-rank update of a trained layer, where all is random and where the update alone is.
		"updates":      ofPyTorch(t, "tokens", normal, fromInit),
		"begun":        ofNorms(t, normal, epochs),
		"updates-last": ofPyTorch(t, "tokens", normal, fromInit, "model.random=last"),
		"classified": preset(t, "mnist7", conv, "map.epochs=1", "map.restarts=2", "method=ensemble", "prior.anchor=null",
			"decide={temperature: true, sets: {score: lac, rate: 0.9}, abstain: {by: classifier, at: f1}}"),
		"decided-numbers": regression(t, "both", "data.split={calibrate: 0.3}",
			"decide={temperature: true, sets: {rate: 0.8}, abstain: {by: sd, at: {coverage: 0.8}}}"),
		"bernoulli": trees(t, "data.csv={file: "+yes+", target: y}", "model={layers: [{dense: 3}, tanh, {dense: 1}], likelihood: bernoulli}",
			"method.smc.resample={scheme: systematic, when: never}", "map=null"),
		"followed": followed(t),
		"tempered": trees(t, "method.smc={particles: 6, start: tempered, path: {ctr: {iterations: 10, batch: 9}}, move: {leapfrog: {step: 0.05, gradient: {batch: 5}}}}", "map=null"),
		"sgd":      trees(t, "method.smc={particles: 3, start: sgd, path: {sda: {iterations: 8, batch: 9, exact: true}}, move: {leapfrog: {step: 0.05}}}", "map.epochs=2"),
		"jax":      trees(t, "method.smc={particles: 3, islands: 2, start: jax, path: {full: {iterations: 4}}, move: {leapfrog: {step: 0.02}}}", "map=null"),
		"torch":    trees(t, "method.smc={particles: 3, islands: 2, start: {torch: {shared: true}}, path: {full: {iterations: 4}}, move: {leapfrog: {step: 0.02}}}", "map=null"),
		"placed":   trees(t, "model.random=last", "method.smc={particles: 3, start: he, path: {constant: {epochs: 2, batch: 20}}, move: {leapfrog: {step: 0.02}}}", "map=null"),
		"maps":     trees(t, "method.smc={particles: 3, start: map, path: {full: {iterations: 3}}, move: {leapfrog: {step: 0.02}}}", "map={epochs: 2, start: jax}"),
		"drawn":    trees(t, "method={ensemble: {members: 2}}", "prior.anchor=null", "map={epochs: 2, restarts: 2, start: torch}"),
		"epoch":    trees(t, "method.smc={particles: 6, weight: momentum, path: {full: {iterations: 5}}, move: {epoch: {step: 0.002, batch: 30}}, keep: {after: 2}}", "map=null"),
		"walk":     trees(t, "method.smc={particles: 6, weight: bootstrap, path: {constant: {epochs: 3, batch: 20}}, move: {walk: {sd: 0.1}}}", "map=null"),
		"tempered-weights": trees(t, "method.smc={particles: 6, weight: {bootstrap: {temperature: {warmup: 3, sampling: examples}}}, path: {full: {iterations: 5}}, "+
			"move: {leapfrog: {step: 0.02}}, keep: {after: {iterations: 3}}}", "map=null"),
		"equal": trees(t, "method.smc={particles: 6, weight: equal, path: {full: {iterations: 5}}, move: {leapfrog: {step: 0.02}}}", "map=null"),
		"stopped": trees(t, "method.smc={particles: 4, islands: 2, start: prior, path: {full: {iterations: 60}}, move: {leapfrog: {step: 0.005}}, "+
			"keep: {after: {iterations: 3}}, stop: {patience: 2}}", "map=null"),
		"unstopped": trees(t, "method.smc={particles: 4, move: {metropolis: {sd: 0.2}}, stop: none}", "map=null"),
		"learned": trees(t, "prior={learned: {shape: 2, rate: 0.5}}", "map.epochs=3",
			"method={mcmc: {chains: 3, epochs: 90, keep: 6, move: {hmc: {steps: 3}}}}"),
		"learned-tempering": trees(t, "prior={normal: {variance: learned}}", "map=null"),
		"ladder":            trees(t, "method.smc={particles: 6, islands: 2, path: {ladder: [0.02, 0.1, 0.4, 1]}}", "map=null"),
		"pilot":             trees(t, "method.smc={particles: 6, islands: 2, pilot: true}", "map=null"),
		"metropolis":        trees(t, "method.smc={particles: 6, move: {metropolis: {sd: 0.2}}}", "map=null"),
		"literal":           trees(t, "method.smc={particles: 4, weight: literal, path: {linear: {iterations: 6, batch: 9}}, move: {leapfrog: {step: 0.05}}}", "map=null"),
	}
	specs["chains-lost"], specs["islands-lost"] = lostOf(t, "40", "0.0045"), trees(t, "prior.anchor=null", "map=null", unbounded,
		"method={smc: {particles: 2, islands: 4, path: {full: {iterations: 10}}, move: {leapfrog: {steps: 10, step: 0.14}}, keep: {after: {iterations: 1}}, stop: {patience: 50}}}")
	maps.Copy(specs, partlyRandom(t))
	for _, scheme := range []string{"constant", "full", "ctr", "linear", "automated", "sda"} {
		batch, trace := ", batch: 9", ""
		if scheme == "full" {
			batch, trace = "", ", trace: {unlearning: true}"
		}
		specs[scheme] = trees(t, "method.smc={particles: 6, islands: 2, path: {"+scheme+": {iterations: 10"+batch+"}}, move: {leapfrog: {steps: 2, step: 0.05}}"+trace+"}", "map=null")
	}
	return specs
}

// unbounded is a network whose gradients grow with its weights: steps that are too long lead out of the numbers.
const unbounded = "model.layers=[{dense: 6}, relu, {dense: 6}, relu, {dense: 3}]"

// lostOf are four chains of a step that is too long. In 40 epochs of 0.0045 chain 1 is lost, in 24 of 0.0053 three are.
func lostOf(t *testing.T, epochs, step string) Spec {
	t.Helper()
	return trees(t, "prior.anchor=null", "map=null", unbounded,
		"method={mcmc: {chains: 4, start: prior, epochs: "+epochs+", keep: 8, move: {sghmc: {batch: 7, step: "+step+"}}}}")
}

// asIs takes a network that PyTorch trained as it is.
func asIs(t *testing.T) Spec {
	t.Helper()
	spec := parsed(t, "testdata/pytorch/gelu.yaml")
	for _, file := range []*string{&spec.Model.Init, &spec.Data.Train.Inputs, &spec.Data.Train.Targets} {
		*file = filepath.Join("testdata", "pytorch", *file)
	}
	return spec
}

// followed is a run on 40 examples that are all kept, with 15 to test.
func followed(t *testing.T, sets ...string) Spec {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for part, n := range map[string]int{"train": 40, "test": 15} {
		var x []float64
		labels := []byte{0, 0, 8, 1, 0, 0, 0, byte(n)} // IDX: bytes of one dimension
		for i := range n {
			a, b := math.Sin(float64(3*i+n)), math.Cos(float64(i*i))
			x, labels = append(x, a, b), append(labels, byte(a+b+2))
		}
		save(t, file(part+".npy"), npy(t, []int{n, 2}, x...))
		save(t, file(part+".idx"), labels)
	}
	spec, err := ParseSpec("followed.yaml", fmt.Appendf(nil, `
name: followed
data: {train: {inputs: %[1]strain.npy, targets: %[1]strain.idx}, test: {inputs: %[1]stest.npy, targets: %[1]stest.idx}, whole: true}
model: {layers: [{dense: 4}, tanh, {dense: 4}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {particles: 5, islands: 2, path: {linear: {iterations: 22, batch: 8, grow: 5}}, move: {leapfrog: {steps: 2, step: 0.05}}}}
`, dir+string(filepath.Separator)), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// rows lists the rows of all tables whose parts a Spec has, as "move hmc".
func rows(spec Spec) (used []string) {
	add := func(family, row string) { used = append(used, family+" "+row) }
	add("method", method.Methods.Name(spec.Method))
	add("likelihood", nn.Likelihoods.Name(spec.Model.Likelihood))
	var chain func(layers []nn.Layer)
	chain = func(layers []nn.Layer) {
		for _, l := range layers {
			add("layer", nn.Layers.Name(l))
			if r, ok := l.(nn.Residual); ok {
				chain(r.Body)
				chain(r.Shortcut)
			}
		}
	}
	chain(spec.Model.Layers)
	if spec.MAP != nil {
		add("optimiser", nn.Optimisers.Name(spec.MAP.Optimiser))
		add("schedule", nn.Schedules.Name(spec.MAP.Schedule))
		if spec.MAP.Start != nil {
			add("start", bnn.Starts.Name(spec.MAP.Start))
		}
	}
	if spec.Prior.Family != nil {
		add("prior", bnn.Priors.Name(spec.Prior.Family))
	}
	if m, ok := spec.Method.(method.SMC); ok && m.Weight != nil {
		add("weighting", smc.Weightings.Name(m.Weight))
	}
	if m, ok := spec.Method.(method.SMC); ok && m.Start != nil {
		add("place", method.Places.Name(m.Start))
	}
	if m, ok := spec.Method.(method.SMC); ok && m.Stop != nil {
		add("stop", method.Stops.Name(m.Stop))
	}
	learn, keep := learning(spec.Method)
	if learn != nil {
		add("learner", smc.Learners.Name(learn))
	}
	if keep != nil {
		add("keeper", smc.Keepers.Name(keep))
	}
	if d := spec.Decide; d != nil && d.Sets != nil {
		add("score", decide.Scores.Name(d.Sets.Score))
	}
	if d := spec.Decide; d != nil && d.Abstain != nil {
		add("signal", decide.Signals.Name(d.Abstain.By))
		add("cutoff", decide.Cutoffs.Name(d.Abstain.At))
	}
	if s := spec.Method.Sampling(); s != nil {
		add("move", mcmc.Moves.Name(s.Move))
		add("path", smc.Paths.Name(s.Path))
		add("scheme", smc.Schemes.Name(s.Resample.Scheme))
		add("occasion", smc.Occasions.Name(s.Resample.When))
		add("combination", bnn.Combinations.Name(s.Combine))
	}
	return used
}

// tables are all of spec.Families.
var tables = map[string]config.Family{
	"method": method.Methods, "likelihood": nn.Likelihoods, "layer": nn.Layers, "prior": bnn.Priors,
	"optimiser": nn.Optimisers, "schedule": nn.Schedules, "start": bnn.Starts, "weighting": smc.Weightings, "move": mcmc.Moves, "path": smc.Paths, "scheme": smc.Schemes,
	"occasion": smc.Occasions, "combination": bnn.Combinations, "learner": smc.Learners, "keeper": smc.Keepers, "place": method.Places, "stop": method.Stops,
	"score": decide.Scores, "signal": decide.Signals, "cutoff": decide.Cutoffs,
}

// TestEveryRowRuns: each row of each table is part of a small run, whose bits TestSameBytes compares, which TestStopAndGoOn stops
// and which TestRunFolder reads back. Layers are left to package nn.
func TestEveryRowRuns(t *testing.T) {
	if len(tables) != len(spec.Families) {
		t.Errorf("%d tables, configs have %d", len(tables), len(spec.Families))
	}
	var used []string
	for _, spec := range small(t) {
		used = append(used, rows(spec)...)
	}
	for family, table := range tables {
		for _, name := range table.Names() {
			row := family + " " + name
			if family != "layer" && !slices.Contains(used, row) {
				t.Errorf("no small run has the %s: add one to small", row)
			}
		}
	}
}

// settings are what a config may say of each row, every key of it, a line for each --set. A row without settings has none here.
var settings = map[string]string{
	"method smc":             "method={smc: {particles: 7, islands: 3, combine: evidence, pilot: true, path: {tempering: {ess: 0.4}}, move: {pcn: {}}, resample: {scheme: residual, when: never}}}",
	"method mcmc":            "method={mcmc: {chains: 3, start: prior, epochs: 90, keep: 6, move: {hmc: {steps: 3}}}}",
	"likelihood gaussian":    "model.likelihood={gaussian: {sd: predicted, floor: 0.25}}",
	"likelihood student":     "model.likelihood={student: {df: learned, sd: predicted, floor: 0.1}}",
	"layer dense":            "model.layers.0={dense: {units: 7, bias: false}, name: a}",
	"layer lora":             "model={layers: [{lora: {units: 8, rank: 12, alpha: 4, full: true, bias: false}, name: head}], init: weights.safetensors, likelihood: categorical}",
	"layer embed":            "model.layers=[{embed: {tokens: 256, width: 2}, name: e}, {dense: 8}]",
	"layer conv":             "model.layers.0={conv: {filters: 2, kernel: [3, 2], stride: [1, 2], pad: [0, 1], bias: false}, name: b}",
	"layer norm":             "model={layers: [{norm: {batch: frozen, eps: 0.01}, name: c}, {dense: 8}], init: weights.safetensors, likelihood: categorical}",
	"layer maxpool":          "model.layers.0={maxpool: {size: [2, 3], stride: 1, pad: [1, 0]}}",
	"layer avgpool":          "model.layers.0={avgpool: {size: 3, stride: [2, 1], pad: 1}}",
	"prior normal":           "prior={normal: {variance: 0.3}, anchor: {s: 0.2}}",
	"prior learned":          "prior={learned: {shape: 2.5, rate: 0.4}}",
	"weighting momentum":     "method.smc={weight: momentum, path: {full: {}}, move: {leapfrog: {step: 0.1}}}",
	"weighting literal":      "method.smc={weight: literal, path: {full: {}}, move: {leapfrog: {step: 0.1}}}",
	"move hmc":               "method.smc.move={hmc: {steps: 4, step: 0.3, jitter: 0.1, mutations: {eta: 0.1, max: 9}}}",
	"move pcn":               "method.smc.move={pcn: {step: 0.3, mutations: 4}}",
	"move nuts":              "method={mcmc: {chains: 3, start: prior, epochs: 90, keep: 6, move: {nuts: {step: 0.1, accept: 0.7}}}}",
	"move sghmc":             "method={mcmc: {chains: 3, start: prior, epochs: 90, keep: 6, move: {sghmc: {batch: 9, step: 0.01, friction: 0.3}}}}",
	"move leapfrog":          "method.smc={path: {full: {}}, move: {leapfrog: {steps: 2, step: 0.1, gradient: {batch: 50}}}}",
	"move epoch":             "method.smc={path: {full: {iterations: 4}}, move: {epoch: {step: 0.001, batch: 50, order: own}}}",
	"move walk":              "method.smc={path: {constant: {epochs: 2, batch: 30}}, move: {walk: {sd: 0.1}}}",
	"move metropolis":        "method.smc={move: {metropolis: {sd: 0.1}}}",
	"weighting bootstrap":    "method.smc={weight: {bootstrap: {temperature: {warmup: 2.5, sampling: 3}}}, path: {full: {iterations: 4}}, move: {walk: {sd: 0.1}}, keep: {after: 2}}",
	"weighting equal":        "method.smc={weight: equal, path: {full: {epochs: 2}}, move: {walk: {sd: 0.1}}}",
	"path tempering":         "method.smc.path={tempering: {ess: 0.7}}",
	"path ladder":            "method.smc.path={ladder: [0.02, 0.4, 1]}",
	"path constant":          "method.smc={path: {constant: {iterations: 7, batch: 30}}, move: {leapfrog: {step: 0.1}}}",
	"path full":              "method.smc={path: {full: {iterations: 7}}, move: {leapfrog: {step: 0.1}}}",
	"path ctr":               "method.smc={path: {ctr: {iterations: 7, batch: 30}}, move: {leapfrog: {step: 0.1}}}",
	"path linear":            "method.smc={path: {linear: {iterations: 7, batch: 30, grow: 20}}, move: {leapfrog: {step: 0.1}}}",
	"path automated":         "method.smc={path: {automated: {iterations: 7, batch: 30, grow: 20}}, move: {leapfrog: {step: 0.1}}}",
	"path sda":               "method.smc={path: {sda: {iterations: 7, batch: 30, grow: 20, first: 0.3, entropy: 2, exact: true, scale: true}}, move: {leapfrog: {step: 0.1}}}",
	"occasion ess":           "method.smc.resample={when: {ess: 0.25}}",
	"likelihood bernoulli":   "model.likelihood=bernoulli",
	"weighting reversal":     "method.smc={weight: reversal, move: {pcn: {}}}",
	"layer global_avgpool":   "model.layers.0=global_avgpool",
	"combination evidence":   "method.smc.combine=evidence",
	"occasion always":        "method.smc.resample={when: always}",
	"occasion never":         "method.smc.resample={when: never}",
	"method as-is":           "", // TestConfigs has it: prior and map do not go with it
	"method map":             "method=map",
	"method swa":             "method={swa: {members: 2, rate: 0.001, momentum: 0, warmup: 0, snapshots: 9}}",
	"method swag":            "method={swag: {rate: 0.001, momentum: 0.5, warmup: 3, snapshots: 9, rank: 4, scale: 0.7, draws: 5}}",
	"method dropout":         "model.layers=[{dropout: 0.1}, {dense: 8}]\nmethod={dropout: {passes: 4}}",
	"method laplace":         "method={laplace: {of: last, structure: full, draws: 5, predict: draws, precision: evidence}}",
	"method vi":              "method={vi: {rate: 0.002, epochs: 70, batch: 20, draws: 5}}",
	"method svgd":            "method={svgd: {particles: 7, epochs: 60, batch: 30, rate: 0.01, keep: {after: 5}, trace: {every: 4}}}",
	"layer dropout":          "model.layers=[{dropout: 0.25}, {dense: 8}]\nmethod=map",
	"optimiser sgd":          "map={optimiser: {sgd: {momentum: 0.9}}}",
	"optimiser adam":         "map={optimiser: {adam: {beta1: 0.8, beta2: 0.99, epsilon: 1.0e-6}}}",
	"optimiser adamw":        "map={optimiser: {adamw: {decay: 0.1}}}",
	"schedule constant":      "map={schedule: constant}",
	"schedule step":          "map={schedule: {step: {every: 7, factor: 0.5}}}",
	"schedule cosine":        "map={schedule: cosine}",
	"method ensemble":        "method=ensemble",
	"learner adam":           "model.random=first\nmethod.smc={path: {full: {epochs: 7}}, move: {leapfrog: {step: 0.1}}, learn: {adam: {rate: 0.02, beta1: 0.8, beta2: 0.99, epsilon: 1.0e-6}}}",
	"learner adamw":          "model.random=[\"0\"]\nmethod={mcmc: {start: prior, learn: {adamw: {rate: 0.02, decay: 0.1}}}}",
	"learner sgd":            "model.random=last\nmethod={svgd: {learn: {sgd: {rate: 0.02, momentum: 0.9}}}}",
	"keeper last":            "method.smc.keep=last",
	"keeper spread":          "method={svgd: {keep: {spread: {states: 40}}}}",
	"keeper after":           "method.smc={path: {full: {iterations: 9}}, move: {leapfrog: {step: 0.1}}, keep: {after: 5}, trace: {unlearning: true}}",
	"keeper best":            "method.smc.keep=best",
	"stop none":              "method.smc.stop=none",
	"stop patience":          "data={csv: {file: rows.csv, target: y}}\nmethod.smc={path: {full: {iterations: 9}}, move: {leapfrog: {step: 0.1}}, keep: {after: {iterations: 5}}, stop: {patience: 3}}",
	"likelihood categorical": "model.likelihood=categorical",
	"combination equal":      "method.smc.combine=equal",
	"scheme multinomial":     "method.smc.resample={scheme: multinomial}",
	"scheme systematic":      "method.smc.resample={scheme: systematic}",
	"scheme stratified":      "method.smc.resample={scheme: stratified}",
	"scheme residual":        "method.smc.resample={scheme: residual}",
	"score lac":              "decide={sets: {score: lac, rate: 0.9, by_class: true, empty: true}}",
	"score aps":              "decide={sets: {score: aps}}",
	"score raps":             "decide={sets: {score: {raps: {penalty: 0.2, after: 3}}}}",
	"signal entropy":         "decide={abstain: {by: entropy, at: f1}}",
	"signal epistemic":       "decide={abstain: {by: epistemic, at: f1}}",
	"signal confidence":      "decide={temperature: true, abstain: {by: confidence, at: f1}}",
	"signal energy":          "decide={abstain: {by: energy, at: f1}}",
	"signal classifier":      "decide={abstain: {by: {classifier: {literal: true}}, at: f1}}",
	"signal sd":              "model.likelihood={gaussian: {sd: 1}}\ndecide={abstain: {by: sd, at: f1, tolerance: 2}}",
	"cutoff threshold":       "decide={abstain: {by: entropy, at: {threshold: 0.4}}}",
	"cutoff f1":              "decide={abstain: {by: entropy, at: f1}}",
	"cutoff pass":            "decide={abstain: {by: entropy, at: {pass: 0.9}}}",
	"cutoff coverage":        "decide={abstain: {by: entropy, at: {coverage: 0.8}}}",
	"cutoff risk":            "decide={abstain: {by: entropy, at: {risk: 0.05}}}",
	"layer frn":              "model.layers.0={frn: {tlu: true, eps: learned}, name: bn1}",
	"layer residual":         "model.layers.0={residual: {body: [{conv: {filters: 1, kernel: 3, pad: 1}}, tanh], shortcut: [{conv: {filters: 1, kernel: 1}}]}}",
	"layer pad":              "model.layers.0={residual: {body: [{conv: {filters: 4, kernel: 3, stride: 2, pad: 1}}, frn], shortcut: pad}}",
	"start prior":            "map.start=prior",
	"start he":               "map={start: he, keep: last, schedule: {cosine: {warmup: 3}}}",
	"start jax":              "map={start: jax}",
	"start torch":            "map={start: torch}",
	"place prior":            "method.smc={path: full, move: {leapfrog: {step: 0.1}}, start: prior}",
	"place tempered":         "method.smc={path: full, move: {leapfrog: {step: 0.1}}, start: tempered}",
	"place map":              "map={restarts: 3}\nmethod.smc={path: full, move: {leapfrog: {step: 0.1}}, start: map}",
	"place sgd":              "map={restarts: 10}\nmethod.smc={path: full, move: {leapfrog: {step: 0.1}}, start: sgd}",
	"place init":             "model.init=trained.safetensors\nmethod.smc={path: full, move: {leapfrog: {step: 0.1}}, start: init}",
	"place he":               "method.smc={path: full, move: {leapfrog: {step: 0.1}}, start: he}",
	"place jax":              "method.smc={path: full, move: {leapfrog: {step: 0.1}}, start: {jax: {shared: true}}}",
	"place torch":            "method.smc={path: full, move: {leapfrog: {step: 0.1}}, start: torch}",
	"layer flatten":          "model.layers.0=flatten",
	"layer relu":             "model.layers.0=relu",
	"layer tanh":             "model.layers.0=tanh",
	"layer gelu":             "model.layers.0=gelu",
	"layer swish":            "model.layers.0=swish",
}

// TestEveryRowRoundTrips: a config that sets what a row of a table can be set to is read, resolved, and reads back as the same
// Spec, which has the row.
func TestEveryRowRoundTrips(t *testing.T) {
	const base = `
data: {set: mnist7}
model: {layers: [{dense: 6}, tanh, {dense: 8}], likelihood: categorical}
prior: {normal: {fan_in: 2}}
method: {smc: {particles: 8}}
`
	for family, table := range tables {
		for _, name := range table.Names() {
			row := family + " " + name
			set, ok := settings[row]
			if !ok {
				t.Errorf("no config has the %s: add one to settings", row)
			}
			if set == "" {
				continue
			}
			spec, err := ParseSpec("row.yaml", []byte(base), strings.Split(set, "\n")...)
			if err != nil {
				t.Errorf("%s: %v", row, err)
				continue
			}
			if !slices.Contains(rows(spec), row) {
				t.Errorf("%s: the Spec has %q", row, rows(spec))
			}
			roundTrip(t, spec)
			for _, path := range strings.FieldsFunc(set, func(r rune) bool { return strings.ContainsRune("={}[]:, \n", r) }) {
				if text := spec.YAML(); !bytes.Contains(text, []byte(path)) && !strings.Contains(path, ".") && path != "false" {
					t.Errorf("%s: the resolved config lacks %s:\n%s", row, path, text)
				}
			}
		}
	}
}
