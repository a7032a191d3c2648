package starling

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/method"
)

// straight is a linear regression on so many rows of 5 inputs, with every default of smc. The sd of the noise is .5, and the prior
// variance 1.
func straight(t *testing.T, rows int, sets ...string) Spec {
	t.Helper()
	var table strings.Builder
	table.WriteString("a,b,c,d,e,y\n")
	for i := range rows {
		y := 0.6 * math.Sin(float64(i*i))
		for k := range 5 {
			x := math.Sin(float64(7*i+3*k) + 0.5*float64(i*k))
			fmt.Fprintf(&table, "%.6f,", x)
			y += x * float64(k-1) / 2
		}
		fmt.Fprintf(&table, "%.6f\n", y)
	}
	file := filepath.Join(t.TempDir(), "straight.csv")
	save(t, file, []byte(table.String()))
	spec, err := ParseSpec("straight.yaml", []byte(`
data: {csv: {file: `+file+`, target: y}, whole: true}
model: {layers: [{dense: 1}], likelihood: {gaussian: {sd: 0.5}}}
prior: {normal: {variance: 1}}
method: {smc: {}}
`), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// straightEvidence is the exact log evidence of straight, on the standardised rows that it trained on: log N(y; 0, s² I + X̃X̃ᵀ), where X̃
// has one more input, 1.
func straightEvidence(set *data.Set) float64 {
	const s2 = 0.25
	n, p := len(set.Values), set.Shape[0]
	c, y := make([]float64, n*n), make([]float64, n)
	for i := range n {
		y[i] = float64(set.Values[i])
		for j := range n {
			c[i*n+j] = 1
			for k := range p {
				c[i*n+j] += float64(set.F32[i*p+k]) * float64(set.F32[j*p+k])
			}
		}
		c[i*n+i] += s2
	}
	dense.Cholesky(c, n)
	dense.Forward(c, y)
	square := 0.0
	for _, z := range y {
		square += z * z
	}
	return -0.5 * (float64(n)*math.Log(2*math.Pi) + dense.LogDet(c, n) + square)
}

// With all defaults a small table has a log evidence that can be used: over eight seeds it is the exact one. A run has an sd of .17 nats,
// and the bound is 4.9 standard errors of the mean and .05 nats for the bias of the adaptive ladder: it fails once in 1e6 sets of seeds.
// It finds an error of .7 nats for sure. Ten particles are low by 1 nat.
func TestEvidenceByDefault(t *testing.T) {
	testkit.Statistics(t)
	const seeds, sd = 8, 0.17
	mean := 0.0
	for seed := range seeds {
		r := fitted(t, straight(t, 60, fmt.Sprint("seed=", seed)), Options{})
		if got := r.Spec.Method.(method.SMC).Particles; got != 400 {
			t.Fatalf("%d particles, want 400", got)
		}
		mean += (r.Posterior.LogEvidence[0] - straightEvidence(r.Data.Train)) / seeds
	}
	if bound := 4.9*sd/math.Sqrt(seeds) + 0.05; !(math.Abs(mean) <= bound) {
		t.Errorf("the mean of log Z is off by %v nats, beyond %v", mean, bound)
	}
}

// The config of a run of VI has the number of its epochs: 500, or as many as make 4,000 steps of the batches. A run of that config has the same bytes,
// and a config that gives the number keeps it.
func TestRunsHaveTheirEpochs(t *testing.T) {
	const small = "method={vi: {batch: 50, draws: 3}}"
	spec := straight(t, 1000, small) // 20 steps an epoch
	if text := spec.YAML(); !bytes.Contains(text, []byte(" epochs: auto,")) {
		t.Errorf("before the data are known the config is\n%s", text)
	}
	for examples, want := range map[int]int{1000: 500, 60: 2000} {
		if got := fitted(t, straight(t, examples, small), Options{}).Spec.Method.(method.VI).Epochs; got != want {
			t.Errorf("%d epochs of %d examples, want %d", got, examples, want)
		}
	}
	_, first := kept(t, straight(t, 60, small))
	config := read(t, first, configFile)
	again, err := ParseSpec("config.yaml", config)
	if err != nil || !bytes.Contains(config, []byte(" epochs: 2000,")) {
		t.Fatalf("%v; the run's config is\n%s", err, config)
	}
	if _, second := kept(t, again); contents(t, first) != contents(t, second) {
		t.Error("a run of a run's config differs from it")
	}
	if got := fitted(t, straight(t, 60, small, "method.vi.epochs=7"), Options{}).Spec.Method.(method.VI).Epochs; got != 7 {
		t.Errorf("7 epochs became %d", got)
	}
}

// The config of a run has the number of its particles. A run of that config has the same bytes, and the config
// without the number goes on with either. A config that gives the number keeps it.
func TestRunsHaveTheirParticles(t *testing.T) {
	spec := straight(t, 12)
	if text := spec.YAML(); !bytes.Contains(text, []byte("\n    particles: auto\n")) {
		t.Errorf("before the data are known the config is\n%s", text)
	}
	r, first := kept(t, spec)
	config := read(t, first, configFile)
	if !bytes.Contains(config, []byte("\n    particles: 400\n")) {
		t.Errorf("the run's config is\n%s", config)
	}
	again, err := ParseSpec("config.yaml", config)
	if err != nil {
		t.Fatal(err)
	}
	if text := again.YAML(); !bytes.Equal(text, config) {
		t.Errorf("the run's config is written again as\n%s", text)
	}
	_, second := kept(t, again)
	if a, b := contents(t, first), contents(t, second); a != b {
		t.Error("a run of a run's config differs from it")
	}
	if _, err := resume(t.Context(), first, spec, Options{}); err != nil {
		t.Errorf("the config that the run was made from does not go on with it: %v", err)
	}
	if r.Posterior.Size() != 400 {
		t.Errorf("%d networks in the posterior", r.Posterior.Size())
	}
	for _, n := range []int{3, 10, 401} {
		given := straight(t, 12, fmt.Sprint("method.smc.particles=", n))
		if got := fitted(t, given, Options{}).Spec; !reflect.DeepEqual(got.Method, given.Method) {
			t.Errorf("a config with %d particles became\n%s", n, got.YAML())
		}
	}
}

// A number of particles that the data allow may be too small for the path. The run is refused before it begins, as if it had been given.
func TestFewParticlesAreRefused(t *testing.T) {
	spec := straight(t, 12, "method.smc.path={tempering: {ess: 0.05}}", "model.layers=[{dense: 700}, tanh, {dense: 700}, tanh, {dense: 1}]")
	_, err := Fit(t.Context(), spec, Options{})
	if err == nil || !strings.Contains(err.Error(), "keeps a share of 0.05 of 10 particles effective: at most one particle") {
		t.Errorf("error %v", err)
	}
}

// A preset says how many particles it has: its records are of that number.
func TestPresetsSayTheirParticles(t *testing.T) {
	for _, name := range PresetsFor("fit") {
		if m, ok := preset(t, name).Method.(method.SMC); ok && m.Particles == 0 {
			t.Errorf("%s leaves the number of particles to the program", name)
		}
	}
}

// TestZerosAreKept: a setting that a config writes as 0 is 0 in the run, and not its default.
func TestZerosAreKept(t *testing.T) {
	for sets, want := range map[string]string{
		"method={swa: {warmup: 0, momentum: 0, snapshots: 1}}":                            "momentum: 0, warmup: 0, snapshots: 1}",
		"method={mcmc: {start: prior, epochs: 600, move: {hmc: {length: 1, jitter: 0}}}}": "jitter: 0}",
	} {
		spec := trees(t, "prior.anchor=null", sets)
		if text := planned(t, spec, false).Spec.YAML(); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: the run has\n%s", sets, text)
		}
	}
}
