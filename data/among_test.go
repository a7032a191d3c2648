package data

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestAmong: examples count once for each time that they are there, whatever the order; another target or another value is another example.
func TestAmong(t *testing.T) {
	classes := func(labels []int32, inputs ...float32) *Set {
		return &Set{Shape: []int{2}, F32: inputs, Labels: labels, Classes: 3}
	}
	pixels := &Set{Shape: []int{2}, U8: []uint8{1, 2, 3, 4}, Values: []float32{.5, 1}, Outputs: 1}
	train := classes([]int32{0, 1, 1, 2}, 1, 2, 3, 4, 3, 4, 5, 6)
	for name, c := range map[string]struct {
		set, of *Set
		want    int
	}{
		"itself":                  {train, train, 4},
		"more that train":         {classes([]int32{1}, 3, 4), classes([]int32{1, 1, 1, 0}, 3, 4, 3, 4, 3, 4, 3, 4), 1},
		"some, in another order":  {classes([]int32{2, 0, 0}, 5, 6, 7, 8, 1, 2), train, 2},
		"twice":                   {classes([]int32{0, 0}, 1, 2, 1, 2), train, 2},
		"another target":          {classes([]int32{1}, 1, 2), train, 0},
		"another value":           {classes([]int32{0}, 1, 2.0000002), train, 0},
		"numbers":                 {pixels, &Set{Shape: []int{2}, U8: []uint8{3, 4}, Values: []float32{1}, Outputs: 1}, 1},
		"another number":          {pixels, &Set{Shape: []int{2}, U8: []uint8{3, 4}, Values: []float32{2}, Outputs: 1}, 0},
		"another kind of inputs":  {pixels, &Set{Shape: []int{2}, F32: []float32{1, 2, 3, 4}, Values: []float32{.5, 1}, Outputs: 1}, 0},
		"another kind of targets": {train, &Set{Shape: []int{2}, F32: train.F32, Values: []float32{0, 1, 1, 2}, Outputs: 1}, 0},
		"another shape":           {train, &Set{Shape: []int{1, 2}, F32: train.F32, Labels: train.Labels, Classes: 3}, 0},
	} {
		if got, _ := c.set.Among(c.of); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for want, of := range map[int]*Set{2: train, 3: classes([]int32{1, 0, 1, 1}, 3, 4, 3, 4, 3, 4, 3, 4), 4: classes([]int32{2, 1, 2, 1}, 3, 4, 5, 6, 3, 4, 5, 6)} {
		if _, got := train.Among(of); got != want {
			t.Errorf("%d examples are repeated, want %d", got, want)
		}
	}
}

// TestSameTargets: the rounding of another scale is none of the differences, also where a target is 0.
func TestSameTargets(t *testing.T) {
	x := []float64{0, 1000, -3}
	for _, c := range []struct {
		y    []float64
		want bool
	}{{x, true}, {[]float64{1e-4, 1000.001, -3.0001}, true}, {[]float64{.1, 1000, -3}, false}, {x[:2], false}} {
		if SameTargets(x, c.y) != c.want {
			t.Errorf("%v: want %v", c.y, c.want)
		}
	}
	if zeros := make([]float64, 2); !SameTargets(zeros, zeros) || !SameTargets(nil, nil) {
		t.Error("the same targets, all 0, are others")
	}
}

// TestSameRows: rows of a file are known by their numbers there, however they were chosen and whatever is made of them.
func TestSameRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("a,b,y\n3,5,0\n6,6,1\n9,7,0\n12,8,1\n15,9,0\n18,1,1\n21,2,0\n24,3,1\n27,4,0\n30,5,1\n33,6,0\n36,7,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(seed uint64, drop ...string) *Problem {
		p, err := Settings{CSV: &CSV{File: file, Target: "y", Drop: drop}}.Load("", Need{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all, fewer, other := load(1), load(1, "a"), load(2)
	for _, c := range []struct {
		name string
		a, b *Set
		want bool
	}{
		{"without a column", all.Train, fewer.Train, true}, {"held out, without a column", all.Test, fewer.Test, true},
		{"another division", all.Train, other.Train, false}, {"another part", all.Test, all.Validate, false},
		{"chosen again", all.Train.Select("", []int32{1, 3}), fewer.Train.Select("", []int32{1, 3}), true},
		{"others, with the same labels", all.Train.Select("", []int32{1, 3}), fewer.Train.Select("", []int32{3, 1}), false},
		{"a piece", all.Train.Slice("", 2, 4), fewer.Train.Select("", []int32{2, 3}), true},
		{"of a source that is not known", &Set{Shape: []int{1}, F32: []float32{1}}, &Set{Shape: []int{1}, F32: []float32{1}}, false},
	} {
		if got := c.a.SameRows(c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	whole := &Set{Shape: []int{1}, F32: []float32{1, 2, 3}, Source: "x"}
	if a, b := whole.Slice("", 1, 3), whole.Select("", []int32{1, 2}); !a.SameRows(b) || whole.Slice("", 0, 3).SameRows(a) {
		t.Errorf("rows %v and %v", a.Rows, b.Rows)
	}
	for name, s := range map[string]*Set{"train": all.Train, "test": all.Test} { // the numbers are those of the file
		for i, row := range s.Rows {
			x := make([]float64, 2)
			s.Row(i, x)
			all.Schema.Inputs.Restore(x)
			if want := 3 * float64(row+1); !(math.Abs(x[0]-want) < 1e-5) {
				t.Errorf("%s: example %d is row %d, its first input %v, want %v", name, i, row, x[0], want)
			}
		}
	}
}
