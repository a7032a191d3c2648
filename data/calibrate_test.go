package data

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAssign: a calibration part has its share of all examples, and comes from those that would train. The other parts are those without it,
// drawn at random, by shares, by rows or in folds, and with strata the part has its share of every class.
func TestAssign(t *testing.T) {
	const n = 240
	classes := make(strata, 3)
	for i := range int32(n) {
		c := 0
		if i%4 == 0 {
			c = 1 + int(i/4)%2
		}
		classes[c] = append(classes[c], i)
	}
	file := put(t, t.TempDir(), "rows.txt", "3\n14\n15\n92\n65\n35\n89\n79\n32\n38\n46\n26\n")
	for name, p := range map[string]Parts{
		"shares": {Validate: .2, Test: .1}, "tenths": {}, "a share to train": {Train: .5, Validate: .1}, "rows": {TestRows: file}, "folds": {Folds: 4, Fold: 3},
		"rows and folds": {TestRows: file, Folds: 3, Fold: 1},
	} {
		for kind, d := range map[string]draw{"any": anyRows, "strata": classes} {
			plain, plainHeld, err := p.assign(n, 7, d, true, true, true)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(plainHeld) != 2 {
				t.Errorf("%s: the parts are %v", name, plainHeld)
			}
			with := p
			with.Calibrate = .15
			kept, held, err := with.assign(n, 7, d, true, true, true)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !slices.Equal(held["test"], plainHeld["test"]) || !slices.Equal(held["validate"], plainHeld["validate"]) {
				t.Errorf("%s, %s: with a calibration part other rows test or validate", name, kind)
			}
			if p.Train == 0 {
				both := slices.Concat(kept, held["calibrate"])
				if slices.Sort(both); !slices.Equal(both, plain) {
					t.Errorf("%s, %s: %v train or calibrate, %v train without that part", name, kind, both, plain)
				}
			} else if len(kept) != n/2 {
				t.Errorf("%s: %d train", name, len(kept))
			}
			all := slices.Concat(kept, held["test"], held["validate"], held["calibrate"])
			slices.Sort(all)
			if len(held["calibrate"]) != 36 || !slices.IsSorted(held["calibrate"]) || !slices.IsSorted(kept) || len(slices.Compact(all)) != len(all) {
				t.Errorf("%s, %s: %d calibrate, and in all parts are %v", name, kind, len(held["calibrate"]), all)
			}
			if kind == "strata" {
				left, part := classes.counts(slices.Concat(kept, held["calibrate"])), classes.counts(held["calibrate"])
				for c := range classes {
					if share := float64(36*left[c]) / float64(len(kept)+36); !(math.Abs(float64(part[c])-share) < 1) {
						t.Errorf("%s: %d of class %d calibrate, want %v", name, part[c], c, share)
					}
				}
			}
			if _, other, _ := with.assign(n, 8, d, true, true, true); slices.Equal(other["calibrate"], held["calibrate"]) {
				t.Errorf("%s, %s: another seed draws the same rows", name, kind)
			}
		}
	}
	// The rows are part of the format.
	kept, held, err := (&Parts{Calibrate: .2}).assign(20, 3, anyRows, true, true, true)
	if got, want := fmt.Sprint(kept, held, err), "[0 1 2 3 6 7 8 9 10 11 14 18] map[calibrate:[4 15 16 17] test:[5 19] validate:[12 13]] <nil>"; got != want {
		t.Errorf("seed 3 divides 20 examples into %s, want %s", got, want)
	}
}

// counts counts rows by stratum.
func (s strata) counts(rows []int32) (counts []int) {
	for _, of := range s {
		n := 0
		for _, row := range rows {
			if _, there := slices.BinarySearch(of, row); there {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// A share to calibrate that is too small, that leaves nothing to train, or that the data need not is refused.
func TestAssignRefuses(t *testing.T) {
	for _, c := range []struct {
		p     Parts
		n     int
		field string
		want  string
	}{
		{Parts{Calibrate: .01}, 99, "split.calibrate", "0.01 of 99 examples is less than one"},
		{Parts{Calibrate: .8}, 10, "split.calibrate", "leaves none of 10 examples to train"},
		{Parts{Train: .3, Calibrate: .01}, 50, "split.calibrate", "0.01 of 50 examples is less than one"},
	} {
		_, _, err := c.p.assign(c.n, 1, anyRows, true, true, true)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != c.field || field.Message != c.want {
			t.Errorf("%+v of %d: %v", c.p, c.n, err)
		}
	}
	_, _, err := (&Parts{Calibrate: .2}).assign(50, 1, anyRows, true, true, false)
	if err == nil || !strings.Contains(err.Error(), "data.split.calibrate: the data have a calibration part of their own: leave this out") {
		t.Error(err)
	}
	// Whole groups calibrate. One group that is left cannot do both.
	g := &groups{of: []int32{0, 0, 1, 1, 2, 2, 3, 3}, names: []string{"a", "b", "c", "d"}, class: make([]int32, 8), title: "g"}
	kept, held, err := (&Parts{Calibrate: .25}).assign(8, 1, g, true, true, true)
	if err != nil || len(kept) != 2 || len(held["calibrate"]) != 2 || g.of[kept[0]] != g.of[kept[1]] || g.of[held["calibrate"][0]] != g.of[held["calibrate"][1]] {
		t.Errorf("%v, %v, %v", kept, held, err)
	}
	g = &groups{of: []int32{0, 0, 1, 1, 2, 2}, names: []string{"a", "b", "c"}, class: make([]int32, 6), title: "g"}
	if _, _, err = (&Parts{Calibrate: .25}).assign(6, 1, g, true, true, true); err == nil || !strings.Contains(err.Error(), `to calibrate, beside the other parts: column "g" has 1 group, and each of 2 parts needs one`) {
		t.Error(err)
	}
}

// TestCalibrateShares: of a table, of arrays, of slices in memory and of known sets a share calibrates, and without the share the parts are
// those that they always were.
func TestCalibrateShares(t *testing.T) {
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, 50)
	var memory Slices
	for i := range 50 {
		memory.Inputs, memory.Targets = append(memory.Inputs, []float64{float64(i), float64(i * i % 7)}), append(memory.Targets, float64(i%5))
	}
	var first *Problem
	for name, s := range map[string]Settings{
		"table":  {CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Standardise: "none"},
		"arrays": {Train: &Arrays{x, y}},
		"memory": {Memory: &Memory{Train: &memory}},
	} {
		plain := loaded(t, s, Need{Regression: true, Seed: 4})
		s.Split = &Parts{Calibrate: .2}
		p := loaded(t, s, Need{Regression: true, Seed: 4})
		if first == nil {
			first = p
		}
		sums := p.Checksums()
		if !maps.Equal(sums, first.Checksums()) || len(sums) != 4 || plain.Calibrate != nil || sums["test"] != plain.Test.Checksum() || sums["validate"] != plain.Validate.Checksum() {
			t.Errorf("%s: the sums are %v", name, sums)
		}
		if p.Calibrate.Len() != 10 || p.Train.Len() != 30 || p.Calibrate.Name != "calibrate" {
			t.Errorf("%s: %d calibrate and %d train", name, p.Calibrate.Len(), p.Train.Len())
		}
		places := p.Division()
		part := map[string]int{}
		for _, at := range places {
			part[at.Part]++
		}
		if !maps.Equal(part, map[string]int{"train": 30, "validate": 5, "test": 5, "calibrate": 10}) {
			t.Errorf("%s: the division has %v", name, part)
		}
	}
	for _, c := range []struct {
		set                              string
		regression                       bool
		train, validate, test, calibrate int
	}{{"concrete", true, 618, 103, 103, 206}, {"wine-red", false, 962, 159, 159, 319}} {
		p := loaded(t, Settings{Set: c.set, Split: &Parts{Calibrate: .2}}, Need{Regression: c.regression})
		if p.Train.Len() != c.train || p.Validate.Len() != c.validate || p.Test.Len() != c.test || p.Calibrate.Len() != c.calibrate {
			t.Errorf("%s: %d, %d, %d, %d", c.set, p.Train.Len(), p.Validate.Len(), p.Test.Len(), p.Calibrate.Len())
		}
	}
}

// TestCalibratePictures: a set of images without calibration examples of its own gives a share of them, standardised like all others.
func TestCalibratePictures(t *testing.T) {
	p := &Problem{Name: "p", Train: &Set{Name: "train", Shape: []int{1}, Classes: 2, F32: make([]float32, 60), Labels: make([]int32, 60)}}
	for i := range 60 {
		p.Train.F32[i], p.Train.Labels[i] = float32(i), int32(i%2)
	}
	if err := p.split(&Parts{Calibrate: .25}, 3); err != nil {
		t.Fatal(err)
	}
	p.Foreign = []Group{{"far", &Set{Name: "far", Shape: []int{1}, F32: []float32{1000}}}}
	raw := slices.Clone(p.Calibrate.F32)
	var err error
	if p.Schema, err = newSchema(p.Train, standard{inputs: true}); err != nil {
		t.Fatal(err)
	}
	if err := p.standardise(); err != nil {
		t.Fatal(err)
	}
	if p.Calibrate.Len() != 15 || p.Train.Len() != 33 || p.Calibrate.Classes != 2 {
		t.Errorf("%d calibrate, %d train", p.Calibrate.Len(), p.Train.Len())
	}
	scaled := func(v float32) float32 {
		return float32((float64(v) - p.Schema.Inputs.Mean[0]) / p.Schema.Inputs.SD[0])
	}
	for i, v := range raw {
		if !(math.Abs(float64(p.Calibrate.F32[i]-scaled(v))) < 1e-6) {
			t.Errorf("example %d to calibrate is %v, want %v", i, p.Calibrate.F32[i], scaled(v))
		}
	}
	if got := p.Foreign[0].Set.F32[0]; !(math.Abs(float64(got-scaled(1000))) < 1e-4) {
		t.Errorf("the foreign input is %v, want %v", got, scaled(1000))
	}
}

// TestCalibrateFile: a file of calibration rows may have a class and lack values that the table does not; the run says so. Its own rows that
// are of groups that train are told, and rows without a target are left out.
func TestCalibrateFile(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("a,b,g,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%d,g%d,%s\n", i*i%31, i%7, i%12, []string{"oak", "ash"}[i%2])
	}
	main := put(t, dir, "trees.csv", b.String())
	later := put(t, dir, "later.csv", "a,b,g,y\n1,2,g1,oak\n3,,new,elm\n5,6,new,elm\n7,8,new,ash\n9,1,new,\n")
	plain := loaded(t, Settings{CSV: &CSV{File: main, Target: "y", Group: "g", Missing: "indicator", MissingTarget: "skip"}}, Need{Seed: 2})
	s := Settings{CSV: &CSV{File: main, Target: "y", Calibrate: later, Group: "g", Missing: "indicator", MissingTarget: "skip"}}
	p := loaded(t, s, Need{Seed: 2})
	if p.Calibrate.Len() != 4 || p.Train.Classes != 3 || !slices.Equal(p.Calibrate.Names, []string{"ash", "elm", "oak"}) || !slices.Equal(p.Calibrate.Labels, []int32{2, 1, 1, 0}) {
		t.Errorf("%+v", p.Calibrate)
	}
	if !slices.Equal(p.Train.Rows, plain.Train.Rows) || !slices.Equal(p.Test.Rows, plain.Test.Rows) || !slices.Equal(p.Validate.Rows, plain.Validate.Rows) {
		t.Error("the file of calibration rows changes the other parts")
	}
	said := ""
	for _, f := range p.Findings() {
		said += f.Words() + "\n"
	}
	for _, want := range []string{
		"no training example has class elm, which 2 examples of other parts have", "are of groups that train (1 group of column g)", `column b lacks values only in rows that do not train`,
		"1 row of " + later + " without a target was left out",
	} {
		want = strings.Replace(want, "are of groups", "1 row of "+later+" is of groups", 1)
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if got := p.ClassCount(); !strings.Contains(got, later+` has "elm", which`) {
		t.Error(got)
	}
	// The run's own data are the same when they are read again, from elsewhere, too.
	again := loaded(t, s, Need{Seed: 2, Schema: p.Schema})
	moved := s.Under(dir)
	there := loaded(t, moved, Need{Seed: 2, Schema: p.Schema})
	there.Called(moved, Settings{CSV: &CSV{File: "trees.csv", Calibrate: "later.csv"}})
	if !maps.Equal(again.Checksums(), p.Checksums()) || !maps.Equal(there.Checksums(), p.Checksums()) || there.Calibrate.Source != "later.csv" {
		t.Errorf("%v, read again %v; of %s", p.Checksums(), again.Checksums(), there.Calibrate.Source)
	}
	if places := p.Division(); places[len(places)-1] != (Place{Row: 3, Line: 5, Part: "calibrate", File: later}) {
		t.Errorf("the last of the places is %+v", places[len(places)-1])
	}
	look, err := LookAt(*s.CSV)
	if err != nil || look.Classes != 3 || !slices.Contains(look.Missing, "b") {
		t.Errorf("%+v, %v", look, err)
	}
	// Rows that many lie outside of are told of this part, too.
	far := put(t, dir, "far.csv", "a,b,g,y\n"+strings.Repeat("4000,500,new,oak\n", 20))
	said = ""
	for _, f := range loaded(t, Settings{CSV: &CSV{File: main, Target: "y", Calibrate: far, Drop: []string{"g"}}}, Need{}).Findings() {
		said += f.Words() + "\n"
	}
	if !strings.Contains(said, "20 of 20 rows of the calibration part lie outside") {
		t.Error(said)
	}
}

// TestCalibrateWhole: where nothing is held out, since the network stays as it is or since the settings say so, files of calibration examples
// and of foreign inputs are read all the same.
func TestCalibrateWhole(t *testing.T) {
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, 40)
	more := putNPY(t, dir, "more.npy", []int{2, 2}, []float64{100, 100, 200, 200})
	for name, s := range map[string]Settings{
		"csv":    {CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}, Calibrate: csv}, CalibrateGroups: []GroupFile{{"far", more}}, Standardise: "none"},
		"arrays": {Train: &Arrays{x, y}, Calibrate: &Arrays{x, y}, CalibrateGroups: []GroupFile{{"far", more}}},
	} {
		for _, whole := range []bool{false, true} {
			s.Whole = whole
			p := loaded(t, s, Need{Regression: true, Whole: !whole})
			if !p.Whole || p.Test != nil || p.Validate != nil || p.Train.Len() != 40 || p.Calibrate.Len() != 40 || len(p.Foreign) != 1 || p.Foreign[0].Set.Len() != 2 {
				t.Errorf("%s, whole %v: %+v", name, whole, p)
			}
		}
		s.Whole, s.Split = false, &Parts{Test: .25}
		if p := loaded(t, s, Need{Regression: true, Whole: true}); p.Test.Len() != 10 || p.Calibrate.Len() != 40 {
			t.Errorf("%s, divided: %+v", name, p)
		}
	}
	p := loaded(t, Settings{Set: "mnist7"}, Need{Whole: true})
	if p.Calibrate.Len() != 2000 || len(p.Foreign) != 4 {
		t.Errorf("mnist7 as it is: %+v", p)
	}
}

// TestForeign: foreign inputs that are known beforehand come from files and from memory, by names of their own, and are refused where they do
// not fit, in the words of other files.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	_, x, y := putWave(t, dir, 40)
	two := putNPY(t, dir, "two.npy", []int{3, 2}, []float64{1, 2, 3, 4, 5, 6})
	three := putNPY(t, dir, "three.npy", []int{2, 3}, []float64{1, 2, 3, 4, 5, 6})
	nan := putNPY(t, dir, "nan.npy", []int{1, 2}, []float64{1, math.NaN()})
	arrays := Settings{Train: &Arrays{x, y}, Calibrate: &Arrays{x, y}, Groups: []GroupFile{{"far", two}}}
	load := func(groups ...GroupFile) (*Problem, error) {
		s := arrays
		s.CalibrateGroups = groups
		return s.Load("", Need{Regression: true})
	}
	p, err := load(GroupFile{"far", two}, GroupFile{"near", two})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(p.Checksums()))
	if !slices.Equal(names, []string{"calibrate", "calibrate/far", "calibrate/near", "far", "test", "train", "validate"}) {
		t.Errorf("the sums are of %v", names)
	}
	if l := p.Lessons(); l.Calibrate() != p.Calibrate || len(l.Foreign()) != 2 || l.Foreign()[1].Name != "near" || len(p.Groups) != 1 {
		t.Errorf("%+v", p)
	}
	for want, file := range map[string]string{
		three + ": examples of shape [3], the run was trained on examples of shape [2]": three,
		nan + ": example 0, feature 1 is NaN":                                           nan,
		"no such file":                                                                  filepath.Join(dir, "none.npy"),
	} {
		if _, err := load(GroupFile{"far", file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	inputs := [][]float64{{1, 2}, {3, 4}, {5, 6}, {7, 9}}
	all := &Slices{Inputs: inputs, Labels: []int{0, 1, 0, 1}}
	m := Memory{Train: all, Calibrate: &Slices{Inputs: inputs[:2], Labels: []int{0, 2}}, Foreign: []MemoryGroup{{"far", Slices{Inputs: inputs[2:]}}}}
	p = loaded(t, Settings{Memory: &m, Whole: true}, Need{})
	if p.Calibrate.Len() != 2 || p.Train.Classes != 3 || p.Foreign[0].Set.Len() != 2 || p.Foreign[0].Name != "far" {
		t.Errorf("%+v", p)
	}
	if got := p.ClassCount(); got != "Memory.Calibrate.Labels has 3 classes (the largest label is 2)" {
		t.Error(got)
	}
	for want, m := range map[string]Memory{
		"Memory.Calibrate: has no Labels, the classes that the network learns":        {Train: all, Calibrate: &Slices{Inputs: inputs}},
		"Memory.Calibrate.Inputs: examples of shape [1], the run":                     {Train: all, Calibrate: &Slices{Inputs: [][]float64{{1}}, Labels: []int{1}}},
		"Memory.Calibrate.Inputs: example 0, feature 1 is NaN":                        {Train: all, Calibrate: &Slices{Inputs: [][]float64{{1, math.NaN()}}, Labels: []int{1}}},
		"Memory.Calibrate.Labels: example 0 has label -1":                             {Train: all, Calibrate: &Slices{Inputs: inputs[:1], Labels: []int{-1}}},
		"Memory.Foreign[far].Inputs: examples of shape [1], the run":                  {Train: all, Calibrate: all, Foreign: []MemoryGroup{{"far", Slices{Inputs: [][]float64{{1}}}}}},
		"Memory.Foreign[far]: a group has inputs only, no Labels and no Targets":      {Train: all, Calibrate: all, Foreign: []MemoryGroup{{"far", *all}}},
		"data.calibrate_groups: a decision is learnt from foreign inputs beside cali": {Train: all, Foreign: []MemoryGroup{{"far", Slices{Inputs: inputs}}}},
	} {
		if _, err := (Settings{Memory: &m, Whole: true}).Load("", Need{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestCalibrateSettings: what is said of settings to calibrate, and whether there are calibration examples.
func TestCalibrateSettings(t *testing.T) {
	csv := &CSV{File: "f.csv", Target: "y"}
	later := &CSV{File: "f.csv", Target: "y", Calibrate: "g.csv"}
	arrays, far := &Arrays{"x.npy", "y.npy"}, []GroupFile{{"far", "far.npy"}}
	const alone = "calibrate_groups: " + foreignAlone
	for _, c := range []struct {
		s          Settings
		calibrates bool
		want       string
	}{
		{Settings{Set: "mnist7", CalibrateGroups: far}, true, ""},
		{Settings{Set: "mnist7", CalibrateGroups: []GroupFile{{"nine", "n.npy"}}}, true, "calibrate_groups.nine: two groups are named nine"},
		{Settings{Set: "mnist7", Groups: []GroupFile{{"nine", "n.npy"}}}, true, "groups.nine: two groups are named nine"},
		{Settings{Set: "mnist7", Split: &Parts{Calibrate: .2}}, true, "split.calibrate: the data have a calibration part of their own: leave this out"},
		{Settings{Set: "mnist", Split: &Parts{Calibrate: .2}}, true, ""},
		{Settings{Set: "mnist", CalibrateGroups: far}, false, alone},
		{Settings{Set: "mnist", Calibrate: arrays}, true, "calibrate: can be used with train only (your own arrays); a set has its own parts, and a csv is split by the seed or has csv.calibrate, a file"},
		{Settings{CSV: csv, CalibrateGroups: far}, false, alone},
		{Settings{CSV: csv, CalibrateGroups: far, Split: &Parts{Calibrate: .1}}, true, ""},
		{Settings{CSV: later, CalibrateGroups: append(far, far...)}, true, "calibrate_groups.far: two groups are named far"},
		{Settings{CSV: later, CalibrateGroups: far, Groups: far}, true, ""}, // each has its own name in the manifest
		{Settings{CSV: later, Groups: []GroupFile{{"calibrate", "f"}}}, true, "groups.calibrate: calibrate is the name of a part of the data or of the scores: choose another"},
		{Settings{CSV: later, Groups: []GroupFile{{"calibrate/far", "f"}}}, true, "groups.calibrate/far: calibrate/far is the name of a part of the data or of the scores: choose another"},
		{Settings{CSV: later, CalibrateGroups: []GroupFile{{"far", ""}}}, true, "calibrate_groups.far: needs a file of inputs"},
		{Settings{CSV: later, Whole: true}, true, ""},
		{Settings{CSV: later, Split: &Parts{Calibrate: .2}}, true, "split.calibrate: the data have a calibration part of their own: leave this out"},
		{Settings{CSV: csv, Split: &Parts{Calibrate: .2, TestRows: "rows.txt"}}, true, ""},
		{Settings{CSV: csv, Split: &Parts{Calibrate: .2, Folds: 4, Fold: 1}}, true, ""},
		{Settings{CSV: csv, Split: &Parts{Calibrate: .2, Train: .7}}, true, "split: the shares add up to more than 1: train 0.7, validate 0.1 (where no share is given), test 0.1 (where no share is given), calibrate 0.2"},
		{Settings{CSV: csv, Split: &Parts{Calibrate: 2, TestRows: "rows.txt"}}, true, "split: the shares add up to more than 1: calibrate 2\nsplit.calibrate: want a share of the examples above 0 and at most 1, have 2"},
		{Settings{CSV: csv, Split: &Parts{Calibrate: -1}}, true, "split.calibrate: want a share of the examples above 0 and at most 1, have -1"},
		{Settings{Train: arrays, Calibrate: arrays}, true, ""},
		{Settings{Train: arrays, Calibrate: &Arrays{Inputs: "x.npy"}}, true, "calibrate: needs inputs and targets, as in {inputs: x.npy, targets: y.npy}"},
		{Settings{Train: arrays, Test: arrays}, false, ""},
		{Settings{Memory: &Memory{}, CalibrateGroups: far}, true, ""}, // its parts are unknown here
		{Settings{Memory: &Memory{Train: &Slices{}}, CalibrateGroups: far}, false, alone},
		{Settings{Memory: &Memory{Train: &Slices{}, Foreign: []MemoryGroup{{Name: "far"}}}}, false, alone},
		{Settings{Memory: &Memory{Train: &Slices{}, Calibrate: &Slices{}, Foreign: []MemoryGroup{{Name: "far"}}}, CalibrateGroups: far}, true, "calibrate_groups.far: two groups are named far"},
	} {
		if got := faults(c.s, false); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.s, got, c.want)
		}
		if got := c.s.Calibrates(); got != c.calibrates {
			t.Errorf("%+v calibrates: %v", c.s, got)
		}
	}
}

// TestCalibrateBytes: the files of all parts and groups are counted among what is loaded.
func TestCalibrateBytes(t *testing.T) {
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, 4000)
	table := func(o CSV) int64 { o.File, o.Target = csv, "y"; return (Settings{CSV: &o}).LoadBytes("") }
	one := table(CSV{})
	for name, got := range map[string]int64{"csv.calibrate": table(CSV{Calibrate: csv}), "csv.validate": table(CSV{Validate: csv}), "csv.test": table(CSV{Test: csv})} {
		if got != 2*one || one == 0 {
			t.Errorf("%s: %d bytes, of one file %d", name, got, one)
		}
	}
	plain := Settings{Train: &Arrays{x, y}}
	with := plain
	with.Calibrate = with.Train
	if a, b := plain.LoadBytes(""), with.LoadBytes(""); b != 2*a || a == 0 {
		t.Errorf("arrays: %d bytes, with as many to calibrate %d", a, b)
	}
	with.CalibrateGroups = []GroupFile{{"far", x}}
	if a, b := plain.LoadBytes(""), with.LoadBytes(""); b <= 2*a {
		t.Errorf("arrays: %d bytes, with as many to calibrate and foreign inputs %d", a, b)
	}
	p := loaded(t, with, Need{Regression: true})
	for _, part := range p.Parts() {
		if part.Set.Checksum() != p.Checksums()[part.Name] {
			t.Errorf("%s has no checksum", part.Name)
		}
	}
}
