package data

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

// looked writes a table with a column x of numbers before the cells that are given, and looks at it.
func looked(t *testing.T, o CSV, header string, n int, cell func(i int) string) (*Look, error) {
	t.Helper()
	var b strings.Builder
	if header != "" {
		fmt.Fprintln(&b, "x,"+header)
	}
	for i := range n {
		fmt.Fprintf(&b, "%v,%s\n", float64(i*i%97)+0.5, cell(i))
	}
	o.File = filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(o.File, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return LookAt(o)
}

// TestLookTarget: which targets are classes.
func TestLookTarget(t *testing.T) {
	of := func(values ...string) func(int) string { return func(i int) string { return values[i%len(values)] } }
	few := []string{"1 to 3", "3 to 8", "0 to 3 without 1"}
	for name, c := range map[string]struct {
		rows    int
		cell    func(i int) string
		classes int
		names   []string
		words   bool
	}{
		"words":                      {9, of("oak", "ash", "elm"), 3, []string{"ash", "elm", "oak"}, true},
		"booleans":                   {9, of("true", "false"), 2, []string{"false", "true"}, true},
		"0 and 1":                    {9, of("0", "1"), 2, nil, false},
		"two other integers":         {9, of("7", "-1"), 2, []string{"-1", "7"}, false},
		"two fractions":              {9, of("0.5", "1.5"), 0, nil, false},
		"0 to 2":                     {15, of("0", "1", "2"), 3, nil, false},
		"0 to 2, too few":            {14, of("0", "1", "2"), 0, nil, false},
		"1 to 3":                     {60, of("1", "2", "3"), 0, nil, false},
		"3 to 8":                     {60, of("3", "4", "5", "6", "7", "8"), 0, nil, false},
		"0 to 3 without 1":           {60, of("0", "2", "3"), 0, nil, false},
		"0 to 29":                    {150, func(i int) string { return fmt.Sprint(i % 30) }, 30, nil, false},
		"0 to 30":                    {310, func(i int) string { return fmt.Sprint(i % 31) }, 0, nil, false},
		"numbers":                    {20, func(i int) string { return fmt.Sprint(float64(i) / 4) }, 0, nil, false},
		"integers and a word":        {60, of("0", "1", "2", "more"), 4, []string{"0", "1", "2", "more"}, true},
		"counts, and not left out":   {40, func(i int) string { return fmt.Sprint(i) }, 0, nil, false},
		"plus and minus":             {40, of("+", "-"), 2, []string{"+", "-"}, true},
		"few rows of each":           {60, func(i int) string { return fmt.Sprint("w", i%30+10) }, 30, sortedWords(30), true},
		"many words":                 {165, func(i int) string { return fmt.Sprint("w", i%33+10) }, 33, sortedWords(33), true},
		"none":                       {40, of("None", "some"), 2, []string{"None", "some"}, true},
		"integers of a large number": {40, of("1000000", "2000000"), 2, []string{"1000000", "2000000"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := looked(t, CSV{Target: "y"}, "y", c.rows, c.cell)
			if err != nil {
				t.Fatal(err)
			}
			want := &Look{Rows: c.rows, Inputs: 1, Classes: c.classes, Names: c.names, Words: c.words, Few: slices.Contains(few, name)}
			if (l.Spread == nil) != (c.classes > 0) {
				t.Errorf("the spread of %d classes: %+v", c.classes, l.Spread)
			}
			if l.Spread = nil; !cmp.Equal(want, l) {
				t.Error(cmp.Diff(want, l))
			}
		})
	}
}

// TestNumbered: whole numbers that may number the rows are named, before a run too, and no other columns are.
func TestNumbered(t *testing.T) {
	const rows = 40
	numbers := func(rows int) *Table {
		t := &Table{Cols: 1, Header: []string{"id"}}
		for i := range rows {
			t.Values = append(t.Values, float64(3*i))
		}
		return t
	}
	if numbers(24).Numbered("y", nil) != nil || numbers(25).Numbered("y", nil) == nil {
		t.Error("the number of rows from which on columns are named is not 25")
	}
	for name, c := range map[string]struct {
		cell func(i int) any
		want bool
	}{
		"a row removed":      {func(i int) any { return i + i/20 }, true},
		"from 1000":          {func(i int) any { return 1000 + i }, true},
		"from the last":      {func(i int) any { return 39 - i }, true},
		"rising":             {func(i int) any { return 17 * i * i }, true},
		"shuffled":           {func(i int) any { return i * 7 % rows }, true},
		"shuffled, thinned":  {func(i int) any { return i * 31 % 79 }, true},
		"wide":               {func(i int) any { return i * 31 % 97 }, false},
		"twice":              {func(i int) any { return i * 7 % (rows - 1) }, false},
		"rising, not whole":  {func(i int) any { return float64(i) + 0.5 }, false},
		"rising, one equal":  {func(i int) any { return max(i, 1) }, false},
		"rising, infinite":   {func(i int) any { return []any{i, "inf"}[i/(rows-1)] }, false},
		"rising, missing":    {func(i int) any { return []any{i, ""}[i/(rows-1)] }, false},
		"words, all but two": {func(i int) any { return fmt.Sprint("w", max(i, 1)) }, false},
	} {
		text := "id,x,y\n"
		for i := range rows {
			text += fmt.Sprintf("%v,%v,%v\n", c.cell(i), float64(i*i%11)+0.5, float64(i*i%13)+0.5)
		}
		csv := CSV{File: testkit.WriteFile(t, "t.csv", []byte(text)), Target: "y", Words: true, Missing: tables.MissingIndicator, Other: tables.OtherZeros}
		l, err := LookAt(csv)
		if err != nil {
			if name != "rising, infinite" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if (l.Numbered != nil) != c.want || c.want && !slices.Equal(l.Numbered, []string{"id"}) {
			t.Errorf("%s: %q", name, l.Numbered)
		}
		p := loaded(t, Settings{CSV: &csv}, Need{Regression: true})
		said := slices.ContainsFunc(p.Findings(), func(f finding.Finding) bool { return f.Kind == "row-numbers" })
		if said != c.want {
			t.Errorf("%s: %v", name, p.Findings())
		}
		if csv.Keep = []string{"id"}; c.want {
			if l, err := LookAt(csv); err != nil || l.Numbered != nil {
				t.Errorf("%s, kept: %q, %v", name, l.Numbered, err)
			}
			if found := loaded(t, Settings{CSV: &csv}, Need{Regression: true}).Noted; found != nil {
				t.Errorf("%s, kept: %v", name, found)
			}
		}
	}
}

// TestLookColumns: what becomes of the other columns, with a header and without.
func TestLookColumns(t *testing.T) {
	row := func(i int) string {
		gap := ""
		if i != 4 {
			gap = fmt.Sprint(float64(i%5) + 0.25)
		}
		return fmt.Sprintf("%d,%s,%s,k,%d", i, []string{"red", "blue", "green"}[i%3], gap, i%2)
	}
	want := &Look{
		Rows: 30, Inputs: 6, Classes: 2, Missing: []string{"gap"}, OneHot: []string{"colour"},
		Counted: []string{"id"}, Constant: []string{"same"},
	}
	l, err := looked(t, CSV{Target: "y"}, "id,colour,gap,same,y", 30, row)
	if d := cmp.Diff(want, l); d != "" || err != nil {
		t.Error(err, d)
	}
	want.Inputs, want.Counted = 7, nil
	l, err = looked(t, CSV{Target: "y", Keep: []string{"id"}}, "id,colour,gap,same,y", 30, row)
	if d := cmp.Diff(want, l); d != "" || err != nil {
		t.Error("kept:", err, d)
	}
	want.Inputs, want.OneHot = 4, nil
	l, err = looked(t, CSV{Target: "y", Drop: []string{"colour"}, Keep: []string{"id"}}, "id,colour,gap,same,y", 30, row)
	if d := cmp.Diff(want, l); d != "" || err != nil {
		t.Error("dropped:", err, d)
	}
	want.Empty = []string{"void"}
	l, err = looked(t, CSV{Target: "y", Drop: []string{"colour"}, Keep: []string{"id"}}, "void,id,colour,gap,same,y", 30, func(i int) string { return "," + row(i) })
	if d := cmp.Diff(want, l); d != "" || err != nil {
		t.Error("a column without values:", err, d)
	}
	want = &Look{
		Rows: 30, Inputs: 6, Classes: 2, Missing: []string{"4"}, OneHot: []string{"3"},
		Counted: []string{"2"}, Constant: []string{"5"},
	}
	l, err = looked(t, CSV{Target: "6"}, "", 30, row)
	if d := cmp.Diff(want, l); d != "" || err != nil {
		t.Error("no header:", err, d)
	}
}

// TestLookRefuses: tables from which the target cannot be learnt. A column that cannot be an input can be left out.
func TestLookRefuses(t *testing.T) {
	but := func(row int, text string, others func(i int) string) func(int) string {
		return func(i int) string {
			if i == row {
				return text
			}
			return others(i)
		}
	}
	bit := func(i int) string { return fmt.Sprint(i % 2) }
	for name, c := range map[string]struct {
		target, header string
		rows           int
		cell           func(i int) string
		want, column   string // of what can be left out or kept
	}{
		"missing class":   {"y", "y", 20, but(6, "", bit), "line 8, column 2 (y): the value is missing: fill it or remove the row", ""},
		"missing word":    {"y", "y", 20, but(6, "", func(i int) string { return "ab"[i%2 : i%2+1] }), "line 8, column 2 (y): the value is missing: fill it", ""},
		"infinite":        {"y", "y", 20, but(6, "inf", func(i int) string { return fmt.Sprint(i, ".5") }), "line 8, column 2 (y): the value is infinite", ""},
		"one class":       {"y", "y", 20, func(int) string { return "yes" }, "column 2 (y): the target has one class only, yes, in all 20 rows", ""},
		"one number":      {"y", "y", 20, func(int) string { return "3" }, "target is 3 in all 20 training examples: there is nothing to learn", ""},
		"all different":   {"y", "y", 20, func(i int) string { return fmt.Sprint("w", i) }, "no two rows have the same class", ""},
		"dates":           {"y", "y", 20, func(i int) string { return "2024-05-0" + fmt.Sprint(i%3+1) }, `column 2 (y): the target holds dates such as "2024-05-01"`, ""},
		"word in numbers": {"y", "y", 20, but(6, "x", func(i int) string { return fmt.Sprintf("%d.5", i) }), `line 8, column 2 (y): "x" is not a number, and other rows of the target have numbers`, ""},
		"word in counts":  {"y", "y", 200, but(6, "x", func(i int) string { return fmt.Sprint(i % 60) }), `line 8, column 2 (y): "x" is not a number, and other rows`, ""},
		"NA":              {"y", "y", 20, but(6, "NA", bit), `line 8, column 2 (y): the value is missing: fill it or remove the row, or take data.csv.missing_target: skip`, ""},
		"many words":      {"y", "y", 160, func(i int) string { return fmt.Sprint("w", i/5+i%2) }, "column 2 (y): the target has 33 different words in 160 rows: want 5 rows of each on average", ""},
		"minus":           {"y", "y", 20, but(6, "-", func(i int) string { return "ab"[i%2 : i%2+1] }), `line 8, column 2 (y): "-" stands for a missing value: `, ""},
		"no column":       {"z", "y", 20, bit, `data.csv.target: `, ""},
		"no inputs":       {"y", "y,q", 20, nil, "there are no inputs (q counts the rows: to keep it, data.csv.keep: [q])", "keep q"},
		"date":            {"y", "a b,y", 20, func(i int) string { return "2024-05-0" + fmt.Sprint(i%3+1, ",", i%2) }, `"2024-05-01" is not a number but a date: `, "drop a b"},
		"mixed":           {"y", "q,y", 20, but(6, "n,1", func(i int) string { return fmt.Sprint(i, ".5,", i%2) }), `line 8, column 2 (q): "n" is not a number`, "drop q"},
		"categories":      {"y", "q,y", 20000, func(i int) string { return fmt.Sprint("w", i%10000, ",", i%2) }, "column 2 (q): more than 1000 different words: write fewer categories, or leave the column out with data.csv.drop: [q]", "drop q"},
	} {
		t.Run(name, func(t *testing.T) {
			o := CSV{Target: c.target}
			if c.cell == nil {
				o.Drop = []string{"x"}
				c.cell = func(i int) string { return fmt.Sprint(float64(i*i)+0.5, ",", i) }
			}
			l, err := looked(t, o, c.header, c.rows, c.cell)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v: %v, want %q", l, err, c.want)
			}
			var fault *tables.ColumnFault
			switch found := errors.As(err, &fault); {
			case found != (c.column != ""):
				t.Errorf("%v: a mend by a setting: %v", err, found)
			case found && fault.Setting+" "+fault.Column != c.column:
				t.Errorf("the mend is %s %s, want %s", fault.Setting, fault.Column, c.column)
			case found && !strings.Contains(fault.Mended("--flag"), " --flag"):
				t.Error(fault.Mended("--flag"))
			}
		})
	}
}

// sortedWords are the words w10, w11, …
func sortedWords(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprint("w", i+10))
	}
	return words
}
