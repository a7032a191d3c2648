package data

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/sets"
)

// Files of the tree that tests of loading use.
const (
	treesCSV    = "../testdata/trees.csv" // width, height, mass, age, kind
	trainImages = "../examples/images-train.npy"
	trainLabels = "../examples/images-train-labels.npy"
	testImages  = "../examples/images-test.npy"
	testLabels  = "../examples/images-test-labels.npy"
)

// put writes a file to a folder and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// putNPY writes a float64 array.
func putNPY(t *testing.T, dir, name string, shape []int, values []float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNPY(&b, shape, values); err != nil {
		t.Fatal(err)
	}
	return put(t, dir, name, b.String())
}

// putLabels writes an array [len(labels)] of uint8.
func putLabels(t *testing.T, dir, name string, labels []byte) string {
	t.Helper()
	header := strings.Replace(string(arrays.NPYHeader([]int{len(labels)})), "<f8", "|u1", 1)
	return put(t, dir, name, header+string(labels))
}

// putPima writes a table of pima's form below a data directory, and pins it until the end of the test.
func putPima(t *testing.T, dir string) {
	t.Helper()
	const text = "glucose,diabetes\n1,1\n2,1\n"
	table, err := DecodeCSV("pima.csv", []byte(text), CSV{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sets.Pin("pima", "uci/pima.csv", table))
	path := filepath.Join(dir, "uci", "pima.csv")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(path), filepath.Base(path), text)
}

func loaded(t *testing.T, s Settings, need Need) *Problem {
	t.Helper()
	p, err := s.Load("", need)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parts are the sets of a problem by name.
func parts(p *Problem) map[string]*Set {
	sets := map[string]*Set{}
	for _, part := range p.Parts() {
		sets[part.Name] = part.Set
	}
	return sets
}

// TestStandardiseEveryPart: inputs of all parts, groups included, are measured in the means and standard deviations of the
// training examples, which are computed anew here from the inputs as they were.
func TestStandardiseEveryPart(t *testing.T) {
	raw := parts(loaded(t, Settings{Set: "mnist7", Standardise: "none"}, Need{}))
	scaled := parts(loaded(t, Settings{Set: "mnist7", Standardise: "inputs"}, Need{}))
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
				if !golden.Near(y[f], want, 1e-4, 1e-4) {
					t.Fatalf("%s: example %d, feature %d is %v, want %v", name, i, f, y[f], want)
				}
			}
		}
	}
}

// TestLoadRefuses: what the examples show to be wrong with the settings is a *FieldError with its field; what is wrong with
// the examples themselves is not.
func TestLoadRefuses(t *testing.T) {
	dir, no := t.TempDir(), false
	notes := put(t, dir, "notes.csv", "a,a note,b,y\n1,7,2,yes\n2,x,NA,yes\n"+strings.Repeat("3,x,4,yes\n4,x,4,yes\n", 5))
	zeros := putLabels(t, dir, "zeros.npy", make([]byte, 1000))
	putPima(t, dir)
	trees := CSV{File: treesCSV, Target: "kind"}
	change := func(o CSV, f func(o *CSV)) *CSV { f(&o); return &o }
	images := &Arrays{trainImages, trainLabels}
	for name, c := range map[string]struct {
		s     Settings
		need  Need
		field string // of a *FieldError; empty: none
		want  string
	}{
		"target":               {Settings{CSV: change(trees, func(o *CSV) { o.Target = "kinds" })}, Need{}, "csv.target", treesCSV + `: no column "kinds" among "width", "height", "mass", "age", "kind": did you mean "kind"?`},
		"target by number":     {Settings{CSV: change(trees, func(o *CSV) { o.Header = &no })}, Need{}, "csv.target", treesCSV + `: no column "kind": the table has no header`},
		"delimiter":            {Settings{CSV: change(trees, func(o *CSV) { o.Delimiter = ";" })}, Need{}, "csv.target", "a single column; is the delimiter right?"},
		"dropped, not there":   {Settings{CSV: change(trees, func(o *CSV) { o.Drop = []string{"age", "mas"} })}, Need{}, "csv.drop.1", treesCSV + `: no column "mas" among "width", "height", "mass", "age", "kind": did you mean "mass"?`},
		"standardised already": {Settings{Set: "pima", Standardise: "inputs"}, Need{}, "standardise", "the inputs of pima come standardised: want none"},
		"text":                 {Settings{CSV: &CSV{File: notes, Target: "y"}}, Need{}, "", `line 3, column 2 (a note): "x" is not a number, and line 2 has one: a column holds either numbers or words, or is declared with data.csv.categories: leave the column out with data.csv.drop: [a note]`},
		"missing":              {Settings{CSV: &CSV{File: notes, Target: "y", Drop: []string{"a note"}}}, Need{}, "", `line 3, column 3 (b): the value is missing: fill it or remove the row, or take data.csv.missing: indicator`},
		"text, by number":      {Settings{CSV: &CSV{File: put(t, dir, "bare.csv", "1,x,2\n3,7,4\n"), Target: "1"}}, Need{}, "", `leave the column out with data.csv.drop: ["2"]`},
		"one class":            {Settings{CSV: &CSV{File: notes, Target: "y", Drop: []string{"a note", "b"}}}, Need{}, "", "notes.csv: the target has one class only, yes, in all 10 training examples: there is nothing to learn"},
		"one label":            {Settings{Train: &Arrays{trainImages, zeros}}, Need{}, "", "zeros.npy: the target has one class only, 0, in all 800 training examples: there is nothing to learn"},
		"no classes":           {Settings{CSV: change(trees, func(o *CSV) { o.Target = "mass" })}, Need{}, "", `line 2, column 3 (mass): 4.548 is not a class: classes are names or integers (is this a regression?)`},
		"few rows":             {Settings{CSV: &CSV{File: put(t, dir, "few.csv", "a,y\n1,2\n2,3\n"), Target: "y"}}, Need{Regression: true}, "", "few.csv: too few examples to hold out 2 parts: 2"},
		"no array":             {Settings{Train: &Arrays{"none.npy", trainLabels}}, Need{}, "", "none.npy"},
		"labels":               {Settings{Train: &Arrays{trainImages, testLabels}}, Need{}, "", "labels of shape [617] for 1000 examples"},
		"test's format":        {Settings{Train: images, Test: &Arrays{notes, notes}}, Need{}, "", notes},
		"group's shape":        {Settings{Train: images, Groups: []GroupFile{{"waves", "../testdata/wave.csv"}}}, Need{}, "", "../testdata/wave.csv: rows of 3 values, the run was trained on examples of shape [1 8 8]"},
		"group of a table":     {Settings{CSV: &trees, Groups: []GroupFile{{"images", "../examples/images-nine.npy"}}}, Need{}, "", "examples/images-nine.npy: examples of shape [1 8 8], the run was trained on rows of 4 inputs, or 5 columns with the target"},
		"memory elsewhere":     {Settings{Memory: &Memory{}}, Need{}, "memory", "the examples of this run were in a program's memory: on the command line, starling evaluate RUN --data FILE and starling predict RUN take"},
	} {
		_, err := c.s.Load(dir, c.need)
		var field *FieldError
		if is := errors.As(err, &field); err == nil || is != (c.field != "") || is && (field.Field != c.field || err.Error() != "data."+c.field+": "+field.Message) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %q of %q", name, err, err, c.want, c.field)
		}
	}
	var names *NamesError
	if _, err := (Settings{CSV: &trees}).Load("", Need{Regression: true}); !errors.As(err, &names) || !strings.Contains(err.Error(), treesCSV+`: column 5 (kind) holds names such as "ash"`) {
		t.Errorf("names for numbers: %v", err)
	}
}

// TestLoadGroups: files of out-of-distribution inputs are seen as the network's own inputs are.
func TestLoadGroups(t *testing.T) {
	file := put(t, t.TempDir(), "far.csv", "mass,width,height,age\n100,1,2,3\n200,4,5,6\n")
	p := loaded(t, Settings{CSV: &CSV{File: treesCSV, Target: "kind"}, Groups: []GroupFile{{"far", file}}}, Need{})
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

// TestWholeSplitsNothing: of examples that stay together there is one part, whether the settings say so or the method.
func TestWholeSplitsNothing(t *testing.T) {
	memory := &Memory{Train: &Slices{Inputs: [][]float64{{1}, {2}, {3}}, Labels: []int{0, 1, 1}}}
	for _, c := range []struct {
		s    Settings
		want int
	}{
		{Settings{CSV: &CSV{File: treesCSV, Target: "kind"}}, 90},
		{Settings{Train: &Arrays{trainImages, trainLabels}}, 1000},
		{Settings{Memory: memory}, 3},
		{Settings{Set: "mnist7"}, 1200},
	} {
		whole := c.s
		whole.Whole = true
		for _, p := range []*Problem{loaded(t, c.s, Need{Whole: true}), loaded(t, whole, Need{})} {
			if own := c.s.Set != ""; p.Train.Len() != c.want || (p.Test == nil) == own || (p.Validate == nil) == own {
				t.Errorf("%+v: %d to train", c.s, p.Train.Len())
			}
		}
	}
}

// TestLoadOneProblem: the same rows as a table, as float64 arrays in files and as slices in memory make the same problem to
// the last bit, also when they are loaded again by the schema of the first. One input is a time in seconds, which float32
// cannot tell from the next; so is a target. A table of classes is divided in another way than arrays, so its problem is the same
// where nothing is held out.
func TestLoadOneProblem(t *testing.T) {
	const n = 80
	dir := t.TempDir()
	var inputs [][]float64
	var x, y []float64
	var labels []int
	var bytes []byte
	rows, classes := "t,u,y\n", "t,u,y\n"
	for i := range n {
		a, b := 1.7e9+20*math.Sin(float64(i)), math.Cos(float64(3*i))/7
		v := 3e9 + 20*b + (a-1.7e9)/3
		inputs, x, y, labels, bytes = append(inputs, []float64{a, b}), append(x, a, b), append(y, v), append(labels, i%2), append(bytes, byte(i%2))
		rows += fmt.Sprintf("%v,%v,%v\n", a, b, v)
		classes += fmt.Sprintf("%v,%v,%d\n", a, b, i%2)
	}
	xFile := putNPY(t, dir, "x.npy", []int{n, 2}, x)
	for _, c := range []struct {
		regression           bool
		table, targets, both string
		slices               Slices
	}{
		{false, put(t, dir, "classes.csv", classes), putLabels(t, dir, "labels.npy", bytes), "inputs", Slices{Inputs: inputs, Labels: labels}},
		{true, put(t, dir, "rows.csv", rows), putNPY(t, dir, "y.npy", []int{n}, y), "both", Slices{Inputs: inputs, Targets: y}},
	} {
		flat := c.slices
		flat.Inputs, flat.Array = nil, &Array{Shape: []int{n, 2}, Values: x}
		settings := []Settings{
			{CSV: &CSV{File: c.table, Target: "y"}, Groups: []GroupFile{{"again", c.table}}},
			{Train: &Arrays{xFile, c.targets}, Groups: []GroupFile{{"again", xFile}}},
			{Memory: &Memory{Train: &c.slices, Groups: []MemoryGroup{{"again", Slices{Inputs: inputs}}}}},
			{Memory: &Memory{Train: &flat, Groups: []MemoryGroup{{"again", Slices{Array: flat.Array}}}}},
		}
		var first *Problem
		var whole map[string]string
		for k, s := range settings {
			s.Standardise = c.both
			p := loaded(t, s, Need{Regression: c.regression, Seed: 5})
			if sums := loaded(t, s, Need{Regression: c.regression, Whole: true}).Checksums(); whole == nil {
				whole = sums
			} else if len(sums) != 2 || !reflect.DeepEqual(sums, whole) {
				t.Errorf("settings %d: other examples where nothing is held out: %v", k, sums)
			}
			if first == nil || !c.regression && k == 1 {
				first = p
			}
			if !reflect.DeepEqual(p.Schema.Inputs, first.Schema.Inputs) || !reflect.DeepEqual(p.Schema.Targets, first.Schema.Targets) {
				t.Errorf("settings %d: measured %v, %v", k, p.Schema.Inputs, p.Schema.Targets)
			}
			if sums := p.Checksums(); len(sums) != 4 || !reflect.DeepEqual(sums, first.Checksums()) {
				t.Errorf("settings %d: other examples: %v", k, sums)
			}
			s.Standardise = "" // the schema says it
			again := loaded(t, s, Need{Regression: c.regression, Seed: 5, Schema: p.Schema})
			if again.Schema != p.Schema || !reflect.DeepEqual(again.Checksums(), p.Checksums()) {
				t.Errorf("settings %d: other examples when loaded again", k)
			}
			if other := loaded(t, s, Need{Regression: c.regression, Seed: 6}); other.Checksums()["test"] == p.Checksums()["test"] {
				t.Errorf("settings %d: the seed plays no part", k)
			}
		}
		if len(parts(first)) != 4 || first.Test.Len() != 8 || first.Validate.Len() != 8 || first.Train.Len() != 64 {
			t.Errorf("parts of %d, %d, %d", first.Train.Len(), first.Validate.Len(), first.Test.Len())
		}
	}
}

// TestNotes: columns that are dropped, features that become 0, few by name, and images whose channels seem to come last.
func TestFindings(t *testing.T) {
	const n = 30
	dir := t.TempDir()
	var x, y []float64
	for i := range n {
		x, y = append(x, float64(i), 1e17, 3, math.Sin(float64(i))), append(y, float64(i))
	}
	images := func(name string, shape ...int) string {
		values := make([]float64, size(shape))
		for i := range values {
			values[i] = math.Sin(float64(i))
		}
		return putNPY(t, dir, name, shape, values)
	}
	inputs, targets := putNPY(t, dir, "x.npy", []int{n, 4}, x), putNPY(t, dir, "y.npy", []int{n}, y)
	last, first := images("last.npy", n, 4, 4, 3), images("first.npy", n, 3, 4, 4)
	table := "a,same,b,also,y\n"
	for i := range n {
		table += fmt.Sprintf("%d.5,7,%d,8,%d\n", i+2, i*i%7, i)
	}
	columns := put(t, dir, "columns.csv", table)
	bare := put(t, dir, "bare.csv", strings.ReplaceAll(table[strings.Index(table, "\n")+1:], ",8,", ",3.5,"))
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Train: &Arrays{inputs, targets}, Standardise: "inputs"}, "2 features (from 0: 1, 2) are constant over the training examples: the network sees them as 0 everywhere"},
		{Settings{Train: &Arrays{inputs, targets}, Standardise: "none"}, ""},
		{Settings{Train: &Arrays{last, targets}}, last + ": taken as 4 channels of 4×3. If the channels are last, move them before you save the array: np.moveaxis(x, -1, 1)"},
		{Settings{Train: &Arrays{first, targets}}, ""},
		{Settings{CSV: &CSV{File: columns, Target: "y"}}, "columns same, also are constant over the training rows and were dropped"},
		{Settings{CSV: &CSV{File: columns, Target: "y", Drop: []string{"also"}}}, "column same is constant over the training rows and was dropped"},
		{Settings{CSV: &CSV{File: bare, Target: "5", Drop: []string{"4"}}}, "column number 2 is constant over the training rows and was dropped"},
	} {
		p := loaded(t, c.s, Need{Regression: true})
		var words []string
		for _, f := range p.Findings() {
			words = append(words, f.Words())
		}
		if got := strings.Join(words, "; "); got != c.want {
			t.Errorf("notes %q, want %q", got, c.want)
		}
	}
	schema := &Schema{Inputs: &Standard{SD: []float64{0, 1, 0}}}
	if got, channels := schema.alwaysZero(); !slices.Equal(got, []int{0, 2}) || channels {
		t.Error(got)
	}
}

// TestUnseenClasses: classes that only validation and test examples have are named, once each, with the number of these examples.
func TestUnseenClasses(t *testing.T) {
	few := [][]float64{{1, 5}, {2, 4}, {3, 3}, {4, 1}}
	of := func(validate, test []int) *Problem {
		return loaded(t, Settings{Memory: &Memory{
			Train: &Slices{Inputs: slices.Repeat(few, 3), Labels: slices.Repeat([]int{0, 1}, 6)}, Validate: &Slices{Inputs: few[:2], Labels: validate}, Test: &Slices{Inputs: few[:3], Labels: test},
		}}, Need{})
	}
	if found := of([]int{1, 0}, []int{0, 1, 1}).Findings(); len(found) > 0 {
		t.Errorf("every class has training examples: %s", found[0].Words())
	}
	found := of([]int{1, 3}, []int{3, 2, 0}).Findings()
	if len(found) != 1 || !strings.HasPrefix(found[0].Words(), "no training example has the classes 3 and 2, which 3 validation and test examples have. Take ") {
		t.Errorf("%+v", found)
	}
}

// TestRareClasses: classes of one to four training examples are named with their number, and no others.
func TestRareClasses(t *testing.T) {
	labels := slices.Concat(slices.Repeat([]int{0}, 5), slices.Repeat([]int{1}, 4), []int{3}, slices.Repeat([]int{2}, 9))
	inputs := make([][]float64, len(labels))
	for i := range inputs {
		inputs[i] = []float64{float64(i)}
	}
	found := loaded(t, Settings{Memory: &Memory{Train: &Slices{Inputs: inputs, Labels: labels}}, Whole: true}, Need{}).Findings()
	if len(found) != 1 || !strings.HasPrefix(found[0].Words(), "the classes 1 (4) and 3 (1) have fewer than 5 training examples. Take ") {
		t.Errorf("%+v", found)
	}
}

// TestClassCount: how many classes there are is said with the file whose labels say so, and the labels that no example has.
func TestClassCount(t *testing.T) {
	dir := t.TempDir()
	gaps := make([]byte, 1000)
	for i := range gaps {
		gaps[i] = []byte{3, 16}[i%2]
	}
	file := putLabels(t, dir, "gaps.npy", gaps)
	table := put(t, dir, "own.csv", "x,y\n1,no\n2,yes\n3,no\n5,yes\n7,no\n")
	with := func(o CSV) Settings {
		o.File, o.Target = table, "y"
		return Settings{CSV: &o}
	}
	other, same := put(t, dir, "other.csv", "x,y\n1,false\n2,true\n3,no\n"), put(t, dir, "same.csv", "x,y\n1,yes\n")
	one := put(t, dir, "one.csv", "x,y\n1,maybe\n")
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Set: "mnist7"}, "mnist7 has 8 classes"},
		{with(CSV{Validate: same}), table + " has 2 classes"},
		{with(CSV{Test: other, Validate: same}), table + " has 2 classes, and " + other + ` has "false", "true", which ` + table + " has not: 4 classes in all"},
		{with(CSV{Test: other, Validate: one}), table + " has 2 classes, and " + other + ` has "false", "true", which ` + table + " has not, and " + one + ` has "maybe", which ` + table + " has not: 5 classes in all"},
		{Settings{Train: &Arrays{trainImages, trainLabels}}, trainLabels + " has 9 classes (the largest label is 8)"},
		{Settings{Train: &Arrays{trainImages, file}}, file + " has 17 classes (the largest label is 16; no example has label 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, …)"},
		{Settings{Train: &Arrays{trainImages, trainLabels}, Test: &Arrays{trainImages, file}}, file + " has 17 classes (the largest label is 16; no example has label 9, 10, 11, 12, 13, 14, 15)"},
		{Settings{Memory: &Memory{Train: &Slices{Inputs: slices.Repeat([][]float64{{1}, {2}}, 20), Labels: slices.Repeat([]int{0, 2}, 20)}}}, "Memory.Train.Labels has 3 classes (the largest label is 2; no example has label 1)"},
	} {
		if got := loaded(t, c.s, Need{}).ClassCount(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestLoadAgain: a run that is loaded again measures nothing anew: its schema says how every part is standardised.
func TestLoadAgain(t *testing.T) {
	labels := slices.Repeat([]int{0, 1, 2}, 20)
	var inputs [][]float64
	for i := range 60 {
		inputs = append(inputs, []float64{float64(i * i), float64(i)})
	}
	for name, s := range map[string]Settings{
		"table":  {CSV: &CSV{File: treesCSV, Target: "kind"}},
		"arrays": {Train: &Arrays{trainImages, trainLabels}, Standardise: "inputs"},
		"memory": {Memory: &Memory{Train: &Slices{Inputs: inputs, Labels: labels}}, Standardise: "inputs"},
		"set":    {Set: "mnist7", Standardise: "inputs"},
	} {
		first := loaded(t, s, Need{})
		schema := *first.Schema
		schema.Inputs = &Standard{Mean: schema.Inputs.Mean, SD: slices.Clone(schema.Inputs.SD), To: 2}
		again := loaded(t, s, Need{Schema: &schema})
		for part, set := range parts(again) {
			twice := make([]float32, len(set.F32))
			for i, v := range parts(first)[part].F32 {
				twice[i] = 2 * v
			}
			if !slices.Equal(set.F32, twice) {
				t.Errorf("%s: the %s examples are not standardised as the schema says", name, part)
			}
		}
	}
}

// TestValuesKeepTheirInputs: targets of a regression stay with their inputs whichever rows are chosen, standardised or not.
func TestValuesKeepTheirInputs(t *testing.T) {
	var x [][]float64
	var y []float64
	for i := range 50 {
		x, y = append(x, []float64{float64(i)}), append(y, float64(3*i), float64(-i))
	}
	for _, standardise := range []string{"none", "both"} {
		p := loaded(t, Settings{Memory: &Memory{Train: &Slices{Inputs: x, Targets: y}}, Standardise: standardise}, Need{Regression: true, Seed: 3})
		for name, set := range parts(p) {
			row, target := make([]float64, 1), make([]float64, 2)
			for i := range set.Len() {
				row[0], target[0], target[1] = float64(set.F32[i]), float64(set.Values[2*i]), float64(set.Values[2*i+1])
				if standardise == "both" {
					p.Schema.Inputs.Restore(row)
					p.Schema.Targets.Restore(target)
				}
				if !(math.Abs(target[0]-3*row[0]) <= 1e-4 && math.Abs(target[1]+row[0]) <= 1e-4) {
					t.Fatalf("%s: %s example %d has input %v, targets %v", standardise, name, i, row, target)
				}
			}
		}
	}
}

// TestWholeMayBeOneClass: examples of one class are refused to learn from, not where nothing is held out or learnt anew.
func TestWholeMayBeOneClass(t *testing.T) {
	dir := t.TempDir()
	putPima(t, dir)
	p, err := Settings{Set: "pima"}.Load(dir, Need{})
	if err != nil || !p.Whole || p.Train.Len() != 2 || p.Test != nil {
		t.Errorf("pima: %+v, %v", p, err)
	}
	file := put(t, dir, "one.csv", "a;y\n"+strings.Repeat("1;yes\n2;yes\n", 10))
	one := Settings{CSV: &CSV{File: file, Target: "y", Delimiter: ";", Header: &yes}}
	p = loaded(t, one, Need{Whole: true})
	if p.Schema.Delimiter != ";" || p.Schema.Header == nil || !*p.Schema.Header {
		t.Errorf("the schema does not keep how the table is read: %+v", p.Schema)
	}
	if again := loaded(t, one, Need{Schema: p.Schema}); again.Test.Len() != 2 {
		t.Errorf("loaded again: %d test examples", again.Test.Len())
	}
}
