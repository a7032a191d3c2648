//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling"
)

// configs are small runs of networks of every kind, by the names of their folders, and filters those of filters.
var configs = map[string]string{
	"chains": `data: {csv: {file: kinds.csv, target: kind}, groups: {far: far.csv}}
model: {layers: [{dense: 5}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 2, epochs: 20, patience: 20}
method: {mcmc: {chains: 2, epochs: 200, keep: 10, move: {hmc: {steps: 4}}}}
`,
	"islands": `data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 5}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {fan_in: 2}, anchor: {s: 0.3}}
map: {restarts: 3, epochs: 20, patience: 20}
method: {smc: {islands: 2, particles: 10, combine: evidence, path: {tempering: {ess: 0.7}}, move: {hmc: {steps: 3, mutations: 2}}}}
`,
	"annealing": `data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 5}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {particles: 6, path: {constant: {iterations: 12, batch: 20}}, move: {leapfrog: {steps: 3, step: 0.02}}}}
`,
	"regression": `data: {csv: {file: wave.csv, target: y}}
model: {layers: [{dense: 5}, swish, {dense: 1}], likelihood: {gaussian: {sd: learned}}}
prior: {normal: {variance: 1}}
method: {smc: {particles: 10, path: {tempering: {ess: 0.7}}, move: {hmc: {steps: 3, mutations: 2}}}}
`,
	"point": `data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 8}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 3, batch: 8, epochs: 30, patience: 30}
method: map
`,
}

var filters = map[string]string{
	"tracks": `model: {clutter: {acceleration: 0.5, returns: {rate: 20, sd: 1}, clutter: {rate: 40, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 10}
method: {smcmc: {particles: 30, index: uniform}}
keep: samples
`,
	"line": `model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 10}}
scans: {simulate: 20, hold: 0.2}
method: {bootstrap: {particles: 40}}
against: kalman
`,
}

// subject is a run, and what people do with its folder.
type subject struct {
	make    func(ctx context.Context, dir string, progress func(starling.Event)) error // begins it or resumes it
	resumed func(ctx context.Context, dir string) ([]byte, error)                      // resumes it, and returns what does not depend on the time
	verbs   map[string]verb
}

// subjects are all runs, by the names of their folders.
func subjects() (map[string]subject, error) {
	all := map[string]subject{}
	for name, text := range configs {
		spec, err := starling.ParseSpec(name, []byte("name: "+name+"\n"+text))
		if err != nil {
			return nil, err
		}
		all[name] = subject{
			func(ctx context.Context, dir string, progress func(starling.Event)) error {
				_, err := fit(ctx, spec, dir, progress)
				return err
			},
			func(ctx context.Context, dir string) ([]byte, error) { return resumed(ctx, spec, dir) }, verbs,
		}
	}
	for name, text := range filters {
		spec, err := starling.ParseFiltering(name, []byte("name: "+name+"\n"+text))
		if err != nil {
			return nil, err
		}
		all[name] = subject{
			func(ctx context.Context, dir string, progress func(starling.Event)) error {
				_, err := filtered(ctx, spec, dir, progress)
				return err
			},
			func(ctx context.Context, dir string) ([]byte, error) { return resumedFilter(ctx, spec, dir) }, filterVerbs,
		}
	}
	return all, nil
}

// tables are small data sets: three classes that overlap, inputs far away from them, and a curve with noise.
func tables() map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	kinds, far, wave := "a,b,kind\n", "a,b\n", "x,y\n"
	for i := range 90 {
		k := i % 3
		kinds += fmt.Sprintf("%.3f,%.3f,%s\n", float64(k)+random.NormFloat64(), random.NormFloat64()-float64(k*k), []string{"ash", "birch", "oak"}[k])
		far += fmt.Sprintf("%.3f,%.3f\n", 9+random.NormFloat64(), random.NormFloat64())
		x := random.NormFloat64()
		wave += fmt.Sprintf("%.3f,%.3f\n", x, float64(x*x)-x+float64(0.3*random.NormFloat64()))
	}
	return map[string]string{"kinds.csv": kinds, "far.csv": far, "wave.csv": wave}
}

// prepare makes each run twice in a folder: done, in done/NAME, and interrupted, in begun/NAME.
func prepare(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	for name, text := range tables() {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	all, err := subjects()
	if err != nil {
		return err
	}
	for name, s := range all {
		events := 0
		count := func(starling.Event) { events++ }
		if err := s.make(context.Background(), filepath.Join("done", name), count); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		left := events / 2
		err := s.make(ctx, filepath.Join("begun", name), func(starling.Event) {
			if left--; left == 0 {
				cancel()
			}
		})
		if err == nil {
			return fmt.Errorf("%s: was done before it was interrupted", name)
		}
		if _, err := os.Stat(filepath.Join("begun", name, "checkpoint")); err != nil {
			return err
		}
	}
	return nil
}

// fit makes a run in a folder, or resumes it.
func fit(ctx context.Context, spec starling.Spec, dir string, progress func(starling.Event)) (*starling.Result, error) {
	folder, err := starling.ResumeFolder(dir, starling.FitRuns)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return starling.Fit(ctx, spec, starling.Options{Threads: 1, Folder: folder, Every: 1, Progress: progress})
}

// filtered makes a run of a filter in a folder, or resumes it.
func filtered(ctx context.Context, spec starling.Filtering, dir string, progress func(starling.Event)) (*starling.Filtered, error) {
	folder, err := starling.ResumeFolder(dir, starling.FilterRuns)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return starling.Filter(ctx, spec, starling.FilterOptions{Options: starling.Options{Threads: 1, Folder: folder, Every: 1, Progress: progress}})
}
