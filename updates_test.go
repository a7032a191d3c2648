package starling

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/nn"
)

const flowers = `
data: {csv: {file: examples/classification.csv, target: species}, split: {validate: 0.2, test: 0.2}}
model: {layers: [{dense: 7}, tanh, {dense: 3, name: head}], likelihood: categorical}
prior: {normal: {fan_in: 1}}
map: {restarts: 1, epochs: 30, rate: 0.1}
method: map
`

// TestUpdatesInRuns: a low-rank update of a network that a run has trained begins as that network, in every method, and what was trained stays
// in all particles, also where the run's files are read. Only A and B, or with the other layers random these too, are parameters.
func TestUpdatesInRuns(t *testing.T) {
	spec := func(sets ...string) Spec {
		s, err := ParseSpec("flowers.yaml", []byte(flowers), sets...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	trained, dir := kept(t, spec())
	init := "model.init=" + filepath.Join(dir, "map.safetensors")
	const layers, own = "model.layers=[{dense: 7}, tanh, {lora: {units: 3, rank: 2, alpha: 4}, name: head}]", 2*7 + 3*2
	for name, sets := range map[string][]string{
		"as-is":    {"method=as-is", "map=null", "prior=null"},
		"map":      {},
		"ensemble": {"method={ensemble: {members: 3}}", "map.restarts=3"},
		"swag":     {"method={swag: {snapshots: 3, draws: 4}}"},
		"vi":       {"method={vi: {epochs: 2, draws: 3}}", "map=null"},
		"svgd":     {"method={svgd: {particles: 4, epochs: 3}}", "map=null"},
		"mcmc":     {"map=null", "method={mcmc: {chains: 2, start: init, epochs: 40, keep: 4, move: {hmc: {steps: 4}}}}"},
		"smc":      {"map=null", "method={smc: {particles: 8, move: {hmc: {steps: 3, mutations: 1}}}}"},
		"last":     {"model.random=last", "map=null", "method={mcmc: {chains: 2, start: init, epochs: 40, keep: 4, move: {hmc: {steps: 4}}}}"},
		"guided":   {"model.random=first", "map=null", "method={smc: {particles: 4, path: {full: {epochs: 20}}, move: {hmc: {steps: 2, mutations: 1}}, learn: {adam: {rate: 0.001}}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(append(sets, init, layers)...)
			r, dir := kept(t, s)
			run, err := OpenRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			if name == "last" && r.Net.Dim() != own || r.Net.Parameters() != own+7*5 {
				t.Errorf("D = %d, %s", r.Net.Dim(), r.Net.Size())
			}
			j, err := run.Evaluate(t.Context(), On{}, Options{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if j.Metrics.NLL != r.Metrics.NLL {
				t.Errorf("evaluated again: NLL %v, was %v", j.Metrics.NLL, r.Metrics.NLL)
			}
			want := headOf(t, trained)
			for of, net := range map[string]*nn.Net{"posterior": r.Posterior.Net, "posterior of the folder": run.Posterior.Net} {
				if have := net.Statistics(); !slices.Equal(have, want) {
					t.Errorf("%s: W and b are %v, of the trained network %v", of, have, want)
				}
			}
			if name == "as-is" && r.Metrics.NLL != trained.Metrics.NLL {
				t.Errorf("NLL %v, of the trained network %v", r.Metrics.NLL, trained.Metrics.NLL)
			}
			if len(r.Courses) > 0 && !(math.Abs(float64(r.Courses[0].Val[0]-slices.Min(trained.Courses[0].Val))) <= 1e-6) {
				t.Errorf("the first restart begins at a validation NLL of %v, the trained network has %v", r.Courses[0].Val[0], trained.Courses[0].Val)
			}
		})
	}
}

// headOf is W and b of the last layer of the network that a search has trained.
func headOf(t *testing.T, r *Result) (values []float32) {
	t.Helper()
	for _, x := range r.Restarts.Net.Tensors() {
		if strings.HasPrefix(x.Name, "head.") {
			values = append(values, r.Restarts.Theta[x.Offset:][:x.Size]...)
		}
	}
	if len(values) != 3*7+3 {
		t.Fatalf("a head of %d numbers", len(values))
	}
	return values
}

// TestUpdatesRefused: an update without a trained network, of one that does not fit, or of an impossible rank is refused where it was written,
// also where only the data say how large the network's inputs are.
func TestUpdatesRefused(t *testing.T) {
	_, dir := kept(t, func() Spec {
		s, err := ParseSpec("flowers.yaml", []byte(flowers), "map.epochs=1")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}())
	init := "model.init=" + filepath.Join(dir, "map.safetensors")
	for want, sets := range map[string][]string{
		"model.layers.2: lora adds to the weights of a trained layer, and there is none: name the file of its weights, model.init, or take dense": {"model.layers=[{dense: 7}, tanh, {lora: {units: 3, rank: 2, alpha: 4}}]"},
		"model.layers.0: lora adds to the weights":                                                                                                           {"model.layers=[{residual: {body: [{lora: {units: 4, rank: 2, alpha: 4}}]}}, {dense: 3}]"},
		"layer 2 (lora): rank: 4 is above 3, the rank of any matrix of 3×7":                                                                                  {init, "model.layers=[{dense: 7}, tanh, {lora: {units: 3, rank: 4, alpha: 4}, name: head}]"},
		"tensor head.weight is [3 7] in the file, the network has [4 7] (layer 2, lora)":                                                                     {init, "model.layers=[{dense: 7}, tanh, {lora: {units: 4, rank: 2, alpha: 4}, name: head}, {dense: 3}]"},
		"tensor other.weight [3 7] of the network (layer 2, lora) is not in the file; nearest is head.weight [3 7]: write name: head beside lora in layer 2": {init, "model.layers=[{dense: 7}, tanh, {lora: {units: 3, rank: 2, alpha: 4}, name: other}]"},
		"model.layers.0.lora.alpha: want a number above 0, have 0":                                                                                           {init, "model.layers=[{lora: {units: 3, rank: 2, alpha: 0}}]"},
		`the name "head" is taken by an earlier layer`:                                                                                                       {init, "model.layers=[{dense: 7, name: head}, tanh, {lora: {units: 3, rank: 2, alpha: 4}, name: head}]"},
	} {
		s, err := ParseSpec("flowers.yaml", []byte(flowers), sets...)
		if err == nil {
			_, err = Fit(context.Background(), s, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", sets, err, want)
		}
	}
}
