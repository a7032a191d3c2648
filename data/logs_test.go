package data

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestTargetLog: the targets of a table and of arrays are learnt as standardised logarithms, or as logarithms alone, and come back; what is
// kept says so and is read.
func TestTargetLog(t *testing.T) {
	y := []float64{2, 30, 5, 1e-3, 700, 12}
	text := "x,y\n"
	for i, v := range y {
		text += fmt.Sprintf("%d,%v\n", i*i, v)
	}
	tab := table(t, text, "y")
	x := &Array{Name: "x", Shape: []int{len(y), 1}, Values: []float64{0, 1, 4, 9, 16, 25}}
	targets := &Array{Name: "y", Shape: []int{len(y)}, Values: y}
	for _, standardise := range []bool{true, false} {
		s, err := Columns{Target: "y", SD: 1, Standardise: standardise, Log: true}.Schema(tab, tab.All())
		if err != nil {
			t.Fatal(err)
		}
		arrays, err := arraySchema(x, targets, tab.All(), 0, standard{inputs: true, targets: standardise}, true)
		if err != nil {
			t.Fatal(err)
		}
		mean, square := 0.0, 0.0
		for _, v := range y {
			mean += math.Log(v) / 6
		}
		for _, v := range y {
			square += (math.Log(v) - mean) * (math.Log(v) - mean) / 6
		}
		sd := math.Sqrt(square)
		if !standardise {
			mean, sd = 0, 1
		}
		of, err := s.Set("train", tab, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		labelled, err := arrays.Labelled("train", x, targets, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			want := (math.Log(v) - mean) / sd
			back := []float64{float64(of.Values[i])}
			s.Targets.Restore(back)
			if !(math.Abs(float64(of.Values[i])-want) <= 1e-6) || labelled.Values[i] != of.Values[i] || !(math.Abs(back[0]/v-1) <= 2e-6) {
				t.Errorf("target %v: %v and %v, want %v; restored %v", v, of.Values[i], labelled.Values[i], want, back)
			}
		}
		if !s.Targets.Log || !arrays.Targets.Log || s.Inputs.Log {
			t.Errorf("kept as %+v and %+v", s.Targets, s.Inputs)
		}
	}
	for raw, fault := range map[string]string{
		`{"shape":[1],"outputs":1,"targets":{"mean":[1],"sd":[2],"to":1,"log":true}}`: "",
		`{"shape":[1],"outputs":1,"targets":{"mean":[1],"sd":[2],"to":1}}`:            "", // of before
		`{"shape":[1],"outputs":1,"inputs":{"mean":[1],"sd":[2],"to":1,"log":true}}`:  "no logarithms",
	} {
		s, err := DecodeSchema([]byte(raw))
		if fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) || fault == "" && (err != nil || s.Targets.Log != strings.Contains(raw, "log")) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestTargetWithoutLogarithm: a target of 0 or below is refused where it trains and where it is scored, with its place and the mend.
func TestTargetWithoutLogarithm(t *testing.T) {
	of := func(values string) *Table {
		text := "x,y\n"
		for i, v := range strings.Fields(values) {
			text += fmt.Sprintf("%d,%s\n", i*i, v)
		}
		return table(t, text, "y")
	}
	columns := Columns{Target: "y", SD: 1, Standardise: true, Log: true}
	good := of("1 2 3")
	s, err := columns.Schema(good, good.All())
	if err != nil {
		t.Fatal(err)
	}
	constant := of("5 5 5")
	if _, err := columns.Schema(constant, constant.All()); err == nil || !strings.Contains(err.Error(), "target is 5 in all 3 training examples") {
		t.Errorf("a constant target: %v", err)
	}
	for values, want := range map[string]string{
		"1 0 3":      `line 3, column 2 (y): 0 has no logarithm, and data.target: log takes that of every target: correct the value, remove the row, or leave data.target out. Where zeros`,
		"1 2 -7.5 4": `line 4, column 2 (y): -7.5 has no logarithm`,
	} {
		bad := of(values)
		_, fitted := columns.Schema(bad, bad.All())
		_, scored := s.Set("test", bad, nil, true)
		for _, err := range []error{fitted, scored} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "zeros") != strings.HasPrefix(values, "1 0") {
				t.Errorf("%s: %v, want %q", values, err, want)
			}
		}
		if _, err := s.Set("predict", bad, nil, false); err != nil {
			t.Errorf("%s: to predict, the target is not looked at: %v", values, err)
		}
	}
	x := &Array{Name: "x", Shape: []int{3, 1}, Values: []float64{0, 1, 4}}
	y := &Array{Name: "y.npy", Shape: []int{3}, Values: []float64{1, 2, -3}}
	arrays := &Schema{Shape: []int{1}, Outputs: 1}
	arrays.takeLogs()
	_, fitted := arraySchema(x, y, []int32{0, 1}, 0, standard{inputs: true, targets: true}, true)
	_, scored := arrays.Labelled("test", x, y, nil)
	for _, err := range []error{fitted, scored} {
		if err == nil || !strings.Contains(err.Error(), "y.npy: example 2, target 0: -3 has no logarithm") {
			t.Errorf("arrays: %v", err)
		}
	}
	if got := faults(Settings{CSV: &CSV{File: "a.csv", Target: "y"}, Target: "log"}, false); !strings.Contains(got, "target: log is for regression") {
		t.Errorf("classes: %s", got)
	}
	if got := faults(Settings{CSV: &CSV{File: "a.csv", Target: "y"}, Target: "sqrt"}, true); !strings.Contains(got, `target: unknown name "sqrt"`) {
		t.Errorf("another: %s", got)
	}
}
