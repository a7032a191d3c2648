package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/tables"
)

// inWords is a table of colours, sizes and ages, of which every fifth colour and every seventh age is missing where holes says so,
// and the same table as a person writes it in numbers: a column of 0 and 1 for each word, in order of name, and one for the missing
// values of each column. The first missing ages are those of age, the mean of the others in the training rows.
func inWords(n int, holes bool, age func(i int) float64) (words, numbers string) {
	words, numbers = "size,age,colour,y\n", "large,small,age,age missing,blue,green,red,colour missing,y\n"
	if !holes {
		numbers = "large,small,age,blue,green,red,y\n"
	}
	bit := func(is bool) string {
		if is {
			return "1,"
		}
		return "0,"
	}
	for i := range n {
		size, colour, years := []string{"small", "large"}[i*i%3%2], []string{"red", "blue", "green", "red"}[i%4], strconv.Itoa(20+i*i%37)
		said := years
		noColour, noAge := holes && i%5 == 3, holes && i%7 == 2
		if noColour {
			colour = ""
		}
		if noAge {
			years, said = "", strconv.FormatFloat(age(i), 'g', -1, 64)
		}
		words += fmt.Sprintf("%s,%s,%s,%d\n", size, years, colour, i%3)
		numbers += bit(size == "large") + bit(size == "small") + said + ","
		if holes {
			numbers += bit(noAge)
		}
		numbers += bit(colour == "blue") + bit(colour == "green") + bit(colour == "red")
		if holes {
			numbers += bit(noColour)
		}
		numbers += fmt.Sprintf("%d\n", i%3)
	}
	return words, numbers
}

// trainingMean is the mean of a column of a table over the rows that train and have a value.
func trainingMean(t *testing.T, text, column string, seed uint64) float64 {
	t.Helper()
	tab, err := DecodeCSV("f", []byte(text), CSV{Target: "y", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	y, err := tab.Column("y")
	if err != nil {
		t.Fatal(err)
	}
	var none *Parts
	train, _, err := none.divide(tab.Rows(), seed, byClass(tab, y), true, true)
	if err != nil {
		t.Fatal(err)
	}
	j, err := tab.Column(column)
	if err != nil {
		t.Fatal(err)
	}
	sum, count := 0.0, 0
	for _, i := range train {
		if v := tab.Values[int(i)*tab.Cols+j]; v == v {
			sum, count = sum+v, count+1
		}
	}
	return sum / float64(count)
}

// TestOneHotByHand: words, booleans and missing values become the inputs that a person would write in their place: the same bits in
// all parts, whether the numbers are standardised or not. The columns of 0 and 1 stay 0 and 1.
func TestOneHotByHand(t *testing.T) {
	const n, seed = 120, 3
	dir := t.TempDir()
	for _, holes := range []bool{false, true} {
		text, _ := inWords(n, holes, func(int) float64 { return 0 })
		mean := trainingMean(t, text, "age", seed)
		_, numbers := inWords(n, holes, func(int) float64 { return mean })
		missing := "refuse"
		if holes {
			missing = "indicator"
		}
		own := put(t, dir, "words.csv", text)
		hand := put(t, dir, "numbers.csv", numbers)
		for _, standardise := range []string{"none", "inputs"} {
			p := loaded(t, Settings{CSV: &CSV{File: own, Target: "y", Missing: missing}, Standardise: standardise}, Need{Seed: seed})
			want := loaded(t, Settings{CSV: &CSV{File: hand, Target: "y"}, Standardise: standardise}, Need{Seed: seed})
			if standardise == "none" && !cmp.Equal(p.Checksums(), want.Checksums()) {
				t.Errorf("holes %v: other bits than those of the table by hand", holes)
			}
			names := want.Schema.Columns[:len(want.Schema.Columns)-1]
			var titles []string
			for _, name := range p.Schema.InputNames() {
				name = strings.TrimPrefix(strings.TrimPrefix(name, "colour = "), "size = ")
				titles = append(titles, name)
			}
			if !slices.Equal(titles, names) {
				t.Fatalf("inputs %q, by hand %q", titles, names)
			}
			for part, set := range parts(p) {
				other, width := parts(want)[part], len(names)
				for k, v := range set.F32 {
					if name := names[k%width]; name == "age" {
						if v != other.F32[k] {
							t.Fatalf("%s, %s: example %d has age %v, by hand %v", standardise, part, k/width, v, other.F32[k])
						}
					} else if v != 0 && v != 1 {
						t.Fatalf("%s, %s: example %d has %v for %s", standardise, part, k/width, v, name)
					}
				}
				if !slices.Equal(set.Labels, other.Labels) {
					t.Errorf("%s: other labels", part)
				}
			}
			raw, err := json.Marshal(p.Schema)
			if err != nil {
				t.Fatal(err)
			}
			again, err := DecodeSchema(raw)
			if err != nil || cmp.Diff(p.Schema, again) != "" {
				t.Errorf("read back: %v\n%s", err, cmp.Diff(p.Schema, again))
			}
			if anew := loaded(t, Settings{CSV: &CSV{File: own, Target: "y", Missing: missing}, Standardise: standardise}, Need{Seed: seed, Schema: again}); !cmp.Equal(anew.Checksums(), p.Checksums()) {
				t.Errorf("holes %v, %s: loaded again by its schema, the examples differ", holes, standardise)
			}
			// As a file to predict, and as one to evaluate on: whole, and in blocks of a few rows.
			for name, o := range map[string]CSV{"predict": again.CSVToPredict(""), "evaluate": again.CSV()} {
				var got []float32
				if err := formats.ScanCSV(own, o, 7, func(block *Table) error {
					set, err := again.Set("all", block, nil, name == "evaluate")
					if err == nil {
						got = append(got, set.F32...)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				whole, err := again.Read(own, "", "")
				if err != nil || !slices.Equal(got, whole.Test.F32) || len(got) != n*len(names) {
					t.Errorf("%s: other inputs by blocks: %v", name, err)
				}
			}
		}
	}
}

// TestCategoriesOfTrainingRows: a word is a category if a training row has it. Another one is an error with its place and the mend,
// or, by the settings, no category.
func TestCategoriesOfTrainingRows(t *testing.T) {
	const text = "a,b,y\nred,1,0\nblue,2,1\nred,3,0\ngreen,4,1\n"
	tab, err := DecodeCSV("f", []byte(text), CSV{Target: "y", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	train := []int32{0, 1, 2}
	strict, err := Columns{Target: "y", Classes: true}.Schema(tab, train)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Expansion{{Column: "a", Categories: []string{"blue", "red"}}}, strict.Expand); d != "" {
		t.Fatal(d)
	}
	const want = `"green" is no category that the training rows have ("blue", "red"): write one of them, or train with data.csv.other: zeros, which takes a new word for no category`
	if _, err := strict.Set("held out", tab, []int32{3}, true); err == nil || err.Error() != "f: line 5, column 1 (a): "+want {
		t.Errorf("held out: %v", err)
	}
	zeros, err := Columns{Target: "y", Classes: true, Zeros: true}.Schema(tab, train)
	if err != nil {
		t.Fatal(err)
	}
	set, err := zeros.Set("all", tab, nil, true)
	if inputs := []float32{0, 1, 1, 1, 0, 2, 0, 1, 3, 0, 0, 4}; err != nil || !slices.Equal(set.F32, inputs) {
		t.Errorf("zeros: %+v, %v", set, err)
	}
	for text, want := range map[string]string{
		"a,b\nred,1\ngreen,2\n":   "g: line 3, column 1 (a): " + want,
		"a,b\nred,1\nReds,2\n":    `g: line 3, column 1 (a): "Reds" is no category that the training rows have ("blue", "red"): did you mean "red"? Write one of them, or`,
		"a,b\nred,1\n7,2\n":       `g: line 3, column 1 (a): "7" is a number, where the run's table has words: "blue", "red"`,
		"a,b\nred,1\nblue,two\n":  `g: line 3, column 2 (b): "two" is not a number`,
		"a,b\nred,1\n,2\n":        "g: line 3, column 1 (a): the value is missing",
		"a,b\nred,1\n\"2,5\",2\n": `g: line 3, column 1 (a): "2,5" is no category that the training rows have`,
	} {
		for _, o := range []CSV{strict.CSV(), strict.CSVToPredict("")} {
			tab, err := DecodeCSV("g", []byte(text), o)
			if err == nil {
				_, err = strict.Set("g", tab, nil, false)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want %s", text, err, want)
			}
		}
	}
	// Read without the schema: the same words, and numbers where words were.
	for text, want := range map[string]string{
		"a,b,y\n7,1,0\n":   `g: line 2, column 1 (a): 7 is a number, where the run's table has words: "blue", "red"`,
		"a,b,y\nred,x,0\n": `g: column 2 (b) holds names such as "x", not numbers`,
	} {
		tab, err := DecodeCSV("g", []byte(text), CSV{Words: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Set("g", tab, nil, false); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if tab, err := DecodeCSV("g", []byte("a,b\nyellow,1\nred,2\n"), zeros.CSV()); err != nil {
		t.Error(err)
	} else if set, err := zeros.Set("g", tab, nil, false); err != nil || !slices.Equal(set.F32, []float32{0, 0, 1, 0, 1, 2}) {
		t.Errorf("a new word to predict: %+v, %v", set, err)
	}
	if _, err := strict.Examples("x", &Array{Name: "x", Shape: []int{1, 2}, Values: []float64{1, 2}}); err == nil || err.Error() != `x: the run's table has words in the column "a", which an array cannot hold: name a CSV` {
		t.Errorf("an array: %v", err)
	}
}

// TestMissingValues: the mean is that of the training rows; a column that lacks values only elsewhere has no input of its own for them;
// a column without a missing value in the file refuses one later.
func TestMissingValues(t *testing.T) {
	const text = "a,b,c,w,v,y\n1,5,1,x,p,0\n,6,2,x,q,1\n5,7,3,,p,0\n900,,5,z,,1\n"
	tab, err := DecodeCSV("f", []byte(text), CSV{Target: "y", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Columns{Target: "y", Classes: true, Missing: true, Zeros: true}.Schema(tab, []int32{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Expansion{
		{Column: "a", Missing: true, Indicator: true, Mean: 3}, {Column: "b", Missing: true, Mean: 6},
		{Column: "w", Categories: []string{"x"}, Missing: true, Indicator: true}, {Column: "v", Categories: []string{"p", "q"}, Missing: true},
	}, s.Expand); d != "" {
		t.Fatal(d)
	}
	if names := s.InputNames(); !slices.Equal(names, []string{"a", "a missing", "b", "c", "w = x", "w missing", "v = p", "v = q"}) {
		t.Errorf("inputs %q", names)
	}
	set, err := s.Set("all", tab, nil, true)
	if want := []float32{
		1, 0, 5, 1, 1, 0, 1, 0,
		3, 1, 6, 2, 1, 0, 0, 1,
		5, 0, 7, 3, 0, 1, 1, 0,
		900, 0, 6, 5, 0, 0, 0, 0,
	}; err != nil || !slices.Equal(set.F32, want) {
		t.Errorf("%+v, %v", set, err)
	}
	shown := s.Cells([]float64{3, 1, 6, 2, 1, 0, 0, 0}, func(k int) string { return fmt.Sprint("input ", k) })
	if !slices.Equal(shown, []string{"", "input 2", "input 3", "x", ""}) {
		t.Errorf("shown as %q", shown)
	}
	other, err := DecodeCSV("g", []byte("a,b,c,w,v\n1,2,,x,p\n"), s.CSV())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Set("g", other, nil, false); err == nil || err.Error() != "g: line 2, column 3 (c): the value is missing: fill it or remove the row, since no row of the run's table lacks a value there" {
		t.Errorf("a value that was never missing: %v", err)
	}
	for text, want := range map[string]string{
		"a,y\n1,0\n2,\n3,1\n":    "f: line 3, column 2 (y): the value is missing",
		"a,y\n1,no\n2,\n3,yes\n": "f: line 3, column 2 (y): the value is missing",
		"a,y\n1,0\ninf,0\n3,1\n": "f: line 3, column 1 (a): the value is infinite",
		"a,y\n,0\n,0\n,1\n":      "every column but the target is constant over the training rows",
	} {
		tab, err := DecodeCSV("f", []byte(text), CSV{Target: "y", Words: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Columns{Target: "y", Classes: true, Missing: true}).Schema(tab, tab.All()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if _, err := (Columns{Target: "y", Classes: true}).Schema(tab, tab.All()); err == nil || !strings.Contains(err.Error(), "the value is missing; 3 rows") {
		t.Errorf("refused by default: %v", err)
	}
	// Arrays may hold missing numbers, too.
	numbers, err := DecodeCSV("f", []byte("a,y\n1,0\n,1\n3,0\n"), CSV{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Columns{Target: "y", Classes: true, Missing: true, SD: 1}.Schema(numbers, numbers.All())
	if err != nil {
		t.Fatal(err)
	}
	array, err := plain.Examples("x", &Array{Name: "x", Shape: []int{2, 1}, Values: []float64{nan(), 3}})
	if sd := math.Sqrt(2. / 3); err != nil || !slices.Equal(array.F32, []float32{0, 1, float32(1 / sd), 0}) {
		t.Errorf("an array: %+v, %v", array, err)
	}
}

// TestKeepAndDropRefuse: a column that is not there is a fault of the settings with a hint; so is one that is kept and dropped.
func TestKeepRefuses(t *testing.T) {
	file := put(t, t.TempDir(), "f.csv", "id,colour,y\n1,red,0\n2,blue,1\n3,red,0\n")
	var field *FieldError
	_, err := Settings{CSV: &CSV{File: file, Target: "y", Keep: []string{"id", "color"}}}.Load("", Need{})
	if !errors.As(err, &field) || field.Field != "csv.keep.1" || !strings.Contains(err.Error(), `no column "color" among "id", "colour", "y": did you mean "colour"?`) {
		t.Errorf("%v", err)
	}
	for want, o := range map[string]CSV{
		"csv.keep.0: y is the target: name columns that are inputs":                   {Keep: []string{"y"}},
		"csv.keep.1: b is to be dropped, too: name it in one of keep and drop":        {Keep: []string{"a", "b"}, Drop: []string{"b"}},
		`csv.other: unknown name "zero": did you mean "zeros"? (known: error, zeros)`: {Other: "zero"},
		`csv.missing: unknown name "mean" (known: refuse, indicator)`:                 {Missing: "mean"},
		"": {Other: "error", Missing: "refuse", Keep: []string{"a"}, Drop: []string{"b"}},
	} {
		o.File, o.Target = "f.csv", "y"
		if got := faults(Settings{CSV: &o}, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestManyCategories: a column of too many words is an error that says how to leave it out.
func TestManyCategories(t *testing.T) {
	var b strings.Builder
	b.WriteString("street,b,y\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "street %d,%d,%d\n", i%10000, i%11, i%2)
	}
	file := put(t, t.TempDir(), "f.csv", b.String())
	_, err := Settings{CSV: &CSV{File: file, Target: "y"}}.Load("", Need{})
	if err == nil || !strings.HasSuffix(err.Error(), "f.csv: column 1 (street): more than 1000 different words: write fewer categories, or leave the column out with data.csv.drop: [street]") {
		t.Error(err)
	}
	if p := loaded(t, Settings{CSV: &CSV{File: file, Target: "y", Drop: []string{"street"}}}, Need{}); p.Train.Features() != 1 {
		t.Errorf("%d inputs", p.Train.Features())
	}
}

// TestExpansionsRefuse: a data.json whose expansions do not hold together is refused.
func TestExpansionsRefuse(t *testing.T) {
	const head = `{"columns":["a","b","y"],"named":true,"target":"y","shape":[3],"outputs":1,`
	for text, want := range map[string]string{
		head + `"expand":[{"column":"a","categories":["p","q"]}]}`:                                           "",
		head + `"expand":[{"column":"a","categories":["q","p"]}]}`:                                           `column "a": category "p": want words in order`,
		head + `"expand":[{"column":"a","categories":["p","p"]}]}`:                                           `category "p": want words in order`,
		head + `"expand":[{"column":"a","categories":["1","p"]}]}`:                                           `category "1": want words in order, not numbers`,
		head + `"expand":[{"column":"a","categories":["","p"]}]}`:                                            `category ""`,
		head + `"expand":[{"column":"y","categories":["p","q"]}]}`:                                           `an expansion of column "y": want the columns that are inputs`,
		head + `"expand":[{"column":"b","indicator":true,"missing":true},{"column":"a","missing":true}]}`:    `an expansion of column "a"`,
		head + `"expand":[{"column":"b","missing":true},{"column":"b","indicator":true,"missing":true}]}`:    `an expansion of column "b"`,
		head + `"expand":[{"column":"a","indicator":true}]}`:                                                 `column "a": 0 categories, missing false, indicator true`,
		head + `"expand":[{"column":"a","mean":2}]}`:                                                         "mean 2",
		head + `"expand":[{"column":"a","categories":["p","q"],"missing":true,"mean":2}]}`:                   "mean 2",
		head + `"expand":[{"column":"a","indicator":true,"missing":true,"mean":1e999}]}`:                     "1e999",
		head + `"expand":[{"column":"a","categories":["p","q"],"mising":true}]}`:                             `unknown key "mising": did you mean "missing"?`,
		head + `"expand":[{"column":"a","categories":["p","q"]}],"other":"zero"}`:                            `other "zero": want zeros`,
		head + `"expand":[{"column":"a","categories":["p","q"]}],"counted":["b"]}`:                           `column "b" counts the rows, has words that all differ or is an index of dates, and is not left out`,
		head + `"expand":[{"column":"a","categories":["p","q","r"]}]}`:                                       "inputs of shape [3]",
		head + `"expand":[{"column":"a","categories":["p","q"]}],"inputs":{"mean":[0,0],"sd":[1,1],"to":1}}`: "inputs: want 3",
		`{"shape":[3],"expand":[{"column":"a","categories":["p","q"]}]}`:                                     "expansions without columns",
	} {
		_, err := DecodeSchema([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// TestMissingInOtherFiles: a column may lack values where only the run's files of other parts lack them: they are the mean of the training
// rows or no category, as where a row of the table lacks them that does not train, and all other inputs stay as they were.
func TestMissingInOtherFiles(t *testing.T) {
	dir := t.TempDir()
	text := "a,w,b,y\n" + strings.Repeat("1,p,5,0\n2,q,6,1\n6,p,,0\n7,q,8,1\n", 10)
	test := put(t, dir, "test.csv", "y,a,w,b\n0,,,5\n1,2,q,\n")
	csv := CSV{File: put(t, dir, "own.csv", text), Target: "y", Missing: tables.MissingIndicator, Header: &yes, Test: test}
	own := loaded(t, Settings{CSV: &csv, Standardise: "none"}, Need{})
	if d := cmp.Diff([]Expansion{
		{Column: "a", Missing: true, Mean: own.Schema.expansion("a").Mean}, {Column: "w", Categories: []string{"p", "q"}, Missing: true},
		{Column: "b", Missing: true, Indicator: true, Mean: own.Schema.expansion("b").Mean},
	}, own.Schema.Expand); d != "" {
		t.Fatal(d)
	}
	sum := 0.0
	for i := range own.Train.Len() {
		sum += float64(own.Train.F32[5*i])
	}
	a, b := float32(sum/float64(own.Train.Len())), float32(own.Schema.expansion("b").Mean)
	if want := []float32{a, 0, 0, 5, 0, 2, 0, 1, b, 1}; !slices.Equal(own.Test.F32, want) {
		t.Errorf("test rows %v, want %v", own.Test.F32, want)
	}
	again := loaded(t, Settings{CSV: &csv, Standardise: "none"}, Need{Schema: own.Schema})
	if !cmp.Equal(own.Checksums(), again.Checksums()) {
		t.Error("loaded again by its schema, the examples differ")
	}
	csv.Missing, csv.File = "", put(t, dir, "whole.csv", strings.ReplaceAll(text, "p,,0", "p,4,0"))
	const want = "test.csv: line 2, column 2 (a): the value is missing; 2 rows have such values (lines 2, 3): fill them or remove the rows, " +
		"since no row of the run's table lacks a value there, or take data.csv.missing: indicator"
	if _, err := (Settings{CSV: &csv}).Load("", Need{}); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
