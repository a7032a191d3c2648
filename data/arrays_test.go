package data

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNewSetTypes(t *testing.T) {
	inputs := &Array{Name: "x", Shape: []int{2, 2}, Values: []Float16{0x3c00, 0xc000, 0, 0x3800}}
	for _, labels := range []any{
		[]bool{true, false}, []uint8{1, 0}, []uint16{1, 0}, []uint32{1, 0}, []uint64{1, 0}, []int8{1, 0}, []int16{1, 0}, []int32{1, 0}, []int64{1, 0},
	} {
		s, err := NewSet("s", inputs, &Array{Name: "y", Shape: []int{2}, Values: labels}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.F16, []Float16{0x3c00, 0xc000, 0, 0x3800}) || !slices.Equal(s.Labels, []int32{1, 0}) || s.Classes != 2 {
			t.Errorf("labels %T: %+v", labels, s)
		}
	}
	for want, labels := range map[string]any{
		"y: example 1 has label 18446744073709551615":                  []uint64{0, math.MaxUint64},
		"y: example 0 has label -9223372036854775808":                  []int64{math.MinInt64, 0},
		"y: example 1 has label 65536":                                 []int64{0, 65536},
		"y: labels of type float64, want integers (y.astype('int64'))": []float64{0, 1},
	} {
		if _, err := NewSet("s", inputs, &Array{Name: "y", Shape: []int{2}, Values: labels}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for want, inputs := range map[string]any{
		"x: example 1, feature 0 is +Inf":         []float64{0, 0, 1e39, 0},
		"x: example 0, feature 1 is NaN":          []BFloat16{0, 0x7fc0, 0, 0},
		"x: inputs of type int64":                 []int64{0, 0, 0, 0},
		"x: inputs of type bool, want uint8 pixe": []bool{false, false, true, true},
	} {
		if _, err := NewInputs("s", &Array{Name: "x", Shape: []int{2, 2}, Values: inputs}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNewValues(t *testing.T) {
	inputs := &Array{Name: "x", Shape: []int{2, 3, 1}, Values: []uint8{1, 2, 3, 4, 5, 6}}
	for _, c := range []struct {
		shape   []int
		values  any
		outputs int
		want    []float32
	}{
		{[]int{2}, []float64{0.5, -1}, 1, []float32{0.5, -1}},
		{[]int{2, 1}, []int64{-7, 1 << 40}, 1, []float32{-7, 1 << 40}},
		{[]int{2, 2}, []Float16{0x3c00, 0xc000, 0, 0x3800}, 2, []float32{1, -2, 0, 0.5}},
	} {
		s, err := NewValues("s", inputs, &Array{Name: "y", Shape: c.shape, Values: c.values})
		if err != nil {
			t.Fatal(err)
		}
		if s.Outputs != c.outputs || !slices.Equal(s.Values, c.want) || s.Labels != nil || s.Len() != 2 || !slices.Equal(s.Shape, []int{1, 3, 1}) {
			t.Errorf("%v: %+v", c.shape, s)
		}
	}
	for want, y := range map[string]*Array{
		"y: targets of shape [3] for 2 examples of x":       {Shape: []int{3}, Values: make([]float32, 3)},
		"y: targets of shape []":                            {Shape: []int{}, Values: make([]float32, 1)},
		"y: targets of shape [2 0]":                         {Shape: []int{2, 0}, Values: []float32{}},
		"y: targets of shape [2 1 1]":                       {Shape: []int{2, 1, 1}, Values: make([]float32, 2)},
		"y: example 1, target 1 is NaN":                     {Shape: []int{2, 2}, Values: []float64{0, 0, 0, math.NaN()}},
		"y: example 0, target 0 is -Inf as a float32: a ne": {Shape: []int{2}, Values: []float64{-1e300, 0}},
	} {
		y.Name = "y"
		if _, err := NewValues("s", inputs, y); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNewSet(t *testing.T) {
	images := &Array{Name: "x", Shape: []int{2, 3, 1}, Values: []uint8{1, 2, 3, 4, 5, 6}}
	labels := &Array{Name: "y", Shape: []int{2}, Values: []int8{0, 2}}
	s, err := NewSet("s", images, labels, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Shape, []int{1, 3, 1}) || s.Classes != 3 || !slices.Equal(s.Labels, []int32{0, 2}) || s.Len() != 2 {
		t.Errorf("%+v", s)
	}
	for want, c := range map[string][2]*Array{
		"example 1, feature 0 is NaN":                {{Name: "x", Shape: []int{2, 1}, Values: []float64{1, nan()}}, labels},
		"x: inputs of type int32":                    {{Name: "x", Shape: []int{2, 1}, Values: []int32{1, 2}}, labels},
		"x: inputs want an axis behind the examples": {{Name: "x", Shape: []int{2}, Values: []uint8{1, 2}}, labels},
		"y: labels of shape [3]":                     {images, {Name: "y", Shape: []int{3}, Values: []uint8{1, 2, 3}}},
		"y: labels of type float32":                  {images, {Name: "y", Shape: []int{2}, Values: []float32{1, 2}}},
		"example 1 has label -1":                     {images, {Name: "y", Shape: []int{2}, Values: []int16{0, -1}}},
		"no values":                                  {{Name: "x", Shape: []int{2, 0, 4}, Values: []uint8{}}, labels},
	} {
		if _, err := NewSet("s", c[0], c[1], 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := NewSet("s", images, labels, 2); err == nil {
		t.Error("label 2 of 2 classes is accepted")
	}
}
