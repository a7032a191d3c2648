package tables

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ids is a column of n words that are all different, each in a line of its own, before a column of numbers.
func ids(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d,%d\n", i, i%7)
	}
	return b.String()
}

// TestWordsRead: a column without numbers holds words, whose values are their places in order; a missing cell is NaN. The target
// alone may hold numbers among its names.
func TestWordsRead(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		o     CSV
		want  []float64
		names [][]string
	}{
		"by name, not by appearance": {"a,b\nred,1\nblue,2\nred,3\n", CSV{}, []float64{1, 1, 0, 2, 1, 3}, [][]string{{"blue", "red"}, nil}},
		"missing":                    {"a,b\n,1\nx,2\nnan,3\n", CSV{}, []float64{nan(), 1, 0, 2, nan(), 3}, [][]string{{"x"}, nil}},
		"booleans":                   {"a,b\ntrue,1\nfalse,2\n", CSV{}, []float64{1, 1, 0, 2}, [][]string{{"false", "true"}, nil}},
		"and a target":               {"a,y\nx,10\nz,9\nx,no\n", CSV{Target: "y"}, []float64{0, 0, 1, 1, 0, 2}, [][]string{{"x", "z"}, {"10", "9", "no"}}},
		"target of numbers":          {"a,y\nx,10\nz,9\n", CSV{Target: "y"}, []float64{0, 10, 1, 9}, [][]string{{"x", "z"}, nil}},
		"commas, quotes":             {"a,b\n\"Paris, France\",1\n\"say \"\"no\"\"\",2\n", CSV{}, []float64{0, 1, 1, 2}, [][]string{{"Paris, France", `say "no"`}, nil}},
		"what others write":          {"a,b\nNA,1\nnone,2\n?,3\nnull,4\nx,5\n", CSV{}, []float64{nan(), 1, 0, 2, nan(), 3, nan(), 4, 1, 5}, [][]string{{"none", "x"}, nil}},
		"nothing but that":           {"a,b\nNA,1\nNA,2\n", CSV{}, []float64{nan(), 1, nan(), 2}, nil},
		"left out":                   {"a,b\n2024-01-01,x\n7,y\n", CSV{Drop: []string{"a"}}, []float64{nan(), 0, nan(), 1}, [][]string{nil, {"x", "y"}}},
		"nothing":                    {"a,b\n,1\n,2\n", CSV{}, []float64{nan(), 1, nan(), 2}, nil},
		"not dates":                  {"a,b\n1-2,1\nMay,2\n12:99,3\n2020-21,4\n", CSV{}, []float64{0, 1, 3, 2, 1, 3, 2, 4}, [][]string{{"1-2", "12:99", "2020-21", "May"}, nil}},
	} {
		c.o.Words = true
		got, err := decode("f", []byte(c.text), c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.want, got.Values, cmpopts.EquateNaNs()) + cmp.Diff(c.names, got.Names); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for rows := 1; rows < 4; rows++ {
			sameText(t, []byte(c.text), c.o, rows, 3, 1000)
		}
	}
}

// TestWordsRefuse: what is neither numbers nor words says where, and what to do.
func TestWordsRefuse(t *testing.T) {
	many := "a,b\nx,1\nx,1\n" + ids(MaxCategories)
	for text, want := range map[string]string{
		"a,b\n1,2\n3,red\nx,4\n":        `f: line 3, column 2 (b): "red" is not a number, and line 2 has one: a column holds either numbers or words`,
		"a,b\n1,red\n3,\n3,4\n":         `f: line 2, column 2 (b): "red" is not a number, and line 4 has one: a column holds either numbers or words`,
		"a,b\n1,inf\n3,red\n":           `f: line 3, column 2 (b): "red" is not a number, and line 2 has one`,
		"a;b\n1;1,005\n":                `f: column 2 (b): "1,005" has two readings: 1.005 with data.csv.decimal: ",", and 1005 with data.csv.thousands: ",": say which`,
		"a;b;c\n1;1.005;1,5\n":          `f: column 2 (b): "1.005" has two readings, as column 3 (c) has decimal commas: 1.005 with data.csv.decimal: ".", and 1005 with data.csv.thousands: "."`,
		"a;b\n1;2.450\n2;916\n":         `f: column 2 (b): "2.450" has two readings beside whole numbers such as 916: 2.45 with data.csv.decimal: ".", and 2450 with data.csv.thousands: ".": say which`,
		"a;b\n1;٣\n2;٤\n3;5\n":          `f: line 2, column 2 (b): "٣" is not a number: write its digits as 0 to 9`,
		"a,b\n1,NA\n3,red\n4,5\n":       `f: line 3, column 2 (b): "red" is not a number, and line 4 has one`,
		"a,b\n1,n.a.\n3,2024-01-31\n":   `f: line 3, column 2 (b): "2024-01-31" is not a number but a date`,
		"a,b\n1,None\n3,4\n":            `f: line 2, column 2 (b): "None" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,7.5\n3,.\n":             `f: line 3, column 2 (b): "." is not a number (a missing value is an empty cell, nan or NA)`,
		"a;b\n1;--\n3;7,25\n3;6,5\n":    `f: line 2, column 2 (b): "--" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,<NA>\n3,4\n":            `2 (b): "<NA>" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,4\n3,\\N\n":             `2 (b): "\\N" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,4\n3,n.a.\n":            `2 (b): "n.a." is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,4\n3,#DIV/0!\n":         `2 (b): "#DIV/0!" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,4\n3,—\n":               `2 (b): "—" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\n1,4\n3,nil\n":             `2 (b): "nil" is not a number (a missing value is an empty cell, nan or NA)`,
		"a,b\nNA,1\n" + ids(2000):       "f: line 1003, column 1 (a): more than 1000 different words",
		"a,b\n1,1e400\n":                `f: line 2, column 2 (b): "1e400" is too large for a float64`,
		"a,b\n1,\xff\n":                 `f: line 2, column 2 (b): the name is not UTF-8 text`,
		"a,b\n1,2024-01-31\n":           `f: line 2, column 2 (b): "2024-01-31" is not a number but a date: write a number in its place, such as the days since the first one, the month or the weekday`,
		"a,b\n1,31.01.2024 17:05\n":     `2 (b): "31.01.2024 17:05" is not a number but a date`,
		"a,b\n1,2024-01-31T17:05:01Z\n": `2 (b): "2024-01-31T17:05:01Z" is not a number but a date`,
		"a,b\n1,17:05\n":                `2 (b): "17:05" is not a number but a date`,
		"a,b\n1,5-Mar-2024\n":           `2 (b): "5-Mar-2024" is not a number but a date`,
		many:                            fmt.Sprintf("f: line %d, column 1 (a): more than 1000 different words: write fewer categories", MaxCategories+3),
		"a,b\n,1\n" + ids(2000):         "f: line 1003, column 1 (a): more than 1000 different words",
		"a,b\n" + ids(2000) + ",1\n":    "f: line 2002, column 1 (a): more than 1000 different words",
		"a,b\n" + ids(2000) + "p3,1\n":  "f: column 1 (a): more than 1000 different words",
	} {
		for _, target := range []string{"", "b"} {
			if strings.Contains(want, "2 (b)") && target != "" {
				continue
			}
			if _, err := decode("f", []byte(text), CSV{Words: true, Target: target}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: error %v, want %s", text, err, want)
			}
		}
		sameText(t, []byte(text), CSV{Words: true}, 700, 64<<10, 1<<20)
	}
	_, err := decode("f", []byte("a,b\n"+ids(2000)), CSV{Words: true, Keep: []string{"a"}})
	if err == nil || !strings.Contains(err.Error(), "line 1002, column 1 (a): more than 1000 different words") {
		t.Errorf("ids that are kept: %v", err)
	}
	var column *ColumnError
	if _, err := decode("f", []byte("a,b\n1,2\n"), CSV{Keep: []string{"c"}}); !errors.As(err, &column) || column.Name != "c" {
		t.Errorf("a column to keep that is not there: %v", err)
	}
	if _, err := decode("f", []byte("a,b\n1,red\n"), CSV{}); err == nil || err.Error() != `f: line 2, column 2 (b): "red" is not a number` {
		t.Errorf("without Words: %v", err)
	}
}

// TestPadded: whole numbers with leading zeros are told, if they have one width.
func TestPadded(t *testing.T) {
	for text, want := range map[string]bool{
		"a,b\n02917,1\n40213,2\n": true, "a,b\n02917,1\n,2\n00001,3\n": true, "a,b\n02917,1\n4021,2\n": false, "a,b\n12917,1\n40213,2\n": false, "a,b\n0.17,1\n1.23,2\n": false,
		"a,b\n0,1\n1,2\n": false, "a,b\n02917,1\nx0213,2\n": false,
	} {
		if tab, err := decode("f", []byte(text), CSV{Words: true}); err == nil && tab.Padded(0) != want || err == nil && tab.Padded(1) {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestManyDifferentWords: words that are all different and too many to be categories are left out in little memory, by the blocks of a file,
// too.
func TestManyDifferentWords(t *testing.T) {
	text := "a,b\n" + ids(3000)
	tab, err := decode("f", []byte(text), CSV{Words: true})
	if err != nil || !slices.Equal(tab.LeftOut, []bool{true, false}) || !slices.Equal(tab.differ, []int{0}) || tab.CountsRows(0) || tab.Names != nil {
		t.Fatalf("left out %v, %v, names %v: %v", tab.LeftOut, tab.differ, tab.Names, err)
	}
	for i := range tab.Rows() {
		if a, b := tab.Values[2*i], tab.Values[2*i+1]; !math.IsNaN(a) || b != float64(i%7) {
			t.Fatalf("row %d is %v, %v", i, a, b)
		}
	}
	err = scanFrom("f", strings.NewReader(text), len(text), CSV{Words: true}, 500, func(block *Table) error {
		if !slices.Equal(block.LeftOut, []bool{true, false}) || !slices.Equal(block.differ, []int{0}) {
			return fmt.Errorf("left out %v, %v", block.LeftOut, block.differ)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCounters: columns that count the rows of the file are left out, unless they are kept or the target, and no others.
func TestCounters(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b,y\n0,5,x\n1,6,x\n2,5,z\n":            {"a"},
		"a,b,y\n1,5,x\n2,6,x\n3,5,z\n":            {"a"},
		"a,b,y\n1,p,x\n2,q,x\n3,r,z\n":            {"a", "≠b"},
		"a,b,y\n1,p,x\n2,q,x\n3,p,z\n":            {"a"},
		"a,b,y\n2,p,x\n3,,x\n4,r,z\n":             nil, // not from 0 or 1; a word is missing
		"a,b,y\n1,5,x\n2,6,x\n4,7,z\n":            nil,
		"a,b,y\n1,5,x\n1,6,x\n1,7,z\n":            nil,
		"a,b,y\n0,5,x\n":                          nil, // a single row
		"a,b,y\n3,0,x\n2,1,u\n1,2,z\n0,3,w\n":     {"b"},
		"a,b,y\n0,5,3\n1,5,1\n,5,2\n":             nil,
		",b,y\n17,5,x\n-4,6,x\n9,5,z\n":           {""}, // the index of shuffled rows
		"Unnamed: 0,b,y\n17,5,x\n-4,6,x\n9,5,z\n": {"Unnamed: 0"},
		",b,y\n17,5,x\n9,6,x\n9,5,z\n":            nil,
		",b,y\n17,5,x\n8.5,6,x\n9,5,z\n":          nil,
		",b,y\n17,5,x\n,6,x\n9,5,z\n":             nil,
	} {
		tab, err := decode("f", []byte(text), CSV{Target: "y", Words: true})
		if err != nil {
			t.Fatal(err)
		}
		keep := *tab
		tab.LeaveOutCounters("y", nil)
		var got []string
		for _, j := range tab.counts {
			got = append(got, tab.ColumnName(j))
		}
		for _, j := range tab.differ { // words that all differ count nothing
			got = append(got, "≠"+tab.ColumnName(j))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: left out %q, want %q", text, got, want)
		}
		if keep.LeaveOutCounters("y", []string{"", "Unnamed: 0", "a", "b"}); keep.counts != nil || keep.differ != nil || keep.LeftOut != nil {
			t.Errorf("%q: left out %v although they are kept", text, keep.counts)
		}
		if tab.LeaveOutCounters("none", nil); strings.HasSuffix(text, "w\n") && tab.Left(2) != true {
			t.Errorf("%q: the last column is no target, and counts", text)
		}
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]bool{
		"2024-01-31": true, "2024/1/31": true, "31.1.2024": true, "1/31/2024": true, "31/1/24": true, "2024-01-31 17:05": true, "2024-01-31T17:05:09.25": true,
		"17:05:33": true, "January 5, 2024": true, "5 Jan 2024": true, "2024-13-01": false, "2024": false, "Jan": false, "red": false, "": false,
		"1/7/2024 9:00 PM": true, "1/7/2024 9:00:05 pm": true, "1/7/2024 21:00:05": true, "2024/1/4": true, "2024-1-13": true, "2024-01-11 02:00:00 UTC": true,
		"2024-01-11 02:00:00 +0100": true, "2024-01-11 02:00:00.5+01:00": true, "2024-01-11T02:00:00 Z": true, "11Jan2024": true, "20240104T050000": true, "20240104T0500Z": true,
		"Saturday, January 13, 2024": true, "Sat 13 Jan 2024": true, "Sat, 13 Jan 2024 02:00:00 GMT": true, "Sat, 13 Jan 2024 02:00:00 -0700": true, "Sat Jan 13 02:00:00 2024": true,
		"Sat Jan 13 02:00:00 CET 2024": true, "Jan 13, 2024, 11:00": true, "11:00 PM": true, "11:00:59PM": true, "11:00 +01": true, "2024 Jan 13": true, "2024/01": true, "01/2024": true,
		"Jan-24": true, "Jan-1-2015": true, "Jan 1 2015": true, "2005Q1": true, "2005-Q4": true, "Q1 2005": true, "1Q2005": true, "2005H2": true, "2005-W07": true, "2005Q5": false,
		"1005Q1": false, "Q1": false, "Q12005x": false, "2024-01": true, "9999-12-31": true, "0001-01-01T00:00:00Z": true,
		"A-12": false, "3/4 inch": false, "3/4": false, "12/1000": false, "1234-05": false, "Mon 10:00": false, "T-1000": false, "20240104T9": false, "a 10:30": false, "Jan-240": false,
		"1 Zoo": false, "10:30 of 5": false, "24/7": false, "May 5": false, "P1Y2M": false, "Mon, 5": false, "2024.1.2": false, "1:1": false, "x 2024-01-01": false,
		"1.2": false, "12-34-56": false, "S/M": false, "10:5": false, "Tuesday": false, strings.Repeat("1", 50): false,
	} {
		if got := IsDate(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestSettingsFit: a setting about numbers is one about the columns that it fits; another column is read as it is written.
func TestSettingsFit(t *testing.T) {
	text := "a;b\n€ 2.631,25;1,874\n€ 84,5;2,005\n€ 7;316\n"
	for _, c := range []struct {
		o    CSV
		want []float64
	}{
		{CSV{Decimal: ","}, []float64{2631.25, 1.874, 84.5, 2.005, 7, 316}},
		{CSV{Thousands: ","}, []float64{2631.25, 1874, 84.5, 2005, 7, 316}},
	} {
		c.o.Words = true
		if got, err := decode("f", []byte(text), c.o); err != nil || !slices.Equal(got.Values, c.want) {
			t.Errorf("%+v: %v, %v, want %v", c.o, got, err, c.want)
		}
	}
	if _, err := decode("f", []byte(text), CSV{Words: true}); err == nil || !strings.Contains(err.Error(), `column 2 (b): "1,874" has two readings: 1.874 with data.csv.decimal: ",", and 1874 with data.csv.thousands: ","`) {
		t.Errorf("without a setting: %v", err)
	}
}
