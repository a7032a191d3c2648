package tables

import (
	"slices"
	"strings"
	"testing"
)

// TestFirstLines: a first line of words and years is a header, a line sep= names the delimiter, and a comment is named.
func TestFirstLines(t *testing.T) {
	for text, want := range map[string]string{
		"country,1960,1961\nPeru,1.5,2\nChad,3,4\n":        "country,1960,1961",
		"country,code,1960\nPeru,PE,1.5\nChad,TD,3\n":      "country,code,1960",
		"mass,1960,1961\n1.5,2,3\n2,3,4\n":                 "mass,1960,1961",
		",x,1960,1970\na,1,5,6\nb,2,7,8\n":                 ",x,1960,1970",
		"id,1,2,3\n7,0.5,1,2\n8,1,2,3\n":                   "id,1,2,3",
		"Peru,1960,1961\nChad,1970,1971\nOman,1950,1951\n": "", // years in all rows
		"red,1990\nblue,1991\ngreen,\n":                    "", // a year is missing
		"green,1965,1970\nred,1980,1980\nblue,1985,1991\n": "", // from and to
		"Peru,1.5,2\nChad,3,4\n":                           "",
		"sep=;\na;b\n1;2\n":                                "a,b",
		"\"sep=|\"\r\na|b\r\n1|2\r\n":                      "a,b",
		"#id,x\n1,2\n":                                     "#id,x",
		"a,b\n1,2\n":                                       "a,b",
	} {
		got, err := decode("f", []byte(text), CSV{Words: true})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if strings.Join(got.Header, ",") != want {
			t.Errorf("%q: the header is %q, want %s", text, got.Header, want)
		}
		if strings.HasPrefix(text, "sep") && got.Line(0) != 3 {
			t.Errorf("the first row is on line %d", got.Line(0))
		}
	}
	for text, want := range map[string]string{
		"1,x,2\n3,7,4\n":              `line 1, column 2: "x" is not a number, and line 2 has one: a column holds either numbers or words, or is declared with data.csv.categories (if the first line names the columns: data.csv.header: true, or --header)`,
		"x,5\n3,4\n":                  "(if the first line names the columns: data.csv.header: true, or --header)",
		"# exported\na,b\n1,2\n":      `f: line 1 is a comment ("# exported"), not rows: remove it`,
		"# a\n# b, c\nx,y,z\n1,2,3\n": `f: lines 1 to 2 are comments ("# a"), not rows: remove them`,
		"// a b c\nx,y\n1,2\n":        "f: line 1 is a comment",
		"a,b\n1,2\n# the end\n":       "line 3: 1 cell where the first record has 2 (delimiter \",\"): is it a comment? Remove the line",
	} {
		if _, err := decode("f", []byte(text), CSV{Words: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestSkipWithoutTarget: rows without a target are left out, and the others keep their lines and words.
func TestSkipWithoutTarget(t *testing.T) {
	got, err := decode("f", []byte("x,y\n1,no\n2,NA\n3,yes\n4,\n5,no\n"), CSV{Target: "y", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.SkipWithoutTarget(1, nil); n != 2 || got.Rows() != 3 || !slices.Equal(got.Values, []float64{1, 0, 3, 1, 5, 0}) || !slices.Equal(got.Words(1), []string{"no", "yes"}) {
		t.Errorf("%d skipped: %v, %q", n, got.Values, got.Words(1))
	}
	for i, line := range []int{2, 4, 6} {
		if got.Line(i) != line {
			t.Errorf("row %d is on line %d, want %d", i, got.Line(i), line)
		}
	}
	signs, err := decode("f", []byte("x,y\n1,+\n2,-\n3,+\n"), CSV{Target: "y", Words: true})
	if err != nil || signs.SkipWithoutTarget(1, nil) != 0 {
		t.Errorf("a minus beside a plus is a word: %v, %v", signs, err)
	}
}

// TestCodes: in a column of codes numbers are words, the same however they are written, and may stand beside words.
func TestCodes(t *testing.T) {
	got, err := decode("f", []byte("mode,x\n4,1\nf,2\n4.0,3\nNA,4\n2020-01-01,5\n"), CSV{Words: true, Categories: []string{"mode"}})
	if err != nil || !slices.Equal(got.Words(0), []string{"2020-01-01", "4", "f"}) || got.Values[0] != 1 || got.Values[4] != 1 || got.Values[6] == got.Values[6] {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestComposedNames: names whose accents are written otherwise are the same.
func TestComposedNames(t *testing.T) {
	got, err := decode("f", []byte("Gro\u0308\u00dfe,y\n1,2\n3,4\n"), CSV{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := got.Column("Gr\u00f6\u00dfe"); j != 0 || err != nil {
		t.Errorf("column %d, %v", j, err)
	}
	if Category([]string{"K\u00f6ln"}, "Ko\u0308ln") != 0 {
		t.Error("a word with another accent is another word")
	}
}
