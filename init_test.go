package starling

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// goingOut is a Spec that goes out from the network that testdata/pytorch has as gelu.
func goingOut(t *testing.T, rest string) Spec {
	t.Helper()
	text, err := os.ReadFile("gelu.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "method:")
	spec, err := ParseSpec("gelu.yaml", []byte(before+rest))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func fitInit(t *testing.T, spec Spec) (r *Result, init []float64) {
	t.Helper()
	r, err := Fit(context.Background(), spec, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(spec.Model.Init)
	if err != nil {
		t.Fatal(err)
	}
	if init, err = bnn.ReadWeights(file, r.Net); err != nil {
		t.Fatal(err)
	}
	return r, init
}

// away is the largest difference of any parameter of any particle from θ.
func away(e *bnn.Ensemble, theta []float64) (far float64) {
	for i, x := range e.Theta {
		far = max(far, math.Abs(float64(x)-theta[i%len(theta)]))
	}
	return far
}

// An ensemble of one, scored as PyTorch's own outputs say, also from the run's folder.
func TestAsIs(t *testing.T) {
	t.Chdir("testdata/pytorch")
	spec := goingOut(t, "method: as-is\n")
	r, init := fitInit(t, spec)
	if r.Posterior.Size() != 1 || r.Restarts != nil || len(r.Trace) > 0 || away(r.Posterior, init) != 0 {
		t.Errorf("%d particles, %v restarts, %d iterations, %v from the network", r.Posterior.Size(), r.Restarts, len(r.Trace), away(r.Posterior, init))
	}
	outputs := readNPY(t, "gelu-outputs.npy").Values.([]float64)
	targets := readNPY(t, "gelu-targets.npy").Values.([]int64)
	right, nll := 0.0, 0.0
	for i, y := range targets {
		z := outputs[3*i : 3*i+3]
		top := max(z[0], z[1], z[2])
		nll -= z[y] - top - math.Log(math.Exp(z[0]-top)+math.Exp(z[1]-top)+math.Exp(z[2]-top))
		if z[y] == top {
			right++
		}
	}
	n := float64(len(targets))
	if m := r.Metrics; m.On != "train" || m.N != len(targets) || math.Abs(float64(*m.Accuracy)-right/n) > 1e-12 || !(math.Abs(float64(m.NLL)-nll/n) < 1e-6) {
		t.Errorf("on %s, n %d, accuracy %v, NLL %v; PyTorch has %v and %v on all %v", m.On, m.N, *m.Accuracy, m.NLL, right/n, nll/n, n)
	}
	_, dir := kept(t, spec)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("gelu.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(file); run.Manifest.Init != hex.EncodeToString(sum[:]) {
		t.Errorf("the manifest has the checksum %q of the weights", run.Manifest.Init)
	}
	j, err := run.Evaluate(context.Background(), On{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if j.Metrics.NLL != r.Metrics.NLL || j.Metrics.On != "train" {
		t.Errorf("evaluated again: NLL %v on %s, was %v", j.Metrics.NLL, j.Metrics.On, r.Metrics.NLL)
	}
}

// Values are scored as PyTorch's means and the file's own log σ say.
func TestAsIsValues(t *testing.T) {
	t.Chdir("testdata/pytorch")
	text, err := os.ReadFile("numbers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ParseSpec("numbers.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	r, init := fitInit(t, spec)
	means, targets := readNPY(t, "numbers-outputs.npy").Values.([]float64), readNPY(t, "numbers-targets.npy").Values.([]float32)
	sd := math.Exp(init[len(init)-1])
	squares := 0.0
	for i, y := range targets {
		squares += (float64(y) - means[i]) * (float64(y) - means[i])
	}
	rmse := math.Sqrt(squares / float64(len(targets)))
	nll := 2*(0.5*math.Log(2*math.Pi)+math.Log(sd)) + squares/(2*sd*sd)/float64(len(targets)/2) // of two values an example
	if m := r.Metrics; !(math.Abs(float64(*m.RMSE)-rmse) < 1e-6) || !(math.Abs(float64(m.NLL)-nll) < 1e-5) {
		t.Errorf("RMSE %v and NLL %v, by PyTorch's outputs %v and %v", *m.RMSE, m.NLL, rmse, nll)
	}
}

// With an anchor and no map, the trained network is the anchor: the particles stay within its small prior.
func TestInitIsAnchor(t *testing.T) {
	t.Chdir("testdata/pytorch")
	r, init := fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}, anchor: {s: 1e-6}}\nmethod: {smc: {particles: 4, move: {hmc: {mutations: 1}}}}\n"))
	// The prior's sd is √(1e-7) = 3.2e-4; of 4×1379 normals none is beyond 7 but in one of 1e8 runs.
	if far := away(r.Posterior, init); far == 0 || far > 7*math.Sqrt(1e-7) {
		t.Errorf("a particle is %v from the anchor", far)
	}
	if r.Spec.MAP != nil || r.Metrics.LogEvidence == nil || r.Notes() != nil {
		t.Errorf("map %v, evidence %v, notes %q", r.Spec.MAP, r.Metrics.LogEvidence, r.Notes())
	}
	r, init = fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}, anchor: {s: 0}}\nmethod: {smc: {particles: 4}}\n"))
	if r.Posterior.Size() != 1 || away(r.Posterior, init) != 0 || !strings.Contains(r.Notes()[0], "model.init alone") {
		t.Errorf("s = 0: %d particles, %v from the network, notes %q", r.Posterior.Size(), away(r.Posterior, init), r.Notes())
	}
	r, init = fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}, anchor: {s: 0.5}}\nmethod: {smc: {particles: 4, move: {hmc: {mutations: 1}}}}\n"))
	if away(r.Posterior, init) < 0.1 || len(r.Notes()) != 1 || !strings.Contains(r.Notes()[0], "was not used") {
		t.Errorf("s = 0.5: %v from the network, notes %q", away(r.Posterior, init), r.Notes())
	}
}

// Without a map chains and particles begin at the trained network: with a step of 1e-9 they stay there.
func TestInitIsStart(t *testing.T) {
	t.Chdir("testdata/pytorch")
	const still = "hmc: {steps: 1, step: 1e-9}"
	r, init := fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}}\nmethod: {mcmc: {chains: 3, epochs: 2, keep: last, move: {"+still+"}}}\n"))
	if r.Spec.Way().Sampling().Start != "init" || r.Spec.MAP != nil || r.Posterior.Size() != 3 || away(r.Posterior, init) > 1e-6 {
		t.Errorf("start %s, %d states, %v from the network", r.Spec.Way().Sampling().Start, r.Posterior.Size(), away(r.Posterior, init))
	}
	r, init = fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}}\n"+
		"method: {smc: {particles: 3, islands: 2, move: {hmc: {steps: 1, step: 1e-9, mutations: 1}}}}\n"))
	if r.Posterior.Size() != 6 || away(r.Posterior, init) > 1e-6 {
		t.Errorf("%d particles, %v from the network", r.Posterior.Size(), away(r.Posterior, init))
	}
	// They are no draws of the prior, so that nothing estimates the evidence.
	if r.Metrics.LogEvidence != nil || r.Metrics.Combined != nil || r.Posterior.LogEvidence[1] != 0 || r.Trace[0].LogZ != 0 {
		t.Errorf("evidence %v of the run, %v of its islands, %v of an iteration", r.Metrics.LogEvidence, r.Posterior.LogEvidence, r.Trace[0].LogZ)
	}
	if len(r.Notes()) == 0 || !strings.Contains(r.Notes()[0], "no evidence is estimated") {
		t.Errorf("notes %q", r.Notes())
	}
	// On a path of batches start: init is the default, and a start that draws from the prior is refused.
	const batches = "path: {constant: {iterations: 2, batch: 9}}, move: {leapfrog: {steps: 1, step: 1e-9}}}}\n"
	r, init = fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}}\nmethod: {smc: {particles: 3, "+batches))
	if start := r.Spec.Way().Sampling().Start; start != "init" || away(r.Posterior, init) > 1e-6 {
		t.Errorf("start %s, %v from the network", start, away(r.Posterior, init))
	}
	notes := strings.Join(r.Notes(), "\n")
	if r.Metrics.LogEvidence != nil || !strings.Contains(notes, "began at model.init") || !strings.Contains(notes, "no evidence: start init") {
		t.Errorf("evidence %v, notes %q", r.Metrics.LogEvidence, r.Notes())
	}
	// It may be said beside an anchor, whose prior else draws the particles.
	for start, far := range map[string]bool{"start: init, ": false, "": true} {
		r, init = fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}, anchor: {s: 0.1}}\nmethod: {smc: {particles: 3, "+start+batches))
		if got := away(r.Posterior, init) > 1e-3; got != far {
			t.Errorf("anchor and %q: %v from the network", start, away(r.Posterior, init))
		}
	}
	spec := goingOut(t, "prior: {normal: {variance: 0.1}}\nmethod: {smc: {islands: 2}}\n")
	islands := spec.Method.(method.SMC)
	islands.Combine = bnn.Evidence{} // changed in Go
	spec.Method = islands
	var config *ConfigError
	if _, err := Fit(context.Background(), spec, Options{}); !errors.As(err, &config) || !strings.Contains(err.Error(), "islands cannot be weighted by evidence") {
		t.Errorf("islands weighted by an evidence that nobody estimated: error %v", err)
	}
}

// With a map the first restart begins at the trained network, and it alone.
func TestInitIsFirstRestart(t *testing.T) {
	t.Chdir("testdata/pytorch")
	r, init := fitInit(t, goingOut(t, "prior: {normal: {variance: 0.1}, anchor: {s: 0}}\n"+
		"map: {restarts: 2, rate: 1e-12, epochs: 1}\nmethod: {smc: {particles: 4}}\n"))
	d := r.Net.Dim()
	first, second := *r.Restarts, *r.Restarts
	first.Theta, second.Theta = r.Restarts.Theta[:d], r.Restarts.Theta[d:]
	if away(&first, init) > 1e-6 || away(&second, init) < 0.1 {
		t.Errorf("the restarts begin %v and %v from the network", away(&first, init), away(&second, init))
	}
}

func TestInitErrors(t *testing.T) {
	t.Chdir("testdata/pytorch")
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte("no weights at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	for file, reason := range map[string]string{
		"absent.safetensors":  "model.init: absent.safetensors: no such file",
		folder:                "is not a regular file but a folder",
		text:                  "is it the right file?",
		"gelu-inputs.npy":     "is it the right file?",
		"yes.safetensors":     "model.init: yes.safetensors: tensor fc1.weight [32 6] of the network (layer 0, dense) is not in the file; nearest is ",
		"lenet5.safetensors":  "model.init: lenet5.safetensors: tensor fc1.weight is [120 400] in the file, the network has [32 6] (layer 0, dense)",
		"numbers.safetensors": "nearest is ",
	} {
		spec := goingOut(t, "method: as-is\n")
		spec.Model.Init = file
		var bad *DataError
		if _, err := Fit(context.Background(), spec, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: error %v, want a DataError about %q", file, err, reason)
		}
	}
}

// A run does not go on with another file of weights than it was begun with.
func TestInitResume(t *testing.T) {
	t.Chdir("testdata/pytorch")
	file, err := os.ReadFile("gelu.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	spec := goingOut(t, "prior: {normal: {variance: 0.1}}\nmethod: {mcmc: {chains: 2, epochs: 2, keep: last, move: {hmc: {steps: 1}}}}\n")
	spec.Model.Init = filepath.Join(t.TempDir(), "weights.safetensors")
	dir := filepath.Join(t.TempDir(), "run")
	for i, reason := range []string{"", "", "the file from which the run starts is not the same"} {
		if i == 2 {
			file[len(file)-1] ^= 1 // the sign or exponent of a weight
		}
		if err := os.WriteFile(spec.Model.Init, file, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := resume(context.Background(), dir, spec, Options{})
		if (err == nil) != (reason == "") || err != nil && !strings.Contains(err.Error(), reason) {
			t.Errorf("fit %d: error %v, want one about %q", i, err, reason)
		}
	}
}

// A network with dropout layers takes the weights of the network without them, and as it is computes the same.
func TestDropoutOfATrainedNetwork(t *testing.T) {
	t.Chdir("testdata/pytorch")
	plain, init := fitInit(t, goingOut(t, "method: as-is\n"))
	dropping := func(rest string) Spec {
		spec := goingOut(t, rest)
		last := len(spec.Model.Layers) - 1
		spec.Model.Layers = slices.Insert(slices.Clone(spec.Model.Layers), last, nn.Layer(nn.Dropout(0.5)))
		return spec
	}
	r, _ := fitInit(t, dropping("method: as-is\n"))
	if away(r.Posterior, init) != 0 || r.Metrics.NLL != plain.Metrics.NLL {
		t.Errorf("as it is: %v from the network, NLL %v, without dropout %v", away(r.Posterior, init), r.Metrics.NLL, plain.Metrics.NLL)
	}
	spec := dropping("prior: {normal: {variance: 1}}\nmap: {restarts: 1, epochs: 1, rate: 1.0e-9}\nmethod: map\n")
	spec.Method = method.Dropout{Passes: 4}
	r, _ = fitInit(t, spec)
	if r.Posterior.Size() != 4 || !(away(r.Restarts, init) < 1e-6) || !(away(r.Posterior, init) > 0.01) {
		t.Errorf("%d passes, %v from the network; its restart is %v away", r.Posterior.Size(), away(r.Posterior, init), away(r.Restarts, init))
	}
}
