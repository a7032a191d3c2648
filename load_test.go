package starling

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestStandardiseEveryPart: inputs of all parts, foreign groups included, are measured in the means and standard
// deviations of the training examples, which are computed anew here from the inputs as they were.
func TestStandardiseEveryPart(t *testing.T) {
	parts := func(sets ...string) map[string]*data.Set {
		spec := preset(t, "mnist7", sets...)
		p, err := spec.load("", nil)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*data.Set{"train": p.Train, "validate": p.Validate, "test": p.Test}
		for _, g := range p.Groups {
			all[g.Name] = g.Set
		}
		return all
	}
	raw, scaled := parts("data.standardise=none"), parts("data.standardise=inputs")
	n, features := float64(raw["train"].Len()), raw["train"].Features()
	x, y := make([]float64, features), make([]float64, features)
	mean, square := make([]float64, features), make([]float64, features)
	for i := range raw["train"].Len() {
		raw["train"].Row(i, x)
		for f, v := range x {
			mean[f] += v / n
			square[f] += v * v / n
		}
	}
	for name, set := range raw {
		for i := 0; i < set.Len(); i += 97 {
			set.Row(i, x)
			scaled[name].Row(i, y)
			for f, v := range x {
				want := 0.0 // where all training examples are the same
				if sd := math.Sqrt(square[f] - mean[f]*mean[f]); sd > 1e-6 {
					want = (v - mean[f]) / sd
				}
				if !(math.Abs(y[f]-want) <= 1e-4*(1+math.Abs(want))) {
					t.Fatalf("%s: example %d, feature %d is %v, want %v", name, i, f, y[f], want)
				}
			}
		}
	}
}

// TestRunMeasuresOtherSetsAsItsOwn: a set by name meets the standardisation of the run, not one of its own.
func TestRunMeasuresOtherSetsAsItsOwn(t *testing.T) {
	spec := preset(t, "mnist7", "data.standardise=inputs")
	own, err := spec.load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Spec: spec, Schema: own.Schema}
	run.Spec.Data.Set = "another"
	other, err := run.problem(On{Data: "mnist7"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(own.Test.F32, other.Test.F32) {
		t.Error("the same test examples differ")
	}
}

// TestLateFaults: what only the data show is pointed at in the config, line and column, or in the --set that brought it;
// what is wrong with the data themselves is no fault of the config.
func TestLateFaults(t *testing.T) {
	const images = `data: {train: {inputs: examples/images-train.npy, targets: examples/images-train-labels.npy}}
model:
  layers: [{conv: {filters: 2, kernel: 3}}, {dense: 9}]
  likelihood: categorical
prior: {normal: {variance: 1}}
method: {smc: {particles: 3}}
`
	const table = `data:
  csv: {file: testdata/trees.csv, target: kind}
model:
  input: [4]
  layers: [{dense: 3}]
  likelihood: categorical
prior: {normal: {variance: 1}}
method: {smc: {particles: 3}}
`
	constant := filepath.Join(t.TempDir(), "constant.csv")
	save(t, constant, []byte(lines(40, "yes", "no")))
	dir := t.TempDir()
	notes, zeros, gaps := filepath.Join(dir, "notes.csv"), filepath.Join(dir, "zeros.npy"), filepath.Join(dir, "gaps.npy")
	save(t, notes, []byte("a,a note,b,y\n1,first,2,yes\n2,x,NA,yes\n"+strings.Repeat("3,x,4,yes\n4,x,4,yes\n", 5)))
	labels := func(file string, of func(i int) byte) {
		raw := bytes.Replace(data.NPYHeader([]int{1000, 1}), []byte("<f8"), []byte("|u1"), 1)
		for i := range 1000 {
			raw = append(raw, of(i))
		}
		save(t, file, raw)
	}
	labels(zeros, func(int) byte { return 0 })
	labels(gaps, func(i int) byte { return []byte{3, 16}[i%2] })
	var config *ConfigError
	var bad *DataError
	for name, c := range map[string]struct {
		text   string
		sets   []string
		target any
		want   string
	}{
		"kernel":               {strings.Replace(images, "kernel: 3", "kernel: 30", 1), nil, &config, "c.yaml:3:13: model.layers.0: layer 0 (conv): the window [30 30] is larger than the input [8 8]"},
		"kernel, set":          {images, []string{"model.layers.0.conv.kernel=30"}, &config, "--set model.layers.0.conv.kernel=30: model.layers.0"},
		"few outputs":          {strings.Replace(images, "dense: 9", "dense: 8", 1), nil, &config, "c.yaml:3:46: model.layers.1: examples/images-train-labels.npy has 9 classes (the largest label is 8), the network 8 outputs"},
		"few outputs, set":     {images, []string{"model.layers.1.dense=8"}, &config, "--set model.layers.1.dense=8: model.layers.1: "},
		"bernoulli":            {images, []string{"model.likelihood=bernoulli", "model.layers.1.dense=1"}, &config, "--set model.likelihood=bernoulli: model.likelihood: bernoulli is for 2 classes, examples/images-train-labels.npy has 9 classes (the largest label is 8): want"},
		"outputs of values":    {images, []string{"model.likelihood={gaussian: {sd: 1}}"}, &config, "c.yaml:3:46: model.layers.1: examples/images-train.npy has 1 target values an example, the network 9 outputs"},
		"set of classes":       {table, []string{"data={set: mnist7}", "model.likelihood={gaussian: {sd: 1}}", "model.input=[1, 28, 28]"}, &config, "model.likelihood: gaussian predicts numbers, mnist7 has classes"},
		"input":                {table, []string{"model.input=[5]"}, &config, "--set model.input=[5]: model.input: testdata/trees.csv has examples of shape [4], the network takes [5]: leave input out"},
		"input as it is":       {strings.Replace(table, "[4]", "[2, 3, 4]", 1), nil, &config, "c.yaml:4:10: model.input: testdata/trees.csv has examples of shape [4], the network takes [2 3 4]"},
		"dropped":              {table, []string{"data.csv={file: " + constant + ", target: y}", "model.input=[3]"}, &config, "has examples of shape [2], the network takes [3]: column same is constant over the training rows and was dropped"},
		"target":               {table, []string{"data.csv.target=kinds"}, &config, `--set data.csv.target=kinds: data.csv.target: testdata/trees.csv: no column "kinds" among "width", "height", "mass", "age", "kind": did you mean "kind"?`},
		"target by number":     {strings.Replace(table, "kind}", "kind, header: false}", 1), nil, &config, `c.yaml:2:43: data.csv.target: testdata/trees.csv: no column "kind": the table has no header`},
		"names":                {strings.Replace(table, "categorical", "{gaussian: {sd: 1}}", 1), nil, &config, `c.yaml:6:16: model.likelihood: gaussian predicts numbers, but testdata/trees.csv: column 5 (kind) holds names such as "ash"`},
		"delimiter":            {table, []string{"data.csv.delimiter=;"}, &config, "data.csv.target: testdata/trees.csv: no column"},
		"standardised set":     {table, []string{"data={set: pima, standardise: inputs}", "model.input=[9]"}, &bad, "pima"},
		"dropped, not there":   {table, []string{"data.csv.drop=[age, mas]"}, &config, `--set data.csv.drop=[age, mas]: data.csv.drop.1: testdata/trees.csv: no column "mas" among "width", "height", "mass", "age", "kind": did you mean "mass"?`},
		"dropped, in the file": {strings.Replace(table, "kind}", "kind, drop: [age, colour]}", 1), nil, &config, `c.yaml:2:61: data.csv.drop.1: testdata/trees.csv: no column "colour" among "width", "height", "mass", "age", "kind"`},
		"dropped target":       {strings.Replace(table, "kind}", "kind, drop: [age, kind]}", 1), nil, &config, "c.yaml:2:61: data.csv.drop.1: kind is the target"},
		"text":                 {table, []string{"data.csv={file: " + notes + ", target: y}"}, &bad, "line 2, column 2 (a note): \"first\" is not a number: leave the column out with data.csv.drop: [a note]"},
		"missing":              {table, []string{"data.csv={file: " + notes + ", target: y, drop: [a note]}"}, &bad, `line 3, column 3 (b): "NA" is not a number (a missing value is an empty cell or nan): fill it, remove the row, or leave the column out with data.csv.drop: [b]`},
		"one class":            {table, []string{"data.csv={file: " + notes + ", target: y, drop: [a note, b]}"}, &bad, "notes.csv: the target has one class only, yes, in all 10 training examples: there is nothing to learn"},
		"one label":            {images, []string{"data.train.targets=" + zeros}, &bad, "zeros.npy: the target has one class only, 0, in all 800 training examples: there is nothing to learn"},
		"gaps":                 {images, []string{"data.train.targets=" + gaps, "model.layers.1.dense=4"}, &config, "gaps.npy has 17 classes (the largest label is 16; no example has label 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, …), the network 4 outputs"},
		"gaps, elsewhere":      {images, []string{"data.test={inputs: examples/images-train.npy, targets: " + gaps + "}"}, &config, "gaps.npy has 17 classes (the largest label is 16; no example has label 9, 10, 11, 12, 13, 14, 15), the network 9 outputs"},
		"no classes":           {table, []string{"data.csv.target=mass"}, &bad, `line 2, column 5 (kind): "ash" is not a number`},
		"cheap gradients":      {table, []string{"method.smc={path: {full: {}}, move: {leapfrog: {step: 0.1, gradient: {batch: 500}}}}"}, &config, "method.smc.move.leapfrog.gradient: 500 examples are not fewer than the"},
		"no array":             {images, []string{"data.train.inputs=examples/none.npy"}, &bad, "examples/none.npy"},
		"labels":               {images, []string{"data.train.targets=examples/images-test-labels.npy"}, &bad, "labels of shape [617] for 1000 examples"},
		"test's shape":         {images, []string{"data.test={inputs: " + constant + ", targets: " + constant + "}"}, &bad, constant},
		"group's shape":        {images, []string{"data.groups={trees: testdata/wave.csv}"}, &bad, "testdata/wave.csv: rows of 3 values, the run was trained on examples of shape [1 8 8]"},
		"group of a table":     {table, []string{"data.groups={images: examples/images-nine.npy}"}, &bad, "examples/images-nine.npy: examples of shape [1 8 8], the run was trained on rows of 4 inputs, or 5 columns with the target"},
	} {
		spec, err := ParseSpec("c.yaml", []byte(c.text), c.sets...)
		if err == nil {
			_, err = Fit(context.Background(), spec, Options{})
		}
		if err == nil || !errors.As(err, c.target) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
		}
	}
}

// TestGroups: files of foreign inputs, and whole sets, are seen as the network's own inputs are.
func TestGroups(t *testing.T) {
	file := filepath.Join(t.TempDir(), "far.csv")
	save(t, file, []byte("mass,width,height,age\n100,1,2,3\n200,4,5,6\n"))
	spec := trees(t, "data.groups={far: "+file+"}")
	p, err := spec.load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Schema.Inputs
	if len(p.Groups) != 1 || p.Groups[0].Name != "far" || p.Groups[0].Set.Len() != 2 || p.Groups[0].Set.Labels != nil {
		t.Fatalf("groups %+v", p.Groups)
	}
	for k, v := range []float64{1, 2, 100, 3} {
		if got := p.Groups[0].Set.F32[k]; got != float32((v-s.Mean[k])/s.SD[k]) {
			t.Errorf("input %d of the group is %v", k, got)
		}
	}
}

// TestAsIsSplitsNothing: a network that is judged as it is sees all examples, in one part.
func TestAsIsSplitsNothing(t *testing.T) {
	for from, want := range map[string]int{
		"{csv: {file: testdata/trees.csv, target: kind}}":                                         90,
		"{train: {inputs: examples/images-train.npy, targets: examples/images-train-labels.npy}}": 1000,
		"{set: mnist7}": 1200,
	} {
		spec, err := ParseSpec("c.yaml", []byte("data: "+from+"\nmodel: {init: x.safetensors, layers: [{dense: 9}], likelihood: categorical}\nmethod: as-is\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := spec.load("", nil)
		if err != nil {
			t.Fatal(err)
		}
		if known := spec.Data.Set != ""; p.Train.Len() != want || (p.Test == nil) == known || (p.Validate == nil) == known {
			t.Errorf("%s: %d to train", from, p.Train.Len())
		}
	}
}

// TestOn: what a run can be judged on, and what not.
func TestOn(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		save(t, filepath.Join(dir, name), []byte(text))
		return filepath.Join(dir, name)
	}
	run := quick(t, lines(60, "yes", "no"), "categorical", 2)
	again := file("again.csv", "y,b,a\nno,0.001,50\nyes,0,51\nno,0,49\n")
	other := file("other.csv", "a,same,b\n10,7,5\n90,7,5\n")
	var config *ConfigError
	var bad *DataError
	for name, c := range map[string]struct {
		run    *Run
		on     On
		n      int
		groups string
		target any
		want   string
	}{
		"own":            {run, On{}, 6, "", nil, ""},
		"table":          {run, On{Data: again}, 3, "", nil, ""},
		"foreign":        {run, On{Data: again, OOD: []string{other}}, 3, "other", nil, ""},
		"own, foreign":   {run, On{OOD: []string{other, again}}, 6, "other again", nil, ""},
		"twice":          {run, On{OOD: []string{other, other}}, 0, "", &config, "there is a group other already"},
		"labels alone":   {run, On{Labels: again}, 0, "", &config, "need a file of inputs"},
		"no such":        {run, On{Data: "mnist8"}, 0, "", &config, `unknown data set "mnist8"`},
		"no file":        {run, On{OOD: []string{"mnist8"}}, 0, "", &config, "and no file mnist8"},
		"set of another": {run, On{Data: "mnist7"}, 0, "", &bad, "mnist7: examples of shape [1 28 28], the run was trained on examples of shape [2]"},
		"foreign set":    {run, On{OOD: []string{"mnist7"}}, 0, "", &bad, "mnist7: examples of shape [1 28 28]"},
		"other class":    {run, On{Data: file("class.csv", "a,b,y\n1,2,maybe\n")}, 0, "", &bad, `"maybe" is no class of the run ("no", "yes")`},
		"no target":      {run, On{Data: other}, 0, "", &bad, `lacks the target, column "y" of the run`},
		"array alone":    {run, On{Data: "examples/images-test.npy"}, 0, "", &config, "the file of their labels is needed"},
		"array's shape":  {run, On{Data: "examples/images-test.npy", Labels: "examples/images-test-labels.npy"}, 0, "", &bad, "the run was trained on rows of 2 inputs"},
	} {
		p, err := c.run.problem(c.on, Options{})
		if c.target != nil {
			if err == nil || !errors.As(err, c.target) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var groups []string
		for _, g := range p.Groups {
			groups = append(groups, g.Name)
		}
		if p.Test.Len() != c.n || strings.Join(groups, " ") != c.groups {
			t.Errorf("%s: %d examples, groups %q", name, p.Test.Len(), groups)
		}
		if _, err := c.run.Judge(t.Context(), c.on, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A data.json that says otherwise than the training examples gives other examples, which the run was not made of.
	tampered := *run
	schema := *run.Schema
	schema.Inputs = &data.Standard{Mean: []float64{0, 0}, SD: []float64{1, 1}, To: 1}
	tampered.Schema = &schema
	if _, err := tampered.problem(On{}, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "are not those of the run") {
		t.Errorf("another data.json: %v", err)
	}
	p, err := run.problem(On{Data: again}, Options{})
	if err != nil || !slices.Equal(p.Test.Labels, []int32{0, 1, 0}) {
		t.Errorf("labels of another table: %+v, %v", p, err)
	}

	// The run's own test images by their files are the same examples, judged to the same bit.
	const config1 = "{train: {inputs: examples/images-train.npy, targets: examples/images-train-labels.npy}, test: {inputs: examples/images-test.npy, targets: examples/images-test-labels.npy}}"
	images := tiny(t, config1, "categorical", 9)
	own, err := images.Judge(t.Context(), On{OOD: []string{"examples/images-nine.npy"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	byName, err := images.Judge(t.Context(), On{Data: "examples/images-test.npy", Labels: "examples/images-test-labels.npy", OOD: []string{"examples/images-nine.npy"}}, Options{})
	if err != nil || own.Metrics.NLL != byName.Metrics.NLL || own.Problem.Groups[0].Name != "images-nine" {
		t.Errorf("NLL %v as its own, %v by name, %v", own.Metrics.NLL, byName.Metrics.NLL, err)
	}
}
