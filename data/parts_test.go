package data

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A division by shares gives each part its number of examples, and each example to one part at most. The examples are part of
// the format: they are the same on every machine, and the shares that are the defaults give what no settings give.
func TestDivideByShares(t *testing.T) {
	for _, c := range []struct {
		p                       *Parts
		n                       int
		lackTest, lackValidate  bool
		train, test, validation int
	}{
		{&Parts{Train: 0.6, Validate: 0.3, Test: 0.1}, 1030, true, true, 618, 103, 309},
		{&Parts{Train: 0.6, Validate: 0.3, Test: 0.1}, 1599, true, true, 961, 159, 479}, // none is lost to rounding
		{&Parts{Train: 0.5, Validate: 0.25, Test: 0.125}, 1001, true, true, 500, 125, 250},
		{&Parts{Validate: 0.29}, 100, true, true, 61, 10, 29},
		{&Parts{Train: 0.29}, 100, true, true, 29, 10, 10},
		{&Parts{Train: 0.8}, 99, true, true, 81, 9, 9},
		{&Parts{Train: 0.5}, 7, true, true, 3, 1, 1}, // a tenth is one example at least
		{&Parts{Train: 0.5}, 1200, false, false, 600, 0, 0},
		{&Parts{Train: 1}, 1200, false, false, 1200, 0, 0},
		{&Parts{Train: 0.9}, 200, false, true, 180, 0, 20},
		{&Parts{Validate: 0.5}, 200, false, true, 100, 0, 100},
	} {
		kept, held, err := c.p.divide(c.n, 5, anyRows, c.lackTest, c.lackValidate)
		if err != nil {
			t.Errorf("%+v of %d: %v", *c.p, c.n, err)
			continue
		}
		all := append([][]int32{kept}, held...)
		var want []int
		for _, size := range []int{c.train, c.test, c.validation} {
			if size > 0 {
				want = append(want, size)
			}
		}
		seen := map[int32]bool{}
		for k, part := range all {
			if k >= len(want) || len(part) != want[k] || !slices.IsSorted(part) {
				t.Fatalf("%+v of %d: part %d has %d examples, want %v", *c.p, c.n, k, len(part), want)
			}
			for _, i := range part {
				if seen[i] || i < 0 || int(i) >= c.n {
					t.Fatalf("%+v of %d: example %d is in two parts or none of the data", *c.p, c.n, i)
				}
				seen[i] = true
			}
		}
	}

	kept, held, err := (&Parts{Train: 0.6, Validate: 0.3, Test: 0.1}).divide(20, 3, anyRows, true, true)
	if got, want := fmt.Sprint(kept, held, err), "[2 3 4 6 7 8 9 10 11 15 16 17] [[5 19] [0 1 12 13 14 18]] <nil>"; got != want {
		t.Errorf("seed 3 divides 20 examples into %s, want %s", got, want)
	}
	for _, n := range []int{10, 29, 1000} {
		a, b, err := (*Parts)(nil).divide(n, 5, anyRows, true, true)
		kept, held, err2 := (&Parts{Validate: 0.1, Test: 0.1}).divide(n, 5, anyRows, true, true)
		if err != nil || err2 != nil || !slices.Equal(a, kept) || !reflect.DeepEqual(b, held) {
			t.Errorf("%d examples: tenths that are given are others than those that are not", n)
		}
	}
}

// Shares that are too small for one example are refused with their place.
func TestDivideRefuses(t *testing.T) {
	for _, c := range []struct {
		p     Parts
		n     int
		field string
		want  string
	}{
		{Parts{Test: 0.01}, 99, "split.test", "0.01 of 99 examples is less than one"},
		{Parts{Validate: 0.3}, 3, "split.validate", "0.3 of 3 examples is less than one"},
		{Parts{Train: 0.001}, 999, "split.train", "0.001 of 999 examples is less than one"},
		{Parts{Validate: 0.5, Test: 0.5}, 10, "split", "leaves none of 10 examples to train"},
		{Parts{Train: 0.8}, 2, "split", "leaves none of 2 examples to train"},
	} {
		_, _, err := c.p.divide(c.n, 1, anyRows, true, true)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != c.field || field.Message != c.want {
			t.Errorf("%+v of %d: %v", c.p, c.n, err)
		}
	}
	if _, _, err := (&Parts{TestRows: "rows.txt"}).divide(9, 1, anyRows, false, true); err == nil || !strings.Contains(err.Error(), "data.split.test_rows: the data have a test part") {
		t.Errorf("test rows of data with a test part: %v", err)
	}
}

// putWave writes a table of n rows whose input is the row's number, as CSV and as arrays.
func putWave(t *testing.T, dir string, n int) (csv, x, y string) {
	t.Helper()
	text, inputs, targets := "a,b,y\n", []float64(nil), []float64(nil)
	for i := range n {
		text += fmt.Sprintf("%d,%d,%d\n", i, i*i%7, i%5)
		inputs, targets = append(inputs, float64(i), float64(i*i%7)), append(targets, float64(i%5))
	}
	return put(t, dir, "wave.csv", text), putNPY(t, dir, "x.npy", []int{n, 2}, inputs), putNPY(t, dir, "y.npy", []int{n}, targets)
}

// rowsOf lists the first inputs of a set, which putWave makes the numbers of the rows.
func rowsOf(s *Set) (rows []int) {
	for i := range s.Len() {
		rows = append(rows, int(s.F32[2*i]))
	}
	return rows
}

// TestSplitByRows: of a table, of arrays and of slices in memory the rows of the file test and nothing else, and they do not
// train. The other rows are divided by the seed alone.
func TestSplitByRows(t *testing.T) {
	const n = 50
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, n)
	rows := put(t, dir, "rows.txt", "7\n0\r\n\n 49 \n12")
	var memory Slices
	for i := range n {
		memory.Inputs, memory.Targets = append(memory.Inputs, []float64{float64(i), float64(i * i % 7)}), append(memory.Targets, float64(i%5))
	}
	split := &Parts{TestRows: rows}
	var first *Problem
	for name, s := range map[string]Settings{
		"table":  {CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Split: split, Standardise: "none"},
		"arrays": {Train: &Arrays{x, y}, Split: split},
		"memory": {Memory: &Memory{Train: &memory}, Split: split},
	} {
		p := loaded(t, s, Need{Regression: true, Seed: 4})
		if got := rowsOf(p.Test); !slices.Equal(got, []int{0, 7, 12, 49}) || !slices.Equal(p.Test.Values, []float32{0, 2, 2, 4}) {
			t.Errorf("%s: rows %v test", name, got)
		}
		all := slices.Concat(rowsOf(p.Train), rowsOf(p.Validate), rowsOf(p.Test))
		if slices.Sort(all); len(slices.Compact(all)) != n || p.Validate.Len() != 4 || p.Train.Len() != 42 {
			t.Errorf("%s: %d to train, %d to validate; together with the test part %v", name, p.Train.Len(), p.Validate.Len(), all)
		}
		if first == nil {
			first = p
		}
		if !maps.Equal(first.Checksums(), p.Checksums()) {
			t.Errorf("%s: other parts than those of the first source", name)
		}
		if other := loaded(t, s, Need{Regression: true, Seed: 5}); slices.Equal(rowsOf(other.Validate), rowsOf(p.Validate)) || !slices.Equal(rowsOf(other.Test), rowsOf(p.Test)) {
			t.Errorf("%s: another seed gives the same validation examples, or another test part", name)
		}
		put(t, dir, "rows.txt", "12\n49\n7\n0\n") // the order of the file is none of the examples
		if again := loaded(t, s, Need{Regression: true, Seed: 4}); !maps.Equal(again.Checksums(), p.Checksums()) {
			t.Errorf("%s: the order of the test rows changes the parts", name)
		}
	}
	// What is standardised is measured on the rows that train.
	p := loaded(t, Settings{CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Split: split}, Need{Regression: true, Seed: 4})
	mean := 0.0
	for _, i := range rowsOf(first.Train) {
		mean += float64(i) / 42
	}
	if got := p.Schema.Inputs.Mean[0]; !(got-mean < 1e-9 && mean-got < 1e-9) {
		t.Errorf("mean of the inputs %v, of the rows that train %v", got, mean)
	}
	// A network that is evaluated as it is has the same test part.
	if p := loaded(t, Settings{Train: &Arrays{x, y}, Split: split}, Need{Regression: true, Seed: 4, Whole: true}); p.Whole || p.Test.Len() != 4 {
		t.Errorf("whole: %+v", p)
	}
	// Own validation examples stay, and all other rows train.
	own := loaded(t, Settings{Train: &Arrays{x, y}, Validate: &Arrays{x, y}, Split: split}, Need{Regression: true})
	if own.Validate.Len() != n || own.Train.Len() != 46 || own.Test.Len() != 4 {
		t.Errorf("with own validation examples: %d, %d, %d", own.Train.Len(), own.Validate.Len(), own.Test.Len())
	}
}

// TestSplitByShares: tables, arrays and known sets are divided; parts of their own stay.
func TestSplitByShares(t *testing.T) {
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, 50)
	three := &Parts{Train: 0.5, Validate: 0.3, Test: 0.1}
	for _, c := range []struct {
		name                  string
		s                     Settings
		need                  Need
		train, validate, test int
	}{
		{"table", Settings{CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Split: three}, Need{Regression: true}, 25, 15, 5},
		{"known table", Settings{Set: "concrete", Split: &Parts{Train: 0.6, Validate: 0.3, Test: 0.1}}, Need{Regression: true}, 618, 309, 103},
		{"arrays", Settings{Train: &Arrays{x, y}, Split: three}, Need{Regression: true}, 25, 15, 5},
		{"arrays with a test part", Settings{Train: &Arrays{x, y}, Test: &Arrays{x, y}, Split: &Parts{Train: 0.5}}, Need{Regression: true}, 25, 5, 50},
		{"a set with parts", Settings{Set: "mnist7", Split: &Parts{Train: 0.25}}, Need{}, 300, 200, 7000},
	} {
		p := loaded(t, c.s, c.need)
		if p.Train.Len() != c.train || p.Validate.Len() != c.validate || p.Test.Len() != c.test {
			t.Errorf("%s: %d to train, %d to validate, %d to test", c.name, p.Train.Len(), p.Validate.Len(), p.Test.Len())
		}
		c.need.Seed = 9
		if other := loaded(t, c.s, c.need); other.Train.Checksum() == p.Train.Checksum() {
			t.Errorf("%s: another seed gives the same parts", c.name)
		}
	}
}

// TestRowsFile: files of test rows that are refused, with the line.
func TestRowsFile(t *testing.T) {
	dir := t.TempDir()
	csv, _, _ := putWave(t, dir, 12)
	for text, want := range map[string]string{
		"":                                       "names no rows: want one row number a line, counted from 0",
		"\n \n":                                  "names no rows",
		"3\n12\n":                                "line 2: row 12: the data have the rows 0 to 11",
		"99999999999999999999999\n":              "line 1: row 99999999999999999999999: the data have the rows 0 to 11",
		"4\n\n-1\n":                              `line 3: "-1" is not a row: want one row number a line`,
		"1 2\n":                                  `line 1: "1 2" is not a row`,
		"1.0\n":                                  `line 1: "1.0" is not a row`,
		"row\n1\n":                               `line 1: "row" is not a row`,
		"3\n5\n7\n5\n":                           "line 4: row 5 is on line 2, too: want each row once",
		"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n": "names all 12 rows: none is left to train",
		"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n":     "beside these rows: too few examples to hold out 1 parts: 1",
		strings.Repeat("1", 1<<17):               "a line of more than",
	} {
		file := put(t, dir, "rows.txt", text)
		_, err := (Settings{CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Split: &Parts{TestRows: file}}).Load("", Need{Regression: true})
		if err == nil || !strings.Contains(err.Error(), file+": "+want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	_, err := (Settings{CSV: &CSV{File: csv, Target: "y", Keep: []string{"a"}}, Split: &Parts{TestRows: filepath.Join(dir, "none")}}).Load("", Need{Regression: true})
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing file: %v", err)
	}
}
