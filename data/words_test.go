package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nan() float64 { return math.NaN() }

// What CSV.Header points at: whether a header is there.
var yes, no = true, false

// TestWordsForMissing: in a column of words, what other programs write for a missing value is one, as an empty cell is, also in the file
// of another part and in a file to predict; it is refused unless the settings take missing values. In the target it is refused with
// its line.
func TestWordsForMissing(t *testing.T) {
	dir := t.TempDir()
	table := func(name, gap string) string {
		var b strings.Builder
		b.WriteString("colour,x,y\n")
		for i := range 60 {
			colour := []string{"red", "blue", "green", gap}[i%4]
			fmt.Fprintf(&b, "%s,%d,%s\n", colour, i*i%17, []string{"a", "b"}[i/2%2])
		}
		return put(t, dir, name, b.String())
	}
	want := Settings{CSV: &CSV{File: table("empty.csv", ""), Target: "y", Missing: "indicator", Test: table("e.csv", "")}}
	had := loaded(t, want, Need{})
	for _, gap := range []string{"NA", "?", "Null", "n/a", "-"} {
		s := Settings{CSV: &CSV{File: table("gap.csv", gap), Target: "y", Missing: "indicator", Test: table("g.csv", gap)}}
		p := loaded(t, s, Need{})
		if d := cmp.Diff(had.Schema, p.Schema) + cmp.Diff(had.Checksums(), p.Checksums()); d != "" {
			t.Errorf("%s: %s", gap, d)
		}
		tab, err := ReadCSV(s.CSV.Test, p.Schema.CSVToPredict(""))
		if err != nil {
			t.Fatal(err)
		}
		if set, err := p.Schema.Set("rows", tab, nil, false); err != nil || !slices.Equal(set.F32, p.Test.F32) {
			t.Errorf("%s: to predict: %v", gap, err)
		}
		s.CSV.Missing = ""
		if _, err := s.Load("", Need{}); err == nil || !strings.Contains(err.Error(), "gap.csv: line 5, column 1 (colour): the value is missing; 15 rows") ||
			!strings.HasSuffix(err.Error(), "or take data.csv.missing: indicator") {
			t.Errorf("%s: %v", gap, err)
		}
	}
	for _, regression := range []bool{false, true} {
		s := Settings{CSV: &CSV{File: put(t, dir, "y.csv", "x,y\n1,0\n2,1\n3,0\n4,NA\n5,1\n6,NA\n"), Target: "y"}}
		want := "y.csv: line 5, column 2 (y): the value is missing; 2 rows have such values (lines 5, 7): fill them or remove the rows, or take data.csv.missing_target: skip"
		if _, err := s.Load("", Need{Regression: regression}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		s.CSV.File, s.CSV.Test = put(t, dir, "train.csv", "x,y\n1,0\n2,1\n3,0\n5,0\n5,1\n6,1\n"), s.CSV.File
		if _, err := s.Load("", Need{Regression: regression}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the file of test rows: %v, want %q", err, want)
		}
	}
	signs := Settings{CSV: &CSV{File: put(t, dir, "signs.csv", "x,y\n1,+\n7,-\n3,+\n4,-\n5,+\n9,-\n"), Test: put(t, dir, "minus.csv", "x,y\n1,-\n2,-\n"), Target: "y"}}
	if p := loaded(t, signs, Need{}); p.Schema.Classes != 2 || p.Test.Len() != 2 {
		t.Errorf("a file of the class - alone: %d classes, %d examples", p.Schema.Classes, p.Test.Len())
	}
}

// TestParquetPlace: an error of a cell names the file and the line of the CSV that it would be.
func TestParquetPlace(t *testing.T) {
	_, err := (Settings{CSV: &CSV{File: "../internal/tables/testdata/parquet/" + "plain.parquet", Target: "f64", Drop: []string{"word", "none"}}}).Load("", Need{Regression: true})
	if want := "../internal/tables/testdata/parquet/" + "plain.parquet: row 4, column 7 (f32): the value is missing; "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
