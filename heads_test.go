package starling

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/testkit"
)

const headChains = "method={mcmc: {chains: 3, epochs: 24, keep: 6, move: {hmc: {steps: 3}}}}"

// untrained is a Spec without a trained network.
func untrained(s Spec) Spec {
	s.Model.Init = ""
	return s
}

// lastOf writes the tensors of layer fc3 of a file of weights to a file of their own.
func lastOf(t *testing.T, file string) string {
	t.Helper()
	weights, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tensors, _, err := safetensors.Parse(weights)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	last := slices.DeleteFunc(tensors, func(t safetensors.Tensor) bool { return !strings.HasPrefix(t.Name, "fc3.") })
	if err := safetensors.Write(&b, last); err != nil {
		t.Fatal(err)
	}
	return testkit.WriteFile(t, "fc3.safetensors", b.Bytes())
}

// TestHeadOnFeatures: a head on the features of a frozen network has the same posterior, bit for bit, as the whole network whose last layer
// alone is random, and by --backbone it predicts the original inputs as that does.
func TestHeadOnFeatures(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "pytorch"))
	whole, wholeDir := kept(t, parsed(t, "gelu.yaml", headChains, normal, "model.random=last"))
	backbone, err := Backbone(parsed(t, "gelu.yaml"), "fc3", Options{})
	if err != nil {
		t.Fatal(err)
	}
	features := filepath.Join(t.TempDir(), "features.npy")
	rows, err := backbone.File(t.Context(), "gelu-inputs.npy", features, eval.Float32)
	if err != nil || !slices.Equal(backbone.Net.Output(), []int{32}) {
		t.Fatal(err, backbone.Net.Output())
	}
	if array, err := data.ReadNPY(features); err != nil || !slices.Equal(array.Shape, []int{rows, 32}) {
		t.Fatalf("%+v, %v", array, err)
	}
	head, headDir := kept(t, parsed(t, "gelu.yaml", headChains, normal, "model.layers=[{dense: 3, name: fc3}]", "data.train.inputs="+features, "model.init="+lastOf(t, "gelu.safetensors")))
	if n := head.Posterior.Net.Dim(); n != 33*3 || whole.Posterior.Net.Dim() != n || !slices.Equal(head.Posterior.Theta, whole.Posterior.Theta) {
		t.Errorf("the posteriors of %d and %d parameters differ", n, whole.Posterior.Net.Dim())
	}
	if !slices.Equal(head.Posterior.LogWeights, whole.Posterior.LogWeights) || head.Metrics.NLL != whole.Metrics.NLL {
		t.Errorf("test NLL %v by the head, %v by the whole", head.Metrics.NLL, whole.Metrics.NLL)
	}

	// Predictions: of the whole network, of the head by its backbone, and of the head on the file of features.
	answers := func(dir, in string, through *eval.Backbone) string {
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		p := run.Predictor(Options{Threads: 1})
		if through != nil {
			p.Through = through
		}
		var b bytes.Buffer
		if n, err := p.To(t.Context(), in, &b); err != nil || n != rows {
			t.Fatal(n, err)
		}
		var probs []string // without the counts of inputs that lie outside: those of the head are features
		for line := range strings.Lines(b.String()) {
			cells := strings.Split(line, ",")
			probs = append(probs, strings.Join(cells[:6], ","))
		}
		return strings.Join(probs, "\n")
	}
	of := answers(wholeDir, "gelu-inputs.npy", nil)
	if by := answers(headDir, "gelu-inputs.npy", backbone); by != of {
		t.Errorf("the head by its backbone:\n%s\nthe whole network:\n%s", by, of)
	}
	if by := answers(headDir, features, nil); by != of {
		t.Errorf("the head on features:\n%s\nthe whole network:\n%s", by, of)
	}

	// A head on features is not one on inputs, and another layer's features are refused by their number.
	other, err := Backbone(parsed(t, "gelu.yaml"), "fc2", Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(headDir)
	if err != nil {
		t.Fatal(err)
	}
	p := run.Predictor(Options{})
	p.Through = other
	p.Schema.Shape = []int{31}
	if _, err := p.To(t.Context(), "gelu-inputs.npy", new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "features of gelu-inputs.npy: examples of shape [32], the run was trained on examples of shape [31]") {
		t.Errorf("another layer: %v", err)
	}
}

// TestHeadStandardises: a head that standardises its features predicts through its backbone as it does from a file of them.
func TestHeadStandardises(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "pytorch"))
	backbone, err := Backbone(parsed(t, "gelu.yaml"), "fc2", Options{})
	if err != nil {
		t.Fatal(err)
	}
	features := filepath.Join(t.TempDir(), "features.npy")
	if _, err := backbone.File(t.Context(), "gelu-inputs.npy", features, eval.Float32); err != nil {
		t.Fatal(err)
	}
	text, err := NewHeadConfig(features, "gelu-targets.npy")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ParseSpec("", text, "method={mcmc: {chains: 2, epochs: 12, keep: 4, move: {hmc: {steps: 3}}}}", "map={epochs: 3, restarts: 2}")
	if err != nil {
		t.Fatal(err)
	}
	_, dir := kept(t, spec)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	var answers [2]bytes.Buffer
	for i, in := range []string{features, "gelu-inputs.npy"} {
		p := run.Predictor(Options{})
		if i == 1 {
			p.Through = backbone
		}
		if _, err := p.To(t.Context(), in, &answers[i]); err != nil {
			t.Fatal(err)
		}
	}
	if from, by := answers[0].String(), answers[1].String(); from != by || strings.Contains(from, "NaN") {
		t.Errorf("from features:\n%s\nthrough the backbone:\n%s", from, by)
	}
}

// TestBackboneStandardises: features of a run's network are those of its best restart, for inputs standardised as the run's; in blocks, of a
// table and of an array, they are the same.
func TestBackboneStandardises(t *testing.T) {
	t.Chdir("testdata")
	spec := parsed(t, "trees.yaml", "data.csv.file=trees.csv", "method=map", "prior={normal: {fan_in: 2}}", "model.layers=[{dense: 6}, tanh, {dense: 5, name: two}, tanh, {dense: 3}]")
	r, dir := kept(t, spec)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := run.Backbone("two", Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1100 // more than a block
	text, values := "width,height,mass,age\n", []float64(nil)
	for i := range rows {
		values = append(values, math.Sin(float64(i)), float64(i%7), 4.5, 30+float64(i%11))
		for k, v := range values[4*i:] {
			text += strconv.FormatFloat(v, 'g', -1, 64) + string(",,,\n"[k])
		}
	}
	in, out := filepath.Join(t.TempDir(), "in.csv"), filepath.Join(t.TempDir(), "out.npy")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := b.File(t.Context(), in, out, eval.Float32); err != nil || n != rows {
		t.Fatal(n, err)
	}
	got, err := data.ReadNPY(out)
	if err != nil || !slices.Equal(got.Shape, []int{rows, 6}) {
		t.Fatal(err, got)
	}
	// tanh(W (x − mean)/sd + b) in float64, of the restart of least validation NLL
	best, standard := r.Restarts.Theta[r.Chosen*r.Restarts.Net.Dim():], run.Schema.Inputs
	for i, v := range got.Float64s() {
		row, unit := i/6, i%6
		want := float64(best[24+unit])
		for k := range 4 {
			want += float64(best[unit*4+k]) * (values[4*row+k] - standard.Mean[k]) / standard.SD[k]
		}
		if want = math.Tanh(want); !(math.Abs(v-want) <= 2e-6) {
			t.Fatalf("row %d, feature %d is %v, want %v", row, unit, v, want)
		}
	}

	// float16 is the nearest to float32.
	half := filepath.Join(t.TempDir(), "half.npy")
	if _, err := b.File(t.Context(), in, half, eval.Float16); err != nil {
		t.Fatal(err)
	}
	array, err := data.ReadNPY(half)
	if err != nil || array.DType() != "float16" {
		t.Fatal(err)
	}
	for i, v := range array.Float64s() {
		if x := got.Float64s()[i]; !(math.Abs(v-x) <= 0x1p-11*max(math.Abs(x), 0x1p-14)) {
			t.Fatalf("feature %d is %v in float16, %v in float32", i, v, x)
		}
	}
}

// TestBackboneRefuses: what cannot be done is refused with place and mend, and no file is left.
func TestBackboneRefuses(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "pytorch"))
	spec := parsed(t, "gelu.yaml")
	for layer, want := range map[string]string{"fc4": `did you mean "fc1"`, "fc1": "its inputs are those of the network itself"} {
		if _, err := Backbone(spec, layer, Options{}); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*ConfigError)) {
			t.Errorf("%s: %v, want %s", layer, err, want)
		}
	}
	if _, err := Backbone(untrained(parsed(t, "gelu.yaml", headChains, normal)), "fc3", Options{}); err == nil || !strings.Contains(err.Error(), "model.init: features are of a trained network") {
		t.Errorf("without a network: %v", err)
	}
	b, err := Backbone(spec, "last", Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.npy")
	if _, err := b.File(t.Context(), "gelu-inputs.npy", out, "float64"); err == nil || !strings.Contains(err.Error(), "want float32 or float16") {
		t.Errorf("float64: %v", err)
	}
	large := *b
	large.Theta = slices.Clone(b.Theta)
	for i := range large.Theta {
		large.Theta[i] *= 1e3
	}
	_, err = large.File(t.Context(), "gelu-inputs.npy", out, eval.Float16)
	if err == nil || !strings.Contains(err.Error(), "gelu-inputs.npy: row 0, from 0: feature ") || !strings.Contains(err.Error(), "more than float16 holds: write float32") {
		t.Errorf("large features: %v", err)
	}
	for i := range large.Theta {
		large.Theta[i] *= 1e30
	}
	if _, err = large.File(t.Context(), "gelu-inputs.npy", out, eval.Float32); err == nil || !strings.Contains(err.Error(), "the network overflows there") {
		t.Errorf("infinite features: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}

	// A run without a best restart, and with another file of weights.
	weights, err := os.ReadFile("gelu.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "weights.safetensors")
	if err := os.WriteFile(other, weights, 0o666); err != nil {
		t.Fatal(err)
	}
	_, asIs := kept(t, parsed(t, "gelu.yaml", "model.init="+other))
	run, err := OpenRun(asIs)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := run.Backbone("last", Options{}); err != nil || !slices.Equal(same.Theta, b.Theta) {
		t.Errorf("the network of a run as it is: %v", err)
	}
	weights[len(weights)-1] ^= 1
	if err := os.WriteFile(other, weights, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Backbone("last", Options{}); err == nil || !strings.Contains(err.Error(), "is not the file that the run in") || !errors.As(err, new(*DataError)) {
		t.Errorf("other weights: %v", err)
	}
	alone, err := ParseSpec("", []byte("data: {train: {inputs: gelu-inputs.npy, targets: gelu-targets.npy}}\nmodel: {layers: [{dense: 4}, relu, {dense: 3}], likelihood: categorical}\n"+
		"prior: {normal: {variance: 1}}\nmethod: {mcmc: {chains: 2, epochs: 8, keep: 2, start: prior, move: {hmc: {steps: 2}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	_, chains := kept(t, alone)
	if run, err = OpenRun(chains); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Backbone("last", Options{}); err == nil || !strings.Contains(err.Error(), "train one with method: map") {
		t.Errorf("chains alone: %v", err)
	}
}
