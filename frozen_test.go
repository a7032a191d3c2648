package starling

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/nn"
)

// TestFrozenOnce: layers that are not random and that nothing learns are the same in all networks of a posterior. They are those of model.init
// or, behind a search, of the best restart, unless chains begin at model.init all the same. The run's file has each once. Chains that begin at
// restarts of their own have layers of their own.
func TestFrozenOnce(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "pytorch"))
	const (
		chains = "method={mcmc: {chains: 3, epochs: 24, keep: 3, move: {hmc: {steps: 3}}}}"
		search = "map={epochs: 2, restarts: 3, rate: 0.02, keep: last}"
	)
	init, err := os.ReadFile("gelu.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sets   []string
		frozen bool
	}{
		"chains":   {[]string{chains}, true},
		"svgd":     {[]string{"method={svgd: {particles: 3, epochs: 4}}"}, true},
		"islands":  {[]string{"method={smc: {particles: 4, islands: 2, path: {full: {iterations: 3}}, move: {hmc: {steps: 2, mutations: 1}}}}"}, true},
		"best":     {[]string{search, "method={smc: {particles: 4, islands: 2, path: {full: {iterations: 3}}, start: map, move: {hmc: {steps: 2, mutations: 1}}}}"}, true},
		"restarts": {[]string{search, chains}, false},
		"at init":  {[]string{search, "method={mcmc: {chains: 3, start: init, epochs: 24, keep: 3, move: {hmc: {steps: 3}}}}"}, true},
		"as-is":    {[]string{"method=as-is"}, true},
	} {
		if name != "as-is" {
			c.sets = append(c.sets, normal)
		}
		spec := parsed(t, "gelu.yaml", append(c.sets, "model.random=last")...)
		r, dir := kept(t, spec)
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		if (run.Posterior.Net.Learned() == 0) != c.frozen || (run.Net.Learned() == 0) != c.frozen || !slices.Equal(run.Posterior.Net.Held(), r.Posterior.Net.Held()) {
			t.Errorf("%s: %d parameters are learned; other constants came back", name, run.Posterior.Net.Learned())
		}
		file, err := os.ReadFile(filepath.Join(dir, "posterior.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		tensors, metadata, err := safetensors.Parse(file)
		if err != nil {
			t.Fatal(err)
		}
		roles := map[string]string{}
		if err := json.Unmarshal([]byte(metadata["roles"]), &roles); err != nil {
			t.Fatal(err)
		}
		once := map[string][]float64{}
		for _, a := range tensors {
			if a.Name == "shared" && c.frozen {
				t.Errorf("%s: rows of nothing", name)
			}
			if roles[a.Name] == "frozen" {
				once[a.Name] = a.Float64s()
				if a.Shape[0] != 1 {
					t.Errorf("%s: %s is %v", name, a.Name, a.Shape)
				}
			}
		}
		if (len(once) > 0) != c.frozen {
			t.Errorf("%s: roles %v", name, roles)
		}
		w, err := bnn.ReadNetwork(init, r.Posterior.Net.Whole())
		if err != nil {
			t.Fatal(err)
		}
		whole := w.Whole
		if r.Restarts != nil {
			whole = nil
			for _, x := range r.Restarts.Theta[r.Chosen*r.Net.Parameters():][:r.Net.Parameters()] {
				whole = append(whole, float64(x))
			}
			if slices.Equal(whole, w.Whole) {
				t.Errorf("%s: the best restart is model.init itself", name)
			}
		}
		if name == "at init" {
			whole = w.Whole
		}
		for x, part := range r.Posterior.Net.Places(whole) {
			if x.Role != nn.RoleFrozen {
				continue
			}
			for i := range part {
				if once[x.Name][i] != float64(float32(part[i])) {
					t.Fatalf("%s: %s is %v, want %v", name, x.Element(i), once[x.Name][i], part[i])
				}
			}
		}
		again, err := run.Evaluate(t.Context(), On{}, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if again.Metrics.NLL != r.Metrics.NLL {
			t.Errorf("%s: evaluated again: NLL %v, was %v", name, again.Metrics.NLL, r.Metrics.NLL)
		}
	}
}
