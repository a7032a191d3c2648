package data

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func table(t *testing.T, text, target string) *Table {
	t.Helper()
	tab, err := DecodeCSV("f", []byte(text), CSV{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestColumnsClasses(t *testing.T) {
	tab := table(t, "a,y,b\n1,dog,2\n3,cat,4\n5,dog,6\n", "y")
	sets, schema, err := Columns{Target: "y", Classes: true}.Sets(tab, []int32{0, 2}, []int32{1})
	if err != nil || schema.Inputs != nil {
		t.Fatal(schema, err)
	}
	want := []*Set{
		{Name: "f", Source: "f", Rows: []int32{0, 2}, Shape: []int{2}, F32: []float32{1, 2, 5, 6}, Labels: []int32{1, 1}, Classes: 2, Names: []string{"cat", "dog"}},
		{Name: "f", Source: "f", Rows: []int32{1}, Shape: []int{2}, F32: []float32{3, 4}, Labels: []int32{0}, Classes: 2, Names: []string{"cat", "dog"}},
	}
	if d := cmp.Diff(want, sets); d != "" {
		t.Error(d)
	}
	// Integers: in order of value, with names unless they are 0 … C−1.
	for text, want := range map[string]struct {
		labels []int32
		names  []string
	}{
		"a,y\n0,1\n1,0\n0,2\n":     {[]int32{1, 0, 2}, nil},
		"a,y\n0,10\n1,-1\n0,9.0\n": {[]int32{2, 0, 1}, []string{"-1", "9", "10"}},
		"a,y\n0,1\n1,2\n0,2\n":     {[]int32{0, 1, 1}, []string{"1", "2"}},
	} {
		sets, _, err := Columns{Target: "y", Classes: true}.Sets(table(t, text, "y"), []int32{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sets[0].Labels, want.labels) || !slices.Equal(sets[0].Names, want.names) {
			t.Errorf("%q: labels %v, names %q", text, sets[0].Labels, sets[0].Names)
		}
	}
}

// Means and deviations come from the first part only, and before rounding to float32: seconds since 1970 keep their
// differences. What is constant there is dropped.
func TestColumnsStandardise(t *testing.T) {
	tab := table(t, "time,y,c\n1600000000,1,7\n1600000002,2,7\n1600000004,9,8\n", "y")
	sets, schema, err := Columns{Target: "y", SD: 0.5, Intercept: true, Standardise: true}.Sets(tab, []int32{0, 1}, []int32{2})
	if err != nil {
		t.Fatal(err)
	}
	want := []*Set{
		{Name: "f", Source: "f", Rows: []int32{0, 1}, Shape: []int{2}, F32: []float32{1, -0.5, 1, 0.5}, Values: []float32{-1, 1}, Outputs: 1},
		{Name: "f", Source: "f", Rows: []int32{2}, Shape: []int{2}, F32: []float32{1, 1.5}, Values: []float32{15}, Outputs: 1},
	}
	if d := cmp.Diff(want, sets); d != "" {
		t.Error(d)
	}
	if r := schema.Ranges; len(r) != 1 || r[0].Column != "time" || r[0].Min != 1600000000 || r[0].Max != 1600000002 || r[0].Mean != 1600000001 || r[0].SD != 1 {
		t.Errorf("ranges %+v", r)
	}
	schema.Ranges = nil
	if d := cmp.Diff(&Schema{
		Columns: []string{"time", "y", "c"}, Named: true, Target: "y", Dropped: []string{"c"}, Constants: map[string]string{"c": "7"}, Intercept: true, Shape: []int{2}, Outputs: 1,
		Inputs:  &Standard{Mean: []float64{1600000001}, SD: []float64{1}, To: 0.5},
		Targets: &Standard{Mean: []float64{1.5}, SD: []float64{0.5}, To: 1},
	}, schema); d != "" {
		t.Error(d)
	}
}

func TestColumnsRefuse(t *testing.T) {
	for text, c := range map[string]struct {
		c    Columns
		want string
	}{
		"a,y\n1,2\n,3\n4,5\n":                            {Columns{Target: "y"}, "f: line 3, column 1 (a): the value is missing: fill it or remove the row"},
		"a,y\n1,2\n,3\n4,\n":                             {Columns{Target: "y"}, "line 3, column 1 (a): the value is missing; 2 rows have such values (lines 3, 4)"},
		"a,y\n" + strings.Repeat("1,inf\n", 7):           {Columns{Target: "y"}, "line 2, column 2 (y): the value is infinite; 7 rows have such values (lines 2, 3, 4, 5, 6, …)"},
		"a,y\n1,inf\n,2\n2,-inf\n":                       {Columns{Target: "y"}, "line 2, column 2 (y): the value is infinite; 2 rows have such values (lines 2, 4)"},
		"a,y\n1,2\n":                                     {Columns{Target: "y"}, "f: a single row to train: no column tells rows apart, so add rows"},
		"a,y\n" + strings.Repeat("1,inf\n", 5):           {Columns{Target: "y"}, "5 rows have such values (lines 2, 3, 4, 5, 6)"},
		"a,y\n1,dog\n":                                   {Columns{Target: "y"}, `f: column 2 (y) holds names such as "dog", not numbers`},
		"a,y\n1,2.5\n":                                   {Columns{Target: "y", Classes: true}, "line 2, column 2 (y): 2.5 is not a class"},
		"b,y\n1,2\n":                                     {Columns{Target: "z"}, `f: target: no column "z" among "b", "y"`},
		"y\n1\n":                                         {Columns{Target: "y"}, "there are no inputs"},
		"a,y\n1,2\n1,3\n":                                {Columns{Target: "y"}, "f: every column but the target is constant over the training rows"},
		"a,y\n1,2\n2,2\n":                                {Columns{Target: "y", Standardise: true}, "f: target is 2 in all 2 training examples"},
		"a,b,a,y\n1,2,3,4\n":                             {Columns{Target: "y"}, `f: columns 1 and 3 are both named "a": rename one of them`},
		"y,a\n2,1e39\n1,1\n":                             {Columns{Target: "y"}, "line 2, column 2 (a): the value is too large for a float32"},
		"a,y\n2,1e39\n1,2\n":                             {Columns{Target: "y"}, "line 2, column 2 (y): the value is too large"},
		"a,y\n1e-310,1\n-1e-310,2\n":                     {Columns{Target: "y", SD: 1}, "f: column 1 (a): its numbers are too small for a float64 to hold their standard deviation"},
		"a,y\n1,1e-310\n2,-1e-310\n":                     {Columns{Target: "y", Standardise: true}, "f: target 0: its numbers are too small"},
		"a,y\n1e-200,1\n-3e-200,2\n":                     {Columns{Target: "y"}, "f: column 1 (a): no number is larger than 3e-200, too small for the float32 in which a network computes: change the unit, or standardise (data.standardise: inputs)"},
		"y,a\n1e-39,1\n2e-39,2\n":                        {Columns{Target: "y"}, "f: column 1 (y): no number is larger than 2e-39, too small for the float32 in which a network computes: change the unit, or standardise (data.standardise: both)"},
		"a,y\n1,1\n-1e38,2\n":                            {Columns{Target: "y"}, "f: column 1 (a): numbers as large as 1e+38, whose squares overflow"},
		"a,y\n1,1\n2,1e38\n":                             {Columns{Target: "y", SD: 1}, "f: column 2 (y): numbers as large as 1e+38, whose squares overflow the float32 in which a network computes: change the unit, or standardise (data.standardise: both)"},
		"a,y\n1,9007199254740992\n2,0\n":                 {Columns{Target: "y", Classes: true}, "f: line 2, column 2 (y): class 9007199254740992: a float64 does not tell all integers from 2⁵³ apart"},
		"a,y\n1,0\n2,-9007199254740993\n":                {Columns{Target: "y", Classes: true}, "f: line 3, column 2 (y): class -9007199254740993: "},
		"a,y\n1,0\n2, 20231122091823457001\n3,1e300\n":   {Columns{Target: "y", Classes: true}, "f: line 3, column 2 (y): class 20231122091823457001: "},
		"a,y\n1," + strings.Join(numbers(70000), "\n1,"): {Columns{Target: "y", Classes: true}, "more than 65536 different values"},
	} {
		tab := table(t, text, "y")
		if strings.HasPrefix(text, "b") {
			tab = table(t, text, "")
		}
		all := make([]int32, tab.Rows())
		for i := range all {
			all[i] = int32(i)
		}
		if _, _, err := c.c.Sets(tab, all); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", text[:min(40, len(text))], err, c.want)
		}
	}
}

func numbers(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = strconv.Itoa(i)
	}
	return s
}

// The standardisation of a set has mean 0 and the population sd that was asked for, and treats pixels as a network
// sees them.
func TestStandardApply(t *testing.T) {
	r := stream(1)
	const n = 500
	f := &Set{Name: "f", Shape: []int{3}, F32: make([]float32, 3*n)}
	u := &Set{Name: "u", Shape: []int{3}, U8: make([]uint8, 3*n)}
	for i := range n {
		f.F32[3*i] = float32(100 + 3*r.Normal())
		f.F32[3*i+1] = float32(0.1)
		f.F32[3*i+2] = float32(1e-6 * r.Float64())
		for j := range 3 {
			u.U8[3*i+j] = uint8(r.IntN(256 >> j))
		}
	}
	for _, s := range []*Set{f, u} {
		got, err := FitStandard(s, 0.5).Apply(s)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			sum, squares := 0.0, 0.0
			for i := range n {
				v := float64(got.F32[3*i+j])
				sum += v
				squares += v * v
			}
			sd := math.Sqrt(squares / n)
			if s == f && j == 1 {
				if sd != 0 {
					t.Errorf("constant feature becomes %v", got.F32[j])
				}
				continue
			}
			if !(math.Abs(sum/n) <= 1e-7 && math.Abs(sd-0.5) <= 1e-6) {
				t.Errorf("%s, feature %d: mean %v, sd %v", s.Name, j, sum/n, sd)
			}
		}
	}
	std := FitStandard(u, 1)
	if want := meanOf(u, 0); !(math.Abs(std.Mean[0]-want) <= 1e-15) {
		t.Errorf("mean of pixels %v, want %v", std.Mean[0], want)
	}
	if _, err := std.Apply(&Set{Name: "other", Shape: []int{2}, U8: []uint8{1, 2}}); err == nil {
		t.Error("a set with other features is accepted")
	}
	// A constant feature says nothing, also where it changes later.
	later := &Set{Name: "later", Shape: []int{3}, F32: []float32{100, 9, 0}}
	if got, err := FitStandard(f, 1).Apply(later); err != nil || got.F32[1] != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func meanOf(s *Set, j int) float64 {
	sum := 0
	for i := range s.Len() {
		sum += int(s.U8[i*s.Features()+j])
	}
	return float64(sum) / 255 / float64(s.Len())
}

func TestPima(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the Pima data")
	}
	p, err := Load("pima", dir)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Train
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	ones := 0
	for _, y := range s.Labels {
		ones += int(y)
	}
	if s.Len() != 768 || s.Features() != 9 || s.Classes != 2 || s.Names != nil || ones != 268 || !p.Whole {
		t.Fatalf("%d × %d, %d classes %q, %d ones", s.Len(), s.Features(), s.Classes, s.Names, ones)
	}
	x := make([]float64, 9)
	var sum, squares [9]float64
	for i := range s.Len() {
		s.Row(i, x)
		for j, v := range x {
			sum[j] += v / 768
			squares[j] += v * v / 768
		}
	}
	for j := range x {
		mean, sd := 0.0, 0.5
		if j == 0 {
			mean, sd = 1, 0
		}
		if got := math.Sqrt(math.Abs(squares[j] - sum[j]*sum[j])); !(math.Abs(sum[j]-mean) <= 1e-7 && math.Abs(got-sd) <= 1e-6) {
			t.Errorf("column %d: mean %v, sd %v", j, sum[j], got)
		}
	}
	// First row by hand: pregnant 6, of mean 3.845052 and population sd 3.367384; diabetes 1.
	if got, want := float64(s.F32[1]), 0.5*(6-3.8450520833333335)/3.3673836124089566; !(math.Abs(got-want) <= 1e-6) || s.Labels[0] != 1 {
		t.Errorf("first row: %v, label %d; want %v, 1", got, s.Labels[0], want)
	}
	if err := p.Split(1); err != nil || p.Test != nil || p.Train.Len() != 768 {
		t.Error("a whole problem was split")
	}
}

// TestColumnsWithoutValues: columns without any value, as commas at the end of each line make them, are dropped by a header or without one, and
// such a file can be evaluated on and predicted; one that lacks only some values is refused as before.
func TestColumnsWithoutValues(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b,y,\n1,2,0,\n2,5,1,\n3,3,0,\n":        {""},
		"a,b,y,,\n1,2,0,,\n2,5,1,,\n3,3,0,,\n":    {"", ""},
		"a,b,y,c\n1,2,0,NA\n2,5,1,NA\n3,3,0,NA\n": {"c"},
		"a,b,y,c\n1,2,0,nan\n2,5,1,nan\n3,3,0,\n": {"c"},
		"1,2,0,\n2,5,1,\n3,3,0,\n":                {"4"},
		",a,b,y\n,1,2,0\n,2,5,1\n,3,3,0\n":        {""},
	} {
		target := "y"
		if text[0] == '1' {
			target = "3"
		}
		s := leave(t, text, CSV{Target: target, Words: true}, Columns{Target: target, Classes: true})
		if !slices.Equal(s.Dropped, want) || !slices.Equal(s.Empty, want) || len(s.Features()) != 2 {
			t.Errorf("%q: dropped %q, empty %q", text, s.Dropped, s.Empty)
		}
		for k, o := range []CSV{s.CSV(), s.CSVToPredict("")} {
			tab, err := DecodeCSV("g", []byte(text), o)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if set, err := s.Set("g", tab, nil, k == 0); err != nil || !slices.Equal(set.F32, []float32{1, 2, 2, 5, 3, 3}) {
				t.Errorf("%q: %+v, %v", text, set, err)
			}
		}
	}
	for text, want := range map[string]string{
		"a,b,y\n1,,0\n2,3,1\n":      "line 2, column 2 (b): the value is missing",
		"a,b,y\n1,2,\n2,3,\n":       "line 2, column 3 (y): the value is missing",
		"a,y,c,c\n1,0,2,\n2,1,3,\n": `columns 3 and 4 are both named "c": rename one of them`,
	} {
		tab, err := DecodeCSV("f", []byte(text), CSV{Target: "y", Words: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Columns{Target: "y", Classes: true}).Schema(tab, tab.All()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
