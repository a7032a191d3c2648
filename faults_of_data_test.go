package starling

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestLateFaults: a fault of the config that only the data show is reported at its line and column, or at its --set. A fault
// of the data themselves is not reported as a fault of the config.
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
	save(t, constant, []byte(testkit.Table(40, "yes", "no")))
	dir := t.TempDir()
	notes, zeros, gaps := filepath.Join(dir, "notes.csv"), filepath.Join(dir, "zeros.npy"), filepath.Join(dir, "gaps.npy")
	save(t, notes, []byte("a,a note,b,y\n1,7,2,yes\n2,x,NA,yes\n"+strings.Repeat("3,x,4,yes\n4,x,4,yes\n", 5)))
	labels := func(file string, of func(i int) byte) {
		raw := bytes.Replace(arrays.NPYHeader([]int{1000, 1}), []byte("<f8"), []byte("|u1"), 1)
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
		"outputs of no class":  {table, []string{"model.layers.0.dense=4"}, &config, "--set model.layers.0.dense=4: model.layers.0: testdata/trees.csv has 3 classes, the network 4 outputs: the classes have names, so want an output for each and no others"},
		"bernoulli":            {images, []string{"model.likelihood=bernoulli", "model.layers.1.dense=1"}, &config, "--set model.likelihood=bernoulli: model.likelihood: bernoulli is for 2 classes, examples/images-train-labels.npy has 9 classes (the largest label is 8): want"},
		"outputs of values":    {images, []string{"model.likelihood={gaussian: {sd: 1}}"}, &config, "c.yaml:3:46: model.layers.1: examples/images-train.npy has 1 target values an example, the network 9 outputs"},
		"outputs in pairs":     {images, []string{"model.likelihood={gaussian: {sd: predicted}}"}, &config, "--set model.likelihood={gaussian: {sd: predicted}}: model.likelihood: sd: predicted takes two outputs for each target value, its mean and its log σ: want an even number of outputs, the network has 9"},
		"outputs for values":   {images, []string{"model.likelihood={gaussian: {sd: predicted}}", "model.layers.1.dense=8"}, &config, "--set model.layers.1.dense=8: model.layers.1: examples/images-train.npy has 1 target values an example, the network 8 outputs: sd: predicted takes two for each value, want 2"},
		"small share":          {table, []string{"data.split={test: 0.01}"}, &config, "data.split.test: 0.01 of 90 examples is less than one"},
		"shares of a set":      {table, []string{"data.split={train: 0.85}"}, &config, "data.split: the shares add up to more than 1: train 0.85, validate 0.1 (where no share is given), test 0.1 (where no share is given)"},
		"share 0":              {table, []string{"data.split={test: 0}"}, &config, "data.split.test: want a number above 0, have 0"},
		"test rows":            {table, []string{"data.split={test_rows: " + notes + "}"}, &bad, notes + `: line 1: "a,a note,b,y" is not a row: want one row number a line`},
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
		"text":                 {table, []string{"data.csv={file: " + notes + ", target: y}"}, &bad, "line 3, column 2 (a note): \"x\" is not a number, and line 2 has one: a column holds either numbers or words, or is declared with data.csv.categories: leave the column out with data.csv.drop: [a note]"},
		"missing":              {table, []string{"data.csv={file: " + notes + ", target: y, drop: [a note]}"}, &bad, `line 3, column 3 (b): the value is missing: fill it or remove the row, or take data.csv.missing: indicator`},
		"one class":            {table, []string{"data.csv={file: " + notes + ", target: y, drop: [a note, b]}"}, &bad, "notes.csv: the target has one class only, yes, in all 10 training examples: there is nothing to learn"},
		"one label":            {images, []string{"data.train.targets=" + zeros}, &bad, "zeros.npy: the target has one class only, 0, in all 800 training examples: there is nothing to learn"},
		"gaps":                 {images, []string{"data.train.targets=" + gaps, "model.layers.1.dense=4"}, &config, "gaps.npy has 17 classes (the largest label is 16; no example has label 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, …), the network 4 outputs"},
		"gaps, elsewhere":      {images, []string{"data.test={inputs: examples/images-train.npy, targets: " + gaps + "}"}, &config, "gaps.npy has 17 classes (the largest label is 16; no example has label 9, 10, 11, 12, 13, 14, 15), the network 9 outputs"},
		"no classes":           {table, []string{"data.csv.target=mass"}, &bad, `line 2, column 3 (mass): 4.548 is not a class: classes are names or integers (is this a regression?)`},
		"cheap gradients":      {table, []string{"method.smc={path: {full: {}}, move: {leapfrog: {step: 0.1, gradient: {batch: 500}}}}"}, &config, "method.smc.move.leapfrog.gradient: 500 examples save nothing: a mini-batch must be smaller than the"},
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
