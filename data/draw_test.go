package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
)

// panel is a table with the groups of its rows as keys, and a class or number in its column.
func panel(of []int, class func(row int) float64) (*Table, strata) {
	t := &Table{Cols: 1, Key: "patient"}
	for row, k := range of {
		t.Keys = append(t.Keys, fmt.Sprint("p", k))
		t.Values = append(t.Values, class(row))
	}
	return t, byClass(t, 0)
}

// By its definition, for random groups and settings: the rows of a group are in one part, no part is empty, every row is in one part, and
// the same seed gives the same division.
func TestGroupsStayTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for trial := range 2000 {
		var of []int
		groups := 5 + r.IntN(30)
		for k := range groups {
			for range 1 + r.IntN(1+r.IntN(20)) {
				of = append(of, k)
			}
		}
		r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		table, s := panel(of, func(row int) float64 { return float64(r.IntN(3)) })
		if trial%2 == 0 {
			s = nil
		}
		var p *Parts
		switch trial % 4 {
		case 1:
			p = &Parts{Test: 0.1 + 0.2*r.Float64(), Validate: 0.1 + 0.2*r.Float64()}
		case 2:
			p = &Parts{Train: 0.3, Test: 0.2, Validate: 0.2}
		case 3:
			p = &Parts{Folds: 3, Fold: 1 + r.IntN(3)}
		}
		n := len(of)
		kept, held, err := p.divide(n, uint64(trial), groupsOf(table, s), true, true)
		if n < 10 && err != nil {
			continue
		}
		if err != nil {
			t.Fatalf("%d rows of %d groups by %+v: %v", n, groups, p, err)
		}
		again, heldAgain, _ := p.divide(n, uint64(trial), groupsOf(table, s), true, true)
		if !slices.Equal(kept, again) || !reflect.DeepEqual(held, heldAgain) {
			t.Fatal("the same seed gives another division")
		}
		part, rows := map[int]int{}, 0
		for k, list := range append([][]int32{kept}, held...) {
			if len(list) == 0 || !slices.IsSorted(list) {
				t.Fatalf("part %d of %+v: %v", k, p, list)
			}
			rows += len(list)
			for _, row := range list {
				if was, seen := part[of[row]]; seen && was != k {
					t.Fatalf("group %d is in the parts %d and %d", of[row], was, k)
				}
				part[of[row]] = k
			}
		}
		if all := trial%4 != 2; all && rows != n || rows > n {
			t.Fatalf("%d of %d rows are in a part", rows, n)
		}
	}
}

// Groups of one size: a part misses its size by half a group at most, and each of its classes, where a group is of one class, too. A group of
// more than twice a part's size trains. Every group is in the test for some seed.
func TestGroupsHaveTheirShares(t *testing.T) {
	var of []int
	for k := range 60 {
		of = append(of, slices.Repeat([]int{k}, 7)...)
	}
	class := func(row int) float64 { return float64(min(of[row]%3, 1)) } // 20 groups of class 0, 40 of class 1
	table, s := panel(of, class)
	tested := map[int]bool{}
	for seed := range uint64(200) {
		_, held, err := (*Parts)(nil).divide(len(of), seed, groupsOf(table, s), true, true)
		if err != nil {
			t.Fatal(err)
		}
		for k, part := range held {
			count := [2]int{}
			for _, row := range part {
				count[int(class(int(row)))]++
				if k == 0 {
					tested[of[row]] = true
				}
			}
			if count != [2]int{14, 28} { // a tenth of 140 and 280
				t.Fatalf("seed %d, part %d has %v rows of the classes", seed, k, count)
			}
		}
	}
	if len(tested) != 60 {
		t.Errorf("%d of 60 groups are in the test for some seed", len(tested))
	}

	large := append(slices.Repeat([]int{100}, 300), of...)
	table, _ = panel(large, func(int) float64 { return 0 })
	for seed := range uint64(20) {
		kept, held, err := (*Parts)(nil).divide(len(large), seed, groupsOf(table, nil), true, true)
		if err != nil || !slices.Contains(kept, 0) {
			t.Fatalf("seed %d: a group of 300 rows is held out, %v", seed, err)
		}
		for _, part := range held { // 72 rows
			if off := len(part) - 72; off < -3 || off > 3 {
				t.Errorf("seed %d: a part has %d rows, want 72 but for half a group", seed, len(part))
			}
		}
	}
}

// Folds: each example but those for the test is in one of them, their sizes differ by one at most, they have their shares of every class, and
// the test part is the same for all, and that of no folds.
func TestFolds(t *testing.T) {
	const n, folds = 103, 5
	table, s := panel(make([]int, n), func(row int) float64 { return float64(row % 3 / 2) })
	for _, d := range []draw{anyRows, s} {
		_, plain, err := (*Parts)(nil).divide(n, 4, d, true, true)
		if err != nil {
			t.Fatal(err)
		}
		times := make([]int, n)
		var test []int32
		for k := 1; k <= folds; k++ {
			kept, held, err := (&Parts{Folds: folds, Fold: k}).divide(n, 4, d, true, true)
			if err != nil || len(held) != 2 || len(held[0]) != 10 || len(kept)+len(held[1]) != 93 || !slices.IsSorted(kept) || !slices.IsSorted(held[1]) {
				t.Fatalf("fold %d: %v of %d, %v", k, held, len(kept), err)
			}
			if size := len(held[1]); size < 18 || size > 19 {
				t.Errorf("fold %d has %d of 93 examples", k, size)
			}
			if test == nil {
				test = held[0]
			}
			if !slices.Equal(test, held[0]) {
				t.Errorf("the test part of fold %d is another", k)
			}
			rare := 0
			for _, row := range held[1] {
				times[row]++
				if table.Values[row] == 1 {
					rare++
				}
				if slices.Contains(kept, row) || slices.Contains(test, row) {
					t.Fatalf("fold %d: row %d is in two parts", k, row)
				}
			}
			if d := d.(strata); d != nil && (rare < 5 || rare > 7) { // a third of 18 or 19
				t.Errorf("fold %d has %d examples of the rare class", k, rare)
			}
		}
		if d.(strata) == nil && !slices.Equal(test, plain[0]) {
			t.Error("the test part is not that of no folds")
		}
		for row, k := range times {
			if want := 1; slices.Contains(test, int32(row)) {
				if k != 0 {
					t.Errorf("row %d is for the test and in %d folds", row, k)
				}
			} else if k != want {
				t.Errorf("row %d is in %d folds", row, k)
			}
		}
	}
	_, held, err := (&Parts{Folds: 3, Fold: 2}).divide(9, 1, anyRows, false, true)
	if err != nil || len(held) != 1 || len(held[0]) != 3 {
		t.Errorf("beside a test part of their own: %v, %v", held, err)
	}
	var field *FieldError
	if _, _, err := (&Parts{Folds: 9, Fold: 2}).divide(9, 1, anyRows, true, true); !errors.As(err, &field) || field.Field != "split.folds" || field.Message != "8 examples cannot be divided into 9 folds" {
		t.Error(err)
	}
	if _, _, err := (&Parts{Folds: 3, Fold: 2}).divide(9, 1, anyRows, true, false); !errors.As(err, &field) || field.Field != "split.folds" {
		t.Error(err)
	}
}

// A table with groups, loaded: the column is no input, each group is in one part, and the run's own data are the same when they are read
// again by the schema. Groups that are too few, cut by test rows or missing are refused.
func TestLoadPanel(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("country,year,gdp,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "c%d,%d,%d,%d\n", i%12, 2000+i/12, i*i%11, i%7)
	}
	file := put(t, dir, "panel.csv", b.String())
	settings := Settings{CSV: &CSV{File: file, Target: "y", Group: "country"}}
	p, err := settings.Load("", Need{Regression: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Schema.Features(); !slices.Equal(got, []string{"year", "gdp"}) || !slices.Equal(p.Schema.LeftOut, []string{"country"}) {
		t.Errorf("the inputs are %v, left out is %v", got, p.Schema.LeftOut)
	}
	part := map[int32]string{}
	for _, set := range []*Set{p.Train, p.Validate, p.Test} {
		for _, row := range set.Rows {
			if was, seen := part[row%12]; seen && was != set.Name {
				t.Errorf("country c%d is in %s and %s", row%12, was, set.Name)
			}
			part[row%12] = set.Name
		}
	}
	if p.Test.Len() != 5 || p.Validate.Len() != 5 || p.Train.Len() != 50 { // a tenth is 6: one country of 5 rows is nearest
		t.Errorf("%d to train, %d to validate, %d to test", p.Train.Len(), p.Validate.Len(), p.Test.Len())
	}
	want := finding.Of(finding.GroupsTogether{Column: "country", Train: 10, Validate: 1, Test: 1})
	if !slices.ContainsFunc(p.Findings(), want.Equal) {
		t.Errorf("found %v, want %v", p.Findings(), want)
	}
	again, err := settings.Load("", Need{Regression: true, Seed: 3, Schema: p.Schema})
	if err != nil || !reflect.DeepEqual(again.Checksums(), p.Checksums()) {
		t.Errorf("read again, the data are others: %v", err)
	}
	if _, err := p.Schema.Read(put(t, dir, "new.csv", "year,gdp,y\n2020,3,1\n"), "", ""); err != nil {
		t.Errorf("other data without the column: %v", err)
	}
	if _, err := settings.Load("", Need{Regression: true, Whole: true}); err != nil {
		t.Error(err)
	}

	for name, c := range map[string]struct {
		text, want string
		csv        CSV
		split      *Parts
	}{
		"missing column": {b.String(), `data.csv.group: `, CSV{Target: "y", Group: "region"}, nil},
		"two groups":     {"g,x,y\n" + strings.Repeat("a,1,2\nb,2,3\n", 10), `column "g" has 2 groups, and each of 3 parts needs one`, CSV{Target: "y", Group: "g"}, nil},
		"no group":       {"g,x,y\n" + strings.Repeat("a,1,2\nb,2,3\nc,1,4\n", 5) + ",4,5\n", "line 17, column 1 (g): the row has no group", CSV{Target: "y", Group: "g"}, nil},
		"cut":            {b.String(), `5 rows of the group "c0"`, CSV{Target: "y", Group: "country"}, &Parts{TestRows: put(t, dir, "rows.txt", "0\n1\n13\n")}},
	} {
		c.csv.File = put(t, dir, "bad.csv", c.text)
		_, err := Settings{CSV: &c.csv, Split: c.split}.Load("", Need{Regression: true})
		if name == "cut" {
			if err == nil || !strings.Contains(err.Error(), `rows of the group "c0" are for the test and others are not`) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Rows of a test file of groups that train are told; of a file without the column nothing is.
	for text, want := range map[string]int{
		"country,year,gdp,y\nc1,2020,3,1\nc1,2021,4,1\nc99,2020,3,1\n": 2, "country,year,gdp,y\nc99,2020,3,1\n": 0, "year,gdp,y\n2020,3,1\n": 0,
	} {
		csv := *settings.CSV
		csv.Test = put(t, dir, "later.csv", text)
		csv.Validate = csv.Test
		p, err := Settings{CSV: &csv}.Load("", Need{Regression: true})
		if err != nil {
			t.Fatal(err)
		}
		shared := finding.All[finding.GroupsShared](p.Findings())
		if len(shared) > 0 != (want > 0) || want > 0 && (shared[0].Rows != want || shared[0].Groups != 1) {
			t.Errorf("%q: %+v, want %d rows", text, shared, want)
		}
	}

	whole := put(t, dir, "rows.txt", "0\n12\n24\n36\n48\n")
	if p, err = (Settings{CSV: settings.CSV, Split: &Parts{TestRows: whole}}).Load("", Need{Regression: true}); err != nil || p.Test.Len() != 5 {
		t.Errorf("test rows that are a group: %v", err)
	}
}
