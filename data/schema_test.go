package data

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func trained(t *testing.T, text string, c Columns) *Schema {
	t.Helper()
	tab := table(t, text, c.Target)
	s, err := c.Schema(tab, tab.All())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaFile: what is written reads back, and sets made by it are the same.
func TestSchemaFile(t *testing.T) {
	arrays, err := ArraySchema(&Array{Name: "x", Shape: []int{2, 1, 2}, Values: []float32{1, 2, 3, 5}}, &Array{Name: "y", Shape: []int{2, 2}, Values: []float32{1, 2, 3, 5}}, []int32{0, 1}, 0, true, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Schema{
		"classes":   trained(t, "a,y,b\n1,dog,2\n3,cat,2\n", Columns{Target: "y", Classes: true, SD: 1}),
		"numbers":   trained(t, "1,2,2.5\n3,4,2\n", Columns{Target: "2", SD: 1, Standardise: true}),
		"intercept": trained(t, "a,y\n0.1,2\n0.3,4\n", Columns{Target: "y", SD: 0.5, Intercept: true}),
		"arrays":    arrays,
		"plain":     {Shape: []int{1, 28, 28}, Classes: 10},
	} {
		if name == "classes" {
			s.Delimiter, s.Header = ";", &yes
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeSchema(raw)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, raw)
			continue
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestSchemaRefuses: a data.json that does not hold together is an error, never a panic later.
func TestSchemaRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "cut off",
		`{"shape":[2],"input":{"mean":[0,0],"sd":[1,1],"to":1}}`:                         `unknown key "input": did you mean "inputs"?`,
		`{"shape":[2],"inputs":{"mean":[0,0],"SD":[1,1],"sd":[1,1],"std":[1,1],"to":1}}`: `unknown key "SD": did you mean "sd"?`,
		`{"shape":[2],"classes":2,"classes":3}`:                                          `the key "classes" comes twice`,
		`{}`:                                                                             "shape []",
		`{"shape":[0]}`:                                                                  "shape [0]",
		`{"shape":[-1,2]}`:                                                               "shape [-1 2]",
		`{"shape":[1,2,3,4]}`:                                                            "shape [1 2 3 4]",
		`{"shape":[65536,65536]}`:                                                        "shape [65536 65536]",
		`{"shape":[2],"intercept":true}`:                                                 "an intercept without columns",
		`{"shape":[2],"columns":["a","y"],"target":"y"}`:                                 "inputs of shape [2]",
		`{"shape":[2],"columns":["a","b"],"target":"y"}`:                                 "target \"y\"",
		`{"shape":[1],"columns":["a","y"],"target":"y","dropped":["a"]}`:                 "without \"a\"",
		`{"shape":[2],"classes":2,"names":["a"]}`:                                        "1 names of 2 classes",
		`{"shape":[2],"classes":-2}`:                                                     "-2 classes",
		`{"shape":[2],"inputs":{"mean":[0],"sd":[1],"to":1}}`:                            "inputs: want 2 finite means",
		`{"shape":[1],"inputs":{"mean":[0],"sd":[-1],"to":1}}`:                           "inputs: want 1",
		`{"shape":[1],"inputs":{"mean":[0],"sd":[1]}}`:                                   "inputs: want 1",
		`{"shape":[1],"outputs":1,"targets":{"mean":[0],"sd":[0],"to":1}}`:               "targets: want 1 finite means and standard deviations above 0",
		`{"shape":[1],"targets":{"mean":[0],"sd":[1],"to":1}}`:                           "targets: want 0",
	} {
		if s, err := DecodeSchema([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, error %v, want %q", text, s, err, want)
		}
	}
}

// TestSchemaClasses: targets of another file are numbered as those of the training table.
func TestSchemaClasses(t *testing.T) {
	words := trained(t, "a,y\n1,dog\n2,cat\n3,ewe\n", Columns{Target: "y", Classes: true})
	spaced := trained(t, "a,y\n1,-3\n2,10\n3,9\n", Columns{Target: "y", Classes: true})
	counted := trained(t, "a,y\n1,0\n2,1\n3,2\n", Columns{Target: "y", Classes: true})
	for _, c := range []struct {
		s    *Schema
		text string
		want []int32
		err  string
	}{
		{words, "y,a\newe,5\ncat,6\n", []int32{2, 0}, ""},
		{words, "y,a\newe,5\ncow,6\n", nil, `f: line 3, column 1 (y): "cow" is not a class of the run ("cat", "dog", "ewe")`},
		{words, "y,a\n1,5\n", nil, `"1" is not a class of the run`},
		{words, "a\n5\n", nil, `f: lacks the target, column "y" of the run`},
		{spaced, "a,y\n5,10\n5,-3.0\n", []int32{2, 0}, ""},
		{spaced, "a,y\n5,11\n", nil, `"11" is not a class of the run ("-3", "9", "10")`},
		{counted, "a,y\n5,2\n5,0\n", []int32{2, 0}, ""},
		{counted, "a,y\n5,3\n", nil, `"3" is not a class of the run (0 to 2)`},
		{counted, "a,y\n5,0.5\n", nil, `"0.5" is not a class`},
		{counted, "a,y\n5,dog\n", nil, `"dog" is not a class`},
		{counted, "a,y\n5,\n", nil, "the value is missing"},
	} {
		tab, err := DecodeCSV("f", []byte(c.text), c.s.CSV())
		if err != nil {
			t.Fatal(err)
		}
		set, err := c.s.Set("other", tab, nil, true)
		switch {
		case c.err == "" && (err != nil || !slices.Equal(set.Labels, c.want) || set.Check() != nil):
			t.Errorf("%q: %+v, %v", c.text, set, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.err)
		}
	}
}

// TestSchemaArrays: examples and targets of arrays come standardised by the training examples, and Restore brings
// them back.
func TestSchemaArrays(t *testing.T) {
	inputs := &Array{Name: "x", Shape: []int{4, 2}, Values: []float32{1, 10, 900, 900, 3, 10, 5, 10}}
	targets := &Array{Name: "y", Shape: []int{4, 2}, Values: []float32{0, 100, 900, 900, 6, 300, 0, 200}}
	s, err := ArraySchema(inputs, targets, []int32{0, 2, 3}, 0, true, true)
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.Labelled("other", &Array{Name: "x", Shape: []int{2, 2}, Values: []float64{7, 11, 3, 10}}, &Array{Name: "y", Shape: []int{2, 2}, Values: []int32{2, 200, 8, 100}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sd := math.Sqrt(8.0 / 3)
	for i, want := range []float64{4 / sd, 0, 0, 0} { // the second is constant in training
		if got := float64(set.F32[i]); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("input %d is %v, want %v", i, got, want)
		}
	}
	y := []float64{float64(set.Values[2]), float64(set.Values[3])}
	if want := 6 / math.Sqrt(8); !(math.Abs(y[0]-want) <= 1e-6) {
		t.Errorf("target is %v, want %v", y[0], want)
	}
	s.Targets.Restore(y)
	if !(math.Abs(y[0]-8) <= 1e-5) || !(math.Abs(y[1]-100) <= 1e-5) {
		t.Errorf("restored to %v", y)
	}
	rows, err := s.Set("rows", table(t, "p,q\n7,11\n3,10\n", ""), nil, false)
	if err != nil || !slices.Equal(rows.F32, set.F32) {
		t.Errorf("a table of the same features: %+v, %v", rows, err)
	}
	if _, err := s.Set("rows", table(t, "p,q,r\n7,11,1\n", ""), nil, false); err == nil || !strings.Contains(err.Error(), "rows of 3 values, the run was trained on examples of shape [2]") {
		t.Errorf("a table of other features: %v", err)
	}
	later, err := s.Examples("later", &Array{Name: "x", First: 40, Shape: []int{2, 2}, Values: []float32{1, 2, 3, 4}})
	if err != nil || !slices.Equal(later.Rows, []int32{40, 41}) { // what refuses an example names its row of the file
		t.Errorf("a later block of an array has rows %v (%v)", later, err)
	}
	for want, a := range map[string]*Array{
		"examples of shape [3], the run was trained on examples of shape [2]":     {Name: "x", Shape: []int{1, 3}, Values: []float32{1, 2, 3}},
		"examples of shape [1 2 2], the run was trained on examples of shape [2]": {Name: "x", Shape: []int{1, 2, 2}, Values: []float32{1, 2, 3, 4}},
		"x: example 40, feature 1 is NaN":                                         {Name: "x", First: 40, Shape: []int{1, 2}, Values: []float32{1, float32(math.NaN())}},
		"x: example 0, feature 0 is too large for a float32 when standardised":    {Name: "x", Shape: []int{1, 2}, Values: []float64{1e39, 1}},
		"x: example 0, feature 1 is -Inf":                                         {Name: "x", Shape: []int{1, 2}, Values: []float64{1, math.Inf(-1)}},
	} {
		if _, err := s.Examples("other", a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", a, err, want)
		}
	}
	for want, y := range map[string]*Array{
		"y: target 0 is 3 in all 2 training examples": {Shape: []int{3, 2}, Values: []float32{3, 4, 7, 7, 3, 5}},
		"y: example 1, target 1 is NaN":               {Shape: []int{3, 2}, Values: []float32{3, 4, 7, float32(math.NaN()), 1, 5}},
		"y: targets of shape [2] for 3 examples of x": {Shape: []int{2}, Values: []float32{1, 2}},
	} {
		y.Name = "y"
		if _, err := ArraySchema(&Array{Name: "x", Shape: []int{3, 1}, Values: []float32{1, 2, 3}}, y, []int32{0, 2}, 0, false, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for want, y := range map[string]*Array{
		"y: 1 target values an example, the run was trained on 2": {Shape: []int{1}, Values: []float32{1}},
		"y: target 0 of example 0 is 1.06066017177982":            {Shape: []int{1, 2}, Values: []float64{3e300, 0}},
		"y: example 0, target 1 is +Inf":                          {Shape: []int{1, 2}, Values: []float64{3, math.Inf(1)}},
	} {
		y.Name = "y"
		if _, err := s.Labelled("other", &Array{Name: "x", Shape: []int{1, 2}, Values: []float32{1, 2}}, y, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestSchemaArraysOfTable: an array of a table's rows says what the table said, whatever its type: bytes are no pixels,
// and float64 is standardised before it is rounded.
func TestSchemaArraysOfTable(t *testing.T) {
	tab := table(t, "a,y\n1,0\n3,1\n201,0\n", "")
	late := table(t, "a,y\n1700000001,0\n1700000003,1\n1700000201,0\n", "")
	for want, c := range map[*Table]*Array{
		tab:  {Name: "x", Shape: []int{3, 1}, Values: []uint8{1, 3, 201}},
		late: {Name: "x", Shape: []int{3, 1}, Values: []float64{1700000001, 1700000003, 1700000201}},
	} {
		s, err := Columns{Target: "y", Classes: true, SD: 1}.Schema(want, []int32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Set("rows", want, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if set, err := s.Examples("x", c); err != nil || !slices.Equal(set.F32, rows.F32) {
			t.Errorf("%s %v: %+v, %v; the table says %v", c.DType(), c.Values, set, err, rows.F32)
		}
	}
}

// TestArraysAsTables: the rows of a table, as arrays of any type, are measured and become the same bits.
func TestArraysAsTables(t *testing.T) {
	const text = "a,b,y\n1700000100,-3,9007199254740993\n1700000300,4,1\n1700000200,-7,70\n1700000205,9,5\n"
	tab := table(t, text, "y")
	train := []int32{0, 1, 3}
	want, err := Columns{Target: "y", SD: 1, Standardise: true}.Schema(tab, train)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := want.Set("x", tab, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if rows.F32[0] == rows.F32[6] {
		t.Fatal("the first column varies too little for float32, and should be told apart")
	}
	for _, values := range []any{
		[]float64{1700000100, -3, 1700000300, 4, 1700000200, -7, 1700000205, 9},
		[]int64{1700000100, -3, 1700000300, 4, 1700000200, -7, 1700000205, 9},
		[]int32{1700000100, -3, 1700000300, 4, 1700000200, -7, 1700000205, 9},
	} {
		inputs, targets := &Array{Name: "x", Shape: []int{4, 2}, Values: values}, &Array{Name: "y", Shape: []int{4}, Values: []int64{9007199254740993, 1, 70, 5}}
		s, err := ArraySchema(inputs, targets, train, 0, true, true)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Inputs, s.Inputs) + cmp.Diff(want.Targets, s.Targets); d != "" {
			t.Errorf("%s: %s", inputs.DType(), d)
		}
		set, err := s.Labelled("x", inputs, targets, nil)
		if err != nil || !slices.Equal(set.F32, rows.F32) || !slices.Equal(set.Values, rows.Values) {
			t.Errorf("%s: %+v, %v; the table says %v, %v", inputs.DType(), set, err, rows.F32, rows.Values)
		}
		some, err := s.Labelled("x", inputs, targets, train)
		if err != nil || some.Checksum() != set.Select("x", train).Checksum() {
			t.Errorf("%s: of some rows %+v, %v", inputs.DType(), some, err)
		}
		if again, err := want.Examples("x", inputs); err != nil || !slices.Equal(again.F32, rows.F32) {
			t.Errorf("%s: of the table's run %+v, %v", inputs.DType(), again, err)
		}
	}
}

// TestArraysOfPixels: bytes are pixels, v/255, as they are without standardisation; labels go with their rows.
func TestArraysOfPixels(t *testing.T) {
	inputs, labels := &Array{Name: "x", Shape: []int{3, 1, 2}, Values: []uint8{0, 51, 255, 51, 102, 51}}, &Array{Name: "y", Shape: []int{3}, Values: []uint8{1, 2, 0}}
	s, err := ArraySchema(inputs, labels, []int32{0, 1}, 3, true, true)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Ranges; len(r) != 1 || r[0].Min != 0 || r[0].Max != 1 { // of the one pixel that is not constant
		t.Errorf("ranges %+v", r)
	}
	s.Ranges = nil
	if d := cmp.Diff(&Schema{Shape: []int{1, 1, 2}, Classes: 3, Inputs: &Standard{Mean: []float64{0.5, 0.2}, SD: []float64{0.5, 0}, To: 1}}, s); d != "" {
		t.Error(d)
	}
	for _, a := range []*Array{inputs, {Name: "x", Shape: inputs.Shape, Values: []float64{0, 0.2, 1, 0.2, 0.4, 0.2}}} {
		set, err := s.Labelled("x", a, labels, []int32{2, 0})
		if err != nil || !slices.Equal(set.F32, []float32{float32((0.4 - 0.5) / 0.5), 0, -1, 0}) || !slices.Equal(set.Labels, []int32{0, 1}) {
			t.Errorf("%s: %+v, %v", a.DType(), set, err)
		}
	}
	plain, err := ArraySchema(inputs, labels, []int32{0, 1}, 3, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if set, err := plain.Labelled("x", inputs, labels, []int32{1}); err != nil || !slices.Equal(set.U8, []uint8{255, 51}) || set.Labels[0] != 2 {
		t.Errorf("without standardisation %+v, %v", set, err)
	}
	labels.Values = []uint8{1, 3, 0}
	if _, err := s.Labelled("x", inputs, labels, nil); err == nil || !strings.Contains(err.Error(), "y: data set \"x\": example 1 has label 3, want 0 to 2") {
		t.Errorf("a label too many: %v", err)
	}
}

// TestSchemaOfTrainingRows: rows that do not train have no part in it, wherever they stand, but for the names of classes.
func TestSchemaOfTrainingRows(t *testing.T) {
	tab := table(t, "a,c,y\n900,1,dog\n1,7,cat\n-900,2,cat\n5,7,cat\n", "y")
	s, err := Columns{Target: "y", Classes: true, SD: 0.5}.Schema(tab, []int32{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Ranges; len(r) != 1 || r[0].Min != 1 || r[0].Max != 5 {
		t.Errorf("ranges %+v", r)
	}
	s.Ranges = nil
	if d := cmp.Diff(&Schema{
		Columns: []string{"a", "c", "y"}, Named: true, Target: "y", Dropped: []string{"c"}, Constants: map[string]string{"c": "7"}, Shape: []int{1},
		Classes: 2, Names: []string{"cat", "dog"}, Inputs: &Standard{Mean: []float64{3}, SD: []float64{2}, To: 0.5},
	}, s); d != "" {
		t.Error(d)
	}
	set, err := s.Set("all", tab, nil, true)
	if err != nil || set.F32[1] != -0.5 || set.F32[3] != 0.5 {
		t.Fatalf("%+v, %v", set, err)
	}
	for i, want := range []float64{900, 1, -900, 5} {
		x := []float64{float64(set.F32[i])}
		if s.Inputs.Restore(x); !(math.Abs(x[0]-want) <= 1e-4) {
			t.Errorf("row %d is restored to %v, want %v", i, x[0], want)
		}
	}
}

// FuzzSchema: no data.json makes decoding panic, and whatever passes can be used.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"columns":["a","c","y"],"named":true,"target":"y","dropped":["c"],"shape":[1],"classes":2,"names":["n","y"],"inputs":{"mean":[1],"sd":[2],"to":1}}`), "y,a,c\nn,1,2\n")
	f.Add([]byte(`{"columns":["1","2"],"target":"2","intercept":true,"shape":[2],"outputs":1,"targets":{"mean":[1],"sd":[2],"to":1}}`), "1,2\n3,4\n")
	f.Add([]byte(`{"shape":[2],"outputs":1}`), "1,2\n")
	f.Add([]byte(`{"columns":["id","a","y"],"named":true,"target":"y","left_out":["id"],"shape":[1],"classes":2,"names":["n","y"]}`), "y,id,a\nn,x,2\n")
	f.Add([]byte(`{"columns":["id","a","b","y"],"named":true,"target":"y","left_out":["id"],"counted":["id"],"expand":[{"column":"a","categories":["p","q"],"missing":true,"indicator":true},`+
		`{"column":"b","missing":true,"mean":2}],"other":"zeros","shape":[4],"outputs":1,"inputs":{"mean":[0,0,0,1],"sd":[1,1,1,2],"to":1}}`), "y,a,b,c\n1,q,2,z\n2,r,,z\n3,,4,\n")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		s, err := DecodeSchema(raw)
		if err != nil {
			return
		}
		tab, err := DecodeCSV("f", []byte(text), s.CSV())
		if err != nil {
			return
		}
		if free, err := DecodeCSV("f", []byte(text), CSV{Words: true}); err == nil {
			s.Set("f", free, nil, true)
		}
		if inputs, err := DecodeCSV("f", []byte(text), s.CSVToPredict("")); err == nil {
			if set, err := s.Set("f", inputs, nil, false); err == nil {
				if err := set.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, targets := range []bool{false, true} {
			if set, err := s.Set("f", tab, nil, targets); err == nil {
				if err := set.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Examples("f", &Array{Name: "f", Shape: []int{tab.Rows(), tab.Cols}, Values: tab.Values}); err != nil && err.Error() == "" {
			t.Fatal(fmt.Errorf("an error without words"))
		}
	})
}

// TestClassesBySign: classes −1 and 1 are two classes with names, not the numbers 0 and 1.
func TestClassesBySign(t *testing.T) {
	s := trained(t, "a,y\n1,-1\n2,1\n3,-1\n", Columns{Target: "y", Classes: true})
	if s.Classes != 2 || !slices.Equal(s.Names, []string{"-1", "1"}) {
		t.Fatalf("%d classes, names %q", s.Classes, s.Names)
	}
	tab := table(t, "a,y\n5,1\n5,-1\n", "y")
	set, err := s.Set("other", tab, nil, true)
	if err != nil || !slices.Equal(set.Labels, []int32{1, 0}) {
		t.Errorf("%+v, %v", set, err)
	}
}

// TestUnusedColumnsMayBeMissing: an array with the columns of a run's table may lack values where the network takes none.
func TestUnusedColumnsMayBeMissing(t *testing.T) {
	s := trained(t, "a,same,y\n1,7,dog\n3,7,cat\n", Columns{Target: "y", Classes: true})
	rows := func(values ...float64) *Array { return &Array{Name: "x", Shape: []int{1, 3}, Values: values} }
	set, err := s.Examples("other", rows(5, nan(), nan()))
	if err != nil || !slices.Equal(set.F32, []float32{5}) {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := s.Examples("other", rows(nan(), 7, 0)); err == nil || !strings.Contains(err.Error(), "x: example 0, feature 0 is NaN") {
		t.Errorf("an input is missing: %v", err)
	}
}
