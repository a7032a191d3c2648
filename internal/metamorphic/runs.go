//go:build unix

package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/starling-smc/starling/spec"
)

// Run is a small run that cases work on.
type Run struct {
	Name   string
	text   string   // the config, without its name
	longer []string // settings with which the run takes long enough to be killed
}

const kinds = `data: {csv: {file: kinds.csv, target: kind}}
prior: {normal: {variance: 1}}
`

// Runs are runs of every kind.
var Runs = []Run{
	{"shards", kinds + `model: {layers: [{dense: 700}, tanh, {dense: 3}], likelihood: categorical}
method: {smc: {islands: 1, particles: 8, path: {full: {iterations: 16}}, move: {epoch: {step: 0.001, batch: 20}}, weight: {bootstrap: {temperature: examples}},
  keep: {after: 1}}}
`, []string{"method.smc.islands=2", "method.smc.path.full.iterations=50", "method.smc.keep.after=5", "method.smc.stop.patience=45"}},
	{"chains", `data: {csv: {file: kinds.csv, target: kind, calibrate: fresh.csv}, groups: {far: far.csv}, calibrate_groups: {away: away.csv}}
model: {layers: [{dense: 6}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 3, epochs: 20, patience: 20}
method: {mcmc: {chains: 2, epochs: 200, keep: 10, move: {hmc: {steps: 4}}}}
decide: {temperature: true, sets: {score: aps, rate: 0.8}, abstain: {by: classifier, at: f1}}
`, []string{"map.epochs=60", "map.patience=60", "method.mcmc.chains=3", "method.mcmc.epochs=1200", "method.mcmc.keep=30"}},
	{"islands", `data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 6}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {fan_in: 2}, anchor: {s: 0.3}}
map: {restarts: 4, epochs: 20, patience: 20}
method: {smc: {islands: 2, particles: 10, combine: evidence, path: {tempering: {ess: 0.7}}, move: {hmc: {steps: 3, mutations: 2}}}}
`, []string{"map.epochs=60", "map.patience=60", "method.smc.islands=4", "method.smc.particles=20", "method.smc.path.tempering.ess=0.97", "method.smc.move.hmc.mutations=4"}},
	{"adaptive", kinds + `model: {layers: [{dense: 5}, tanh, {dense: 3}], likelihood: categorical}
method: {smc: {islands: 2, particles: 20, path: {tempering: {ess: 0.7}}, move: {pcn: {mutations: {eta: 0.02, max: 5}}},
  resample: {scheme: systematic, when: {ess: 0.6}}}}
`, []string{"method.smc.islands=3", "method.smc.particles=40", "method.smc.path.tempering.ess=0.95", "method.smc.move.pcn.mutations.max=30"}},
	{"regression", `data: {csv: {file: wave.csv, target: y}}
model: {layers: [{dense: 6}, swish, {dense: 1}], likelihood: {gaussian: {sd: learned}}}
prior: {normal: {variance: 1}}
map: {restarts: 2, epochs: 10, patience: 10}
method: {smc: {islands: 2, particles: 10, path: {tempering: {ess: 0.7}}, move: {hmc: {steps: 3, mutations: 2}}}}
`, []string{"map.epochs=40", "map.patience=40", "method.smc.particles=25", "method.smc.path.tempering.ess=0.9", "method.smc.move.hmc.mutations=4"}},
	{"point", `data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 16}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}, anchor: {s: 0}}
map: {restarts: 3, batch: 8, epochs: 30, patience: 30}
method: {smc: {}}
`, []string{"map.restarts=6", "map.epochs=150", "map.patience=150"}},
	{"annealing", kinds + `model: {layers: [{dense: 8}, relu, {dense: 3}], likelihood: categorical}
method: {smc: {islands: 2, particles: 6, path: {constant: {iterations: 12, batch: 20}}, move: {leapfrog: {steps: 3, step: 0.02}}}}
`, []string{"method.smc.particles=8", "method.smc.path.constant.iterations=150", "method.smc.move.leapfrog.steps=10"}},
	{"map", kinds + `model: {layers: [{dense: 16}, relu, {dense: 3}], likelihood: categorical}
map: {restarts: 3, batch: 8, epochs: 30, patience: 30}
method: map
`, []string{"map.restarts=6", "map.epochs=150", "map.patience=150"}},
	{"ensemble", kinds + `model: {layers: [{dense: 16}, tanh, {dense: 3}], likelihood: categorical}
map: {restarts: 3, batch: 8, epochs: 30, patience: 30}
method: ensemble
`, []string{"map.restarts=5", "map.epochs=120", "map.patience=120"}},
	{"tracks", `model: {clutter: {acceleration: 0.5, returns: {rate: 20, sd: 1}, clutter: {rate: 40, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 10}
method: {smcmc: {particles: 30, index: uniform}}
keep: samples
`, []string{"scans.simulate=60", "method.smcmc.particles=300"}},
	{"line", `model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 10}}
scans: {simulate: 20, hold: 0.2}
method: {bootstrap: {particles: 40}}
against: kalman
`, []string{"scans.simulate=400", "method.bootstrap.particles=500"}},
	{"radar", `model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}
scans: {file: radar.csv, bad: skip, hold: 0.2}
method: {smcmc: {particles: 30}}
against: kalman
`, []string{"method.smcmc.particles=500"}},
}

// Longer is a run of that name with other settings than those with which it takes long enough to be killed.
func Longer(name string, settings ...string) Run {
	r, err := named(name)
	if err != nil {
		panic(err) // a name in the code
	}
	r.longer = settings
	return r
}

// named returns the run of a name.
func named(name string) (Run, error) {
	i := slices.IndexFunc(Runs, func(r Run) bool { return r.Name == name })
	if i < 0 {
		return Run{}, fmt.Errorf("no run %q", name)
	}
	return Runs[i], nil
}

// config is the text of the run's config.
func (r Run) config() []byte { return []byte("name: " + r.Name + "\n" + r.text) }

func (r Run) filters() bool { return spec.IsFiltering(r.config()) }

// decides reports whether the run learns from calibration examples, as the verb calibrate does.
func (r Run) decides() bool { return strings.Contains(r.text, "\ndecide:") }

// WriteTables writes the configs of all runs and the tables that they read: three classes that overlap, more of them to calibrate with, inputs
// far away from them, a curve with noise, and scans, some of which cannot be used.
func WriteTables() error {
	random := rand.New(rand.NewPCG(1, 2))
	trees, far, wave := "a,b,c,kind\n", "a,b,c\n", "x,z,y\n"
	tree := func(random *rand.Rand, k int) string {
		return fmt.Sprintf("%.3f,%.3f,%.3f,%s\n", float64(k)+random.NormFloat64(), random.NormFloat64()-float64(k*k), random.NormFloat64(), []string{"ash", "birch", "oak"}[k])
	}
	for i := range 120 {
		trees += tree(random, i%3)
		far += fmt.Sprintf("%.3f,%.3f,%.3f\n", 9+random.NormFloat64(), random.NormFloat64(), random.NormFloat64())
		x := random.NormFloat64()
		wave += fmt.Sprintf("%.3f,%.3f,%.3f\n", x, random.NormFloat64(), float64(x*x)-x+float64(0.3*random.NormFloat64()))
	}
	fresh, away := "a,b,c,kind\n", "a,b,c\n"
	for i, others := 0, rand.New(rand.NewPCG(1, 3)); i < 60; i++ {
		fresh += tree(others, i%3)
		away += fmt.Sprintf("%.3f,%.3f,%.3f\n", others.NormFloat64()-9, others.NormFloat64(), 9+others.NormFloat64())
	}
	radar, state := "time,z\n", 0.0
	for k := range 300 {
		state = float64(0.9*state) + random.NormFloat64()
		for range random.IntN(5) {
			radar += fmt.Sprintf("%d,%.3f\n", k+1, state+float64(2*random.NormFloat64()))
		}
		if k%20 == 7 {
			radar += fmt.Sprintf("%d,none\n", k+1)
		}
	}
	files := map[string]string{"kinds.csv": trees, "far.csv": far, "fresh.csv": fresh, "away.csv": away, "wave.csv": wave, "radar.csv": radar}
	for _, r := range Runs {
		files[r.Name+".yaml"] = string(r.config())
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
