package data

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestMemoryParts: parts that are given stay as they are, and only those that are missing are held out.
func TestMemoryParts(t *testing.T) {
	rows := func(n int, from float64) (x [][]float64, labels []int) {
		for i := range n {
			x, labels = append(x, []float64{from + float64(i)}), append(labels, i%3)
		}
		return x, labels
	}
	part := func(n int, from float64) *Slices {
		x, labels := rows(n, from)
		return &Slices{Inputs: x, Labels: labels}
	}
	test := part(7, 100)
	test.Labels[6] = 4 // the largest of any part
	p := loaded(t, Settings{Memory: &Memory{Train: part(40, 0), Test: test}}, Need{})
	if p.Name != "memory" || p.Train.Len() != 36 || p.Validate.Len() != 4 || p.Train.Classes != 5 || p.Validate.Classes != 5 {
		t.Errorf("%d to train, %d to validate, %d classes", p.Train.Len(), p.Validate.Len(), p.Train.Classes)
	}
	if !slices.Equal(p.Test.F32, []float32{100, 101, 102, 103, 104, 105, 106}) || !slices.Equal(p.Test.Labels, []int32{0, 1, 2, 0, 1, 2, 4}) {
		t.Errorf("test examples %v, labels %v", p.Test.F32, p.Test.Labels)
	}
	seen := map[float32]bool{}
	for _, v := range slices.Concat(p.Train.F32, p.Validate.F32) {
		seen[v] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d of 40 examples are left", len(seen))
	}
	p = loaded(t, Settings{Memory: &Memory{Train: part(40, 0), Validate: part(5, 50)}}, Need{})
	if p.Train.Len() != 36 || p.Test.Len() != 4 || !slices.Equal(p.Validate.F32, []float32{50, 51, 52, 53, 54}) {
		t.Errorf("validation examples %v, %d to train", p.Validate.F32, p.Train.Len())
	}
}

// TestMemoryTypes: images of bytes stay bytes, floats are rounded once, and a regression may have several outputs.
func TestMemoryTypes(t *testing.T) {
	pixels := make([]uint8, 20*2*2)
	for i := range pixels {
		pixels[i] = uint8(3 * i)
	}
	labels := slices.Repeat([]int{0, 1}, 10)
	p := loaded(t, Settings{Memory: &Memory{Train: &Slices{Array: &Array{Shape: []int{20, 2, 2}, Values: pixels}, Labels: labels}}, Whole: true}, Need{})
	if !slices.Equal(p.Train.U8, pixels) || !slices.Equal(p.Train.Shape, []int{1, 2, 2}) {
		t.Errorf("%+v", p.Train)
	}
	x, y := [][]float64{}, []float64{}
	for i := range 20 {
		x, y = append(x, []float64{float64(i), 1 / float64(i+1)}), append(y, float64(i), -float64(i))
	}
	p = loaded(t, Settings{Memory: &Memory{Train: &Slices{Inputs: x, Targets: y}}, Whole: true}, Need{Regression: true})
	if p.Train.Outputs != 2 || !slices.Equal(p.Train.Values[:6], []float32{0, 0, 1, -1, 2, -2}) || !slices.Equal(p.Train.F32[2:4], []float32{1, 0.5}) {
		t.Errorf("%+v", p.Train)
	}
	flat := []float32{}
	for _, row := range x {
		flat = append(flat, float32(row[0]), float32(row[1]))
	}
	q := loaded(t, Settings{Memory: &Memory{Train: &Slices{Array: &Array{Shape: []int{20, 2}, Values: flat}, Targets: y}}, Whole: true}, Need{Regression: true})
	if !reflect.DeepEqual(p.Checksums(), q.Checksums()) {
		t.Error("the same numbers as float32 are other examples")
	}
}

// TestMemoryRefuses: slices that do not fit are refused by the name of their field.
func TestMemoryRefuses(t *testing.T) {
	x := [][]float64{{1, 2}, {3, 4}, {5, 6}, {7, 8}}
	labels, targets := []int{0, 1, 1, 0}, []float64{1, 2, 3, 4}
	array := func(values any, shape ...int) *Array { return &Array{Shape: shape, Values: values} }
	train := &Slices{Inputs: x, Labels: labels}
	for want, m := range map[string]Memory{
		"Memory.Train: want one of Inputs and Array":                                                 {Train: &Slices{Labels: labels}},
		"Memory.Test: want one of Inputs and Array":                                                  {Train: train, Test: &Slices{Inputs: x, Array: array([]float64{1}, 1, 1), Labels: labels}},
		"Memory.Train.Inputs: no examples":                                                           {Train: &Slices{Inputs: [][]float64{}, Labels: []int{}}},
		"Memory.Train.Inputs: example 2 has 3 features, example 0 has 2":                             {Train: &Slices{Inputs: [][]float64{{1, 2}, {3, 4}, {5, 6, 7}}, Labels: labels[:3]}},
		"Memory.Train.Inputs: inputs of shape [2 0]: an example has no values":                       {Train: &Slices{Inputs: [][]float64{{}, {}}, Labels: labels[:2]}},
		"Memory.Train.Inputs: example 1, feature 0 is NaN":                                           {Train: &Slices{Inputs: [][]float64{{1, 2}, {math.NaN(), 4}}, Labels: labels[:2]}},
		"Memory.Validate.Inputs: example 0, feature 1 is +Inf":                                       {Train: train, Validate: &Slices{Inputs: [][]float64{{1, math.Inf(1)}}, Labels: []int{0}}},
		"Memory.Test.Inputs: examples of shape [1], the run was trained on examples of shape [2]":    {Train: train, Test: &Slices{Inputs: [][]float64{{1}}, Labels: []int{0}}},
		"Memory.Train: has Labels and Targets: want one of them":                                     {Train: &Slices{Inputs: x, Labels: labels, Targets: targets}},
		"Memory.Train: has no Labels, the classes that the network learns":                           {Train: &Slices{Inputs: x, Targets: targets}},
		"Memory.Train.Labels: labels of shape [3] for 4 examples of Memory.Train.Inputs, want [4]":   {Train: &Slices{Inputs: x, Labels: labels[:3]}},
		"Memory.Train.Labels: example 2 has label -1: classes are numbered from 0, 65536 at most":    {Train: &Slices{Inputs: x, Labels: []int{0, 1, -1, 0}}},
		"Memory.Train.Labels: example 0 has label 65536: classes are numbered from 0, 65536 at most": {Train: &Slices{Inputs: x, Labels: []int{65536, 1, 1, 0}}},
		"Memory.Train.Array: 3 values for shape [2 2], want 4":                                       {Train: &Slices{Array: array([]float64{1, 2, 3}, 2, 2), Labels: labels[:2]}},
		"Memory.Train.Array: 5 values for shape [2 2], want 4":                                       {Train: &Slices{Array: array([]float64{1, 2, 3, 4, 5}, 2, 2), Labels: labels[:2]}},
		"Memory.Train.Array: shape [-1 2]":                                                           {Train: &Slices{Array: array([]float64{}, -1, 2), Labels: labels[:2]}},
		"Memory.Train.Array: values of type []int, want a slice of bools, integers or floats":        {Train: &Slices{Array: array([]int{1, 2}, 2, 1), Labels: labels[:2]}},
		"Memory.Train.Array: values of type <nil>":                                                   {Train: &Slices{Array: &Array{}, Labels: labels}},
		"Memory.Train.Array: a single number, want inputs [examples, …]":                             {Train: &Slices{Array: array([]float64{1}), Labels: labels[:1]}},
		"Memory.Groups[far]: a group has inputs only, no Labels and no Targets":                      {Train: train, Groups: []MemoryGroup{{"far", *train}}},
		"Memory.Groups[far].Inputs: examples of shape [1]":                                           {Train: train, Groups: []MemoryGroup{{"far", Slices{Inputs: [][]float64{{1}}}}}},
	} {
		if _, err := (Settings{Memory: &m, Whole: true}).Load("", Need{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	same := Memory{Train: &Slices{Inputs: x, Labels: []int{1, 1, 1, 1}}, Test: train, Validate: train}
	const want = "Memory.Train.Labels: the target has one class only, 1, in all 4 training examples"
	if _, err := (Settings{Memory: &same}).Load("", Need{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	for want, s := range map[string]Slices{
		"Memory.Train: has no Targets, the numbers that a regression learns":         {Inputs: x, Labels: labels},
		"Memory.Train.Targets: 6 values for 4 examples: want as many for each":       {Inputs: x, Targets: []float64{1, 2, 3, 4, 5, 6}},
		"Memory.Train.Targets: targets of shape [3] for 4 examples":                  {Inputs: x, Targets: targets[:3]},
		"Memory.Train.Targets: example 1, target 0 is NaN":                           {Inputs: x, Targets: []float64{1, math.NaN(), 3, 4}},
		"memory: too few examples to hold out 2 parts: 2":                            {Inputs: x[:2], Targets: targets[:2]},
		"Memory.Train.Targets: target is 3 in all 4 training examples: there is not": {Inputs: slices.Repeat(x, 1), Targets: []float64{3, 3, 3, 3}},
	} {
		settings := Settings{Memory: &Memory{Train: &s}, Whole: len(s.Inputs) == 4, Standardise: "both"}
		if _, err := settings.Load("", Need{Regression: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
