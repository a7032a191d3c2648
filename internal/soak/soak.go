//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lanes"
)

// configs are small runs of every kind. The first line of each holds its name.
var configs = []string{
	`name: shards
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 700}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {islands: 2, particles: 8, path: {full: {iterations: 50}}, move: {epoch: {step: 0.001, batch: 20}}, weight: {bootstrap: {temperature: examples}},
  keep: {after: 5}, stop: {patience: 45}}}
`, `name: chains
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 6}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 3, epochs: 60, patience: 60}
method: {mcmc: {chains: 3, epochs: 1200, keep: 30, move: {hmc: {steps: 4}}}}
`, `name: islands
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 6}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {fan_in: 2}, anchor: {s: 0.3}}
map: {restarts: 4, epochs: 60, patience: 60}
method: {smc: {islands: 4, particles: 20, combine: evidence, path: {tempering: {ess: 0.97}}, move: {hmc: {steps: 3, mutations: 4}}}}
`, `name: adaptive
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 5}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {islands: 3, particles: 40, path: {tempering: {ess: 0.95}}, move: {pcn: {mutations: {eta: 0.02, max: 30}}},
  resample: {scheme: systematic, when: {ess: 0.6}}}}
`, `name: regression
data: {csv: {file: wave.csv, target: y}}
model: {layers: [{dense: 6}, swish, {dense: 1}], likelihood: {gaussian: {sd: learned}}}
prior: {normal: {variance: 1}}
map: {restarts: 2, epochs: 40, patience: 40}
method: {smc: {islands: 2, particles: 25, path: {tempering: {ess: 0.9}}, move: {hmc: {steps: 4, mutations: 4}}}}
`, `name: point
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 16}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}, anchor: {s: 0}}
map: {restarts: 6, batch: 8, epochs: 150, patience: 150}
method: {smc: {}}
`, `name: annealing
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 8}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {islands: 2, particles: 8, path: {constant: {iterations: 150, batch: 20}}, move: {leapfrog: {steps: 10, step: 0.02}}}}
`, `name: map
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 16}, relu, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 6, batch: 8, epochs: 150, patience: 150}
method: map
`, `name: ensemble
data: {csv: {file: kinds.csv, target: kind}}
model: {layers: [{dense: 16}, tanh, {dense: 3}], likelihood: categorical}
prior: {normal: {variance: 1}}
map: {restarts: 5, batch: 8, epochs: 120, patience: 120}
method: ensemble
`, `name: tracks
model: {clutter: {acceleration: 0.5, returns: {rate: 20, sd: 1}, clutter: {rate: 40, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 60}
method: {smcmc: {particles: 300, index: uniform}}
keep: samples
`, `name: radar
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}
scans: {file: radar.csv, bad: skip, hold: 0.2}
method: {smcmc: {particles: 500}}
against: kalman
`,
}

// verb is the verb that makes a run of a config.
func verb(config string) string {
	if strings.Contains(config, "\nscans: ") {
		return "filter"
	}
	return "fit"
}

// soak kills runs of a program in a folder of its own.
type soak struct {
	program, dir string
	random       *rand.Rand
	log          io.Writer // every kill

	runs     []*target
	killed   map[string]map[string]int // by run and phase
	finished int                       // runs that were killed and ended with the same bytes
	starts   int
}

// target is a run, with the files that it leaves if it is never stopped.
type target struct {
	name  string
	verb  string
	took  time.Duration
	files map[string]string
}

func newSoak(program, dir string, seed uint64) (*soak, error) {
	s := &soak{program: program, dir: dir, random: rand.New(rand.NewPCG(seed, 5)), log: io.Discard, killed: map[string]map[string]int{}}
	for name, text := range tables() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	for _, config := range configs {
		name, _, _ := strings.Cut(strings.TrimPrefix(config, "name: "), "\n")
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(config), 0o666); err != nil {
			return nil, err
		}
		began := time.Now()
		cmd := exec.Command(program, verb(config), name+".yaml", "--out", name+"-whole")
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", name, err, text)
		}
		t := &target{name: name, verb: verb(config), took: time.Since(began)}
		var err error
		if t.files, err = contents(filepath.Join(dir, name+"-whole")); err != nil {
			return nil, err
		}
		s.runs = append(s.runs, t)
		s.killed[name] = map[string]int{}
	}
	return s, nil
}

// tables are small data sets: three classes that overlap, a curve with noise, and scans, some of which cannot be used.
func tables() map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	kinds, wave := "a,b,c,kind\n", "x,z,y\n"
	for i := range 120 {
		k := i % 3
		kinds += fmt.Sprintf("%.3f,%.3f,%.3f,%s\n", float64(k)+random.NormFloat64(), random.NormFloat64()-float64(k*k), random.NormFloat64(), []string{"ash", "birch", "oak"}[k])
		x := random.NormFloat64()
		wave += fmt.Sprintf("%.3f,%.3f,%.3f\n", x, random.NormFloat64(), float64(x*x)-x+float64(0.3*random.NormFloat64()))
	}
	radar, state := "time,z\n", 0.0
	for k := range 300 {
		state = float64(0.9*state) + random.NormFloat64()
		for range random.IntN(5) {
			radar += fmt.Sprintf("%d,%.3f\n", k+1, state+2*random.NormFloat64())
		}
		if k%20 == 7 {
			radar += fmt.Sprintf("%d,none\n", k+1)
		}
	}
	return map[string]string{"kinds.csv": kinds, "wave.csv": wave, "radar.csv": radar}
}

// until runs all targets in turn, over and over, until the given number of processes was killed.
func (s *soak) until(kills int) error {
	for s.kills() < kills {
		for _, t := range s.runs {
			if err := s.killAndResume(t, kills); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return nil
}

// killAndResume starts one run, kills and resumes it until it is done, and compares its files.
func (s *soak) killAndResume(t *target, kills int) error {
	run := filepath.Join(s.dir, t.name)
	for left := 1 + s.random.IntN(8); ; left-- {
		s.starts++
		cmd := exec.Command(s.program, t.verb, t.name+".yaml", "--out", run, "--resume",
			"--threads", fmt.Sprint(1+s.random.IntN(3)), "--save-every", fmt.Sprint(1+s.random.IntN(40), "ms"))
		cmd.Dir = s.dir
		kernels := lanes.Kernels()
		cmd.Env = append(os.Environ(), "STARLING_KERNEL="+kernels[s.random.IntN(len(kernels))])
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			return err
		}
		signal, second := syscall.SIGKILL, false
		switch s.random.IntN(10) {
		case 7:
			signal = syscall.SIGINT
		case 8:
			signal, second = syscall.SIGINT, true
		case 9:
			signal = syscall.SIGTERM
		}
		if left > 0 && s.kills() < kills {
			s.wait(run, t.took)
			cmd.Process.Signal(signal)
			if second {
				time.Sleep(time.Duration(s.random.IntN(3)) * time.Millisecond)
				cmd.Process.Signal(signal)
			}
		}
		err := cmd.Wait()
		if err == nil {
			break
		}
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		interrupted := signal != syscall.SIGKILL && status.ExitStatus() == 130 && strings.Contains(said.String(), "interrupted; ")
		if !interrupted && !(status.Signaled() && status.Signal() == signal) {
			return fmt.Errorf("start %d ended with %v:\n%s", s.starts, err, said.Bytes())
		}
		phase, err := phase(run)
		if err != nil {
			return fmt.Errorf("after start %d: %w", s.starts, err)
		}
		fmt.Fprintf(s.log, "%s: %v, %s\n", t.name, signal, phase)
		s.killed[t.name][phase]++
	}
	files, err := contents(run)
	if err != nil {
		return err
	}
	for name, want := range t.files {
		if files[name] != want {
			return fmt.Errorf("after %d kills in all, %s differs from that of a run that was never stopped", s.kills(), name)
		}
		delete(files, name)
	}
	for name := range files {
		return fmt.Errorf("%s is left behind", name)
	}
	s.finished++
	return os.RemoveAll(run)
}

// wait waits for the instant of a signal: a random one within half of the time that the run takes or, since some phases are
// short, one soon after a file has appeared.
func (s *soak) wait(run string, took time.Duration) {
	files := []string{"config.yaml", "manifest.json", "trace.jsonl", "checkpoint", "samples-0-1", "posterior.safetensors", "tracks.jsonl", "metrics.json"}
	if s.random.IntN(3) > 0 {
		time.Sleep(time.Duration(s.random.Int64N(int64(took)/2 + int64(20*time.Millisecond))))
		return
	}
	path := filepath.Join(run, files[s.random.IntN(len(files))])
	for deadline := time.Now().Add(took); time.Now().Before(deadline); time.Sleep(200 * time.Microsecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	time.Sleep(time.Duration(s.random.Int64N(int64(5 * time.Millisecond))))
}

// phases lists the stages of a run at which its process may end.
var phases = []string{"before its folder", "before its first checkpoint", "point estimates", "sampling", "scores and files", "done"}

// phase finds the stage of the run from its folder. A checkpoint in the folder must be readable.
func phase(run string) (string, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(run, name))
		return err == nil
	}
	manifest, _ := os.ReadFile(filepath.Join(run, "manifest.json"))
	checkpoint, err := os.ReadFile(filepath.Join(run, "checkpoint"))
	if errors.Is(err, os.ErrNotExist) {
		checkpoint, err = os.ReadFile(filepath.Join(run, "checkpoint.previous"))
	}
	switch {
	case !has("config.yaml"):
		return phases[0], nil
	case strings.Contains(string(manifest), `"status": "done"`):
		return phases[5], nil
	case err != nil:
		return phases[1], nil
	}
	d, err := ckpt.NewDecoder(checkpoint, "starling.Checkpoint/3")
	if err != nil {
		return "", err
	}
	var begun int // phases of the run
	d.Ints("phases", &begun)
	last := ""
	if begun > 0 {
		last = string(d.Bytes(fmt.Sprint("phase ", begun-1)))
	}
	switch {
	case d.Err() != nil:
		return "", d.Err()
	case has("posterior.safetensors"), has("tracks.jsonl"):
		return phases[4], nil
	case last != "" && last != "map":
		return phases[3], nil
	}
	return phases[2], nil
}

// contents are the files of a finished run's folder, without times.
func contents(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		switch e.Name() {
		case "manifest.json":
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				return nil, err
			}
			b = fmt.Append(nil, m["kind"], m["status"], m["data"], m["notes"], m["findings"])
		case "trace.jsonl":
			var trace []string
			for line := range bytes.Lines(b) {
				var values map[string]any
				if err := json.Unmarshal(line, &values); err != nil {
					return nil, err
				}
				delete(values, "seconds")
				delete(values, "lag")
				trace = append(trace, fmt.Sprint(values))
			}
			b = []byte(strings.Join(trace, "\n"))
		case "checkpoint":
			b = ckpt.Without(b, "trace") // the trace has times, and so its sums differ
		case "report.html": // it shows times
			continue
		}
		files[e.Name()] = string(b)
	}
	return files, nil
}

func (s *soak) kills() (n int) {
	for _, phases := range s.killed {
		for _, k := range phases {
			n += k
		}
	}
	return n
}

// report is a table of kills by phase and run.
func (s *soak) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d processes ended by a signal, %d runs ended with the same bytes\n\n%-28s", s.kills(), s.starts, s.finished, "")
	names := make([]string, len(s.runs))
	for i, t := range s.runs {
		names[i] = t.name
		fmt.Fprintf(&b, "%12s", t.name)
	}
	fmt.Fprintln(&b)
	for _, phase := range phases {
		fmt.Fprintf(&b, "%-28s", phase)
		for _, name := range names {
			fmt.Fprintf(&b, "%12d", s.killed[name][phase])
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
