package data

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// faults lists what is wrong with settings, the parts in them included, as "field: sentence".
func faults(s Settings, regression bool) string {
	f := config.NewFaults()
	s.Check(f)
	s.CheckTargets(f, regression)
	if s.CSV != nil {
		s.CSV.Check(f.In("csv"))
	}
	if s.Split != nil {
		s.Split.Check(f.In("split"))
	}
	var lines []string
	for _, fault := range f.All() {
		lines = append(lines, fault.Path+": "+fault.Message)
	}
	return strings.Join(lines, "\n")
}

func TestSettingsCheck(t *testing.T) {
	csv := &CSV{File: "f.csv", Target: "y"}
	arrays := &Arrays{"x.npy", "y.npy"}
	long := strings.Repeat("x", 101)
	for _, c := range []struct {
		s          Settings
		regression bool
		want       string
	}{
		{Settings{Set: "mnist7"}, false, ""},
		{Settings{CSV: csv, Standardise: "both", Groups: []GroupFile{{"a", "a.csv"}, {"b", "a.csv"}}}, true, ""},
		{Settings{Train: arrays, Test: arrays, Validate: arrays, Standardise: "inputs"}, false, ""},
		{Settings{Memory: &Memory{}}, false, ""}, // a config of a run that learnt from memory
		{Settings{}, false, ": want one of csv, set, train"},
		{Settings{Set: "mnist7", CSV: csv}, false, ": has csv and set: want one of them"},
		{Settings{Set: "mnist7", Memory: &Memory{}}, false, ": has memory and set: want one of them"},
		{Settings{Set: "mnist8"}, false, `set: unknown name "mnist8": did you mean "mnist"? (known: california, cifar10, cifar100, concrete, fashion-mnist, mnist, mnist7, naval, pima, tinyshakespeare, tinyshakespeare-update, wine-red, wine-white, yacht)`},
		{Settings{CSV: &CSV{}}, false, "csv: needs a file\ncsv: needs a target, the column to predict"},
		{Settings{CSV: &CSV{File: "f", Target: "y", Delimiter: "::"}}, false, `csv.delimiter: delimiter "::": want one ASCII character that numbers do not use, or whitespace`},
		{Settings{CSV: &CSV{File: "f", Target: "y", Drop: []string{"a", "y"}}}, false, "csv.drop.1: y is the target: name columns that are neither target nor inputs"},
		{Settings{Set: "mnist7", Test: arrays}, false, "test: can be used with train only (your own arrays); a set has its own parts, and a csv is split by the seed or has csv.test, a file"},
		{Settings{Train: &Arrays{Inputs: "x.npy"}}, false, "train: needs inputs and targets, as in {inputs: x.npy, targets: y.npy}"},
		{Settings{Train: arrays, Validate: &Arrays{Targets: "y.npy"}}, false, "validate: needs inputs and targets, as in {inputs: x.npy, targets: y.npy}"},
		{Settings{Set: "pima", Groups: []GroupFile{{"", "f"}}}, false, `groups.: "": want a name of at most 100 bytes without control characters`},
		{Settings{Set: "pima", Groups: []GroupFile{{long, "f"}}}, false, fmt.Sprintf("groups.%s: %q: want a name of at most 100 bytes without control characters", long, long)},
		{Settings{Set: "pima", Groups: []GroupFile{{"test", "f"}}}, false, "groups.test: test is the name of a part of the data or of the scores: choose another"},
		{Settings{Set: "pima", Groups: []GroupFile{{"a", "f"}, {"a", "g"}}}, false, "groups.a: two groups are named a"},
		{Settings{Set: "pima", Groups: []GroupFile{{"a", ""}}}, false, "groups.a: needs a file of inputs"},
		{Settings{Memory: &Memory{Groups: []MemoryGroup{{Name: "a"}}}, Groups: []GroupFile{{"a", "f"}}}, false, "groups.a: two groups are named a"},
		{Settings{Set: "mnist7", Standardise: "channels", Augment: &Augment{Crop: 4, Flip: true}}, false, ""},
		{Settings{CSV: csv, Standardise: "channels"}, true, "standardise: channels is for images, and the examples are rows of a table: want none, inputs or both"},
		{Settings{Set: "concrete", Augment: &Augment{Flip: true}}, false, "augment: changes images, and the examples are rows of a table: leave it out"},
		{Settings{Set: "mnist7", Standardise: "inputs", Augment: &Augment{Flip: true}}, false, "augment: it moves pixels, and standardise: inputs scales each by itself: take channels or none"},
		{Settings{Set: "pima", Standardise: "input"}, false, `standardise: unknown name "input": did you mean "inputs"? (known: none, inputs, both, channels)`},
		{Settings{CSV: csv, Split: &Parts{Train: 0.6, Validate: 0.3, Test: 0.1}}, true, ""},
		{Settings{Set: "yacht", Split: &Parts{Train: 0.8}}, true, ""},
		{Settings{Set: "yacht", Split: &Parts{TestRows: "rows.txt"}}, true, ""},
		{Settings{Set: "mnist7", Split: &Parts{Train: 1}}, false, ""}, // it has the other parts
		{Settings{Set: "mnist", Split: &Parts{Train: 0.9}}, false, ""},
		{Settings{Train: arrays, Test: arrays, Split: &Parts{Validate: 0.5}}, false, ""},
		{Settings{Memory: &Memory{}, Split: &Parts{Train: 0.95}}, false, ""}, // its parts are unknown here
		{Settings{Memory: &Memory{Train: &Slices{}, Test: &Slices{}}, Split: &Parts{Train: 0.9}}, false, ""},
		{Settings{CSV: &CSV{File: "a.csv", Target: "y", Test: "b.csv"}, Split: &Parts{Validate: 0.3}}, false, ""},
		{Settings{CSV: &CSV{File: "a.csv", Target: "y", Test: "b.csv"}, Split: &Parts{Test: 0.3}}, false, "split.test: the data have a test part of their own: leave this out"},
		{Settings{CSV: &CSV{File: "a.csv", Target: "y", Validate: "b.csv"}, Split: &Parts{Validate: 0.3}}, false, "split.validate: the data have a validation part of their own: leave this out"},
		{Settings{CSV: &CSV{File: "a.csv", Target: "y", Test: "b.csv"}, Split: &Parts{TestRows: "rows.txt"}}, false, "split.test_rows: the data have a test part of their own: leave this out"},
		{Settings{CSV: csv, Split: &Parts{}}, true, "split: want shares, as in {train: 0.6, validate: 0.3, test: 0.1}, or test_rows, a file"},
		{Settings{CSV: csv, Split: &Parts{Train: -0.5}}, true, "split.train: want a share of the examples above 0 and at most 1, have -0.5"},
		{Settings{CSV: csv, Split: &Parts{Validate: math.NaN()}}, true, "split.validate: want a share of the examples above 0 and at most 1, have NaN"},
		{Settings{CSV: csv, Split: &Parts{Test: 1.5}}, true, "split: the shares add up to more than 1: validate 0.1 (where no share is given), test 1.5\nsplit.test: want a share of the examples above 0 and at most 1, have 1.5"},
		{Settings{CSV: csv, Split: &Parts{Train: 0.6, Validate: 0.3, Test: 0.2}}, true, "split: the shares add up to more than 1: train 0.6, validate 0.3, test 0.2"},
		{Settings{CSV: csv, Split: &Parts{Train: 0.85}}, true, "split: the shares add up to more than 1: train 0.85, validate 0.1 (where no share is given), test 0.1 (where no share is given)"},
		{Settings{Set: "mnist", Split: &Parts{Train: 0.95}}, false, "split: the shares add up to more than 1: train 0.95, validate 0.1 (where no share is given)"},
		{Settings{CSV: csv, Split: &Parts{Test: 0.1, TestRows: "rows.txt"}}, true, "split.test: the rows of test_rows divide the examples: leave this share out"},
		{Settings{Set: "mnist7", Split: &Parts{Test: 0.1}}, false, "split.test: the data have a test part of their own: leave this out"},
		{Settings{Set: "mnist7", Split: &Parts{TestRows: "rows.txt"}}, false, "split.test_rows: the data have a test part of their own: leave this out"},
		{Settings{Train: arrays, Validate: arrays, Split: &Parts{Validate: 0.1}}, false, "split.validate: the data have a validation part of their own: leave this out"},
		{Settings{Memory: &Memory{Train: &Slices{}, Test: &Slices{}}, Split: &Parts{Test: 0.1}}, false, "split.test: the data have a test part of their own: leave this out"},
		{Settings{CSV: csv, Whole: true, Split: &Parts{Test: 0.1}}, true, "split: split divides the examples, and whole keeps them together: leave one of them out"},
		{Settings{Set: "pima", Split: &Parts{Test: 0.1}}, false, "split: pima is always whole: leave split out"},
		{Settings{CSV: csv, Standardise: "both"}, false, "standardise: both is for regression: classes are not scaled; want inputs or none"},
	} {
		if got := faults(c.s, c.regression); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.s, got, c.want)
		}
	}
}

// TestSettingsDefaults: what is standardised where nothing says so, and which data have validation examples.
func TestSettingsDefaults(t *testing.T) {
	csv, arrays := &CSV{File: "f.csv", Target: "y"}, &Arrays{"x.npy", "y.npy"}
	for _, c := range []struct {
		s                   Settings
		classes, regression string
		validates           bool
	}{
		{Settings{CSV: csv}, "inputs", "both", true},
		{Settings{Set: "yacht"}, "inputs", "both", true},
		{Settings{Set: "yacht", Whole: true}, "inputs", "both", false},
		{Settings{Set: "mnist7"}, "none", "none", true},
		{Settings{Set: "mnist7", Whole: true}, "none", "none", true}, // it has validation examples of its own
		{Settings{Set: "pima"}, "none", "none", false},
		{Settings{Train: arrays}, "none", "none", true},
		{Settings{Train: arrays, Whole: true}, "none", "none", false},
		{Settings{Train: arrays, Validate: arrays, Whole: true}, "none", "none", true},
		{Settings{Memory: &Memory{}}, "none", "none", true},
		{Settings{Memory: &Memory{}, Whole: true}, "none", "none", false},
		{Settings{Memory: &Memory{Validate: &Slices{}}, Whole: true}, "none", "none", true},
		{Settings{CSV: csv, Standardise: "none"}, "none", "none", true},
		{Settings{CSV: csv, Split: &Parts{TestRows: "rows.txt"}}, "inputs", "both", true},
	} {
		for regression, want := range map[bool]string{false: c.classes, true: c.regression} {
			s := c.s
			if s.DefaultsFor(regression); s.Standardise != want {
				t.Errorf("%+v, regression %v: standardise %q, want %q", c.s, regression, s.Standardise, want)
			}
		}
		if got := c.s.Validates(); got != c.validates {
			t.Errorf("%+v: validates %v", c.s, got)
		}
	}
}

// TestSettingsAsConfig: settings are written as a config has them and read back the same, memory as a mark without examples.
func TestSettingsAsConfig(t *testing.T) {
	for _, text := range []string{
		"set: mnist7\ngroups: {far: a.npy, near: b.csv}\nwhole: true\nstandardise: none\n",
		"csv: {file: f.csv, target: y, delimiter: whitespace, header: false, drop: [a, b c]}\n",
		"train: {inputs: x.npy, targets: y.npy}\nvalidate: {inputs: v.npy, targets: w.npy}\ntest: {inputs: t.npy, targets: u.npy}\n",
		"memory: {}\n",
		"csv: {file: f.csv, calibrate: g.csv, target: y}\ncalibrate_groups: {far: a.npy, near: b.csv}\nsplit: {test: 0.25}\n",
		"train: {inputs: x.npy, targets: y.npy}\ncalibrate: {inputs: v.npy, targets: w.npy}\n",
		"set: yacht\nsplit: {calibrate: 0.25, folds: 4, fold: 2}\n",
		"set: yacht\nsplit: {train: 0.5, validate: 0.25, test: 0.125}\n",
		"set: yacht\nsplit: {test_rows: rows.txt}\n",
	} {
		s, _, err := config.Parse[Settings]("c.yaml", []byte(text), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, _, err := config.Parse[Settings]("again.yaml", config.Encode(s), nil)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%s\nis written as\n%s\n%v", text, config.Encode(s), err)
		}
	}
	full := Settings{Memory: &Memory{Train: &Slices{Inputs: [][]float64{{1}}, Labels: []int{0}}}, Standardise: "none"}
	if got := string(config.Encode(full)); got != "memory: {}\nstandardise: none\n" {
		t.Errorf("a config of examples in memory is\n%s", got)
	}
	_, _, err := config.Parse[Settings]("c.yaml", []byte("csv: {file: f.csv, target: y, drop: [a, y]}\ntest: {inputs: a}\n"), nil)
	want := "c.yaml:1:41: csv.drop.1: y is the target: name columns that are neither target nor inputs\nc.yaml:2:8: test: can be used with train"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
