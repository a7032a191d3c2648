package data

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/tables"
)

// noted are the notes of a problem in words.
func noted(p *Problem) (words []string) {
	for _, found := range p.Noted {
		words = append(words, found.Words())
	}
	return words
}

// TestUnknownWordsTold: words that no training row had are counted in each file that is read for a run, whole or in blocks, with the first
// and its line; a file without them has no note, and one without a header is said to be taken by its places.
func TestUnknownWordsTold(t *testing.T) {
	dir := t.TempDir()
	table := "city,size,x,y\n" + strings.Repeat("Rome,S,1,a\nOslo,L,2,b\nRome,L,3,a\nOslo,S,5,b\n", 15)
	file := put(t, dir, "new.csv", "x,city,size,y\n1,Rome,S,a\n2,Lima,S,a\n3,Oslo,XL,b\n4,\"La\nPaz\",M,b\n5,Lima,L,b\n")
	settings := CSV{File: put(t, dir, "own.csv", table), Target: "y", Other: tables.OtherZeros}
	run := loaded(t, Settings{CSV: &settings}, Need{})
	const words = `column "city" in 3 of 5 rows (the first: "Lima", line 3) and column "size" in 2 of 5 rows (the first: "XL", line 4)`
	want := []string{"words of " + file + " that no training row had are taken for no category: " + words}
	p, err := run.Schema.Read(file, "", "")
	if err != nil || !slices.Equal(noted(p), want) {
		t.Errorf("to evaluate: %v, %q", err, noted(p))
	}
	p.Noted = nil
	if err := p.ReadGroups("", file); err != nil || !slices.Equal(noted(p), want) {
		t.Errorf("as a group: %v, %q", err, noted(p))
	}
	settings.Test, settings.Validate = file, file
	if own := loaded(t, Settings{CSV: &settings}, Need{}); !slices.Equal(noted(own), want) {
		t.Errorf("as the run's own parts: %q", noted(own))
	}
	settings.Missing = tables.MissingIndicator
	if own := loaded(t, Settings{CSV: &settings}, Need{}); !slices.Equal(noted(own), want) {
		t.Errorf("as the run's own parts, where values may be missing: %q", noted(own))
	}
	var last *Table
	rows := 0
	if err := formats.ScanCSV(file, run.Schema.CSVToPredict(""), 2, func(block *Table) error { rows, last = rows+block.Rows(), block; return nil }); err != nil {
		t.Fatal(err)
	}
	if notes := last.Notes(file, rows); len(notes) != 1 || notes[0].Words() != want[0] {
		t.Errorf("in blocks: %v", notes)
	}
	bare := put(t, dir, "bare.csv", "Rome,S,1,a\nOslo,L,2,b\n")
	p, err = run.Schema.Read(bare, "", "")
	if want := "the columns of " + bare + " are taken in the order of the run's table, since it has no header"; err != nil || !slices.Equal(noted(p), []string{want}) {
		t.Errorf("without a header: %v, %q", err, noted(p))
	}
}

// TestBooleansInAnyCase: a column of true and false, or yes and no, is the same in any letter case, in another file and in held-out rows;
// other words are not, nor those of a column that tells true from True.
func TestBooleansInAnyCase(t *testing.T) {
	for _, c := range []struct{ train, other, want string }{
		{"True False", "true FALSE maybe", "True False -"},
		{"yes No", "YES no y", "yes No -"},
		{"TRUE", "true false", "TRUE -"},
		{"true True False", "true TRUE false", "true - -"},
		{"true no", "True NO", "- -"},
		{"Red Blue", "red Blue", "- Blue"},
	} {
		train := strings.Fields(c.train)
		text := "a,b,y\n"
		for i := range 12 {
			text += train[i%len(train)] + "," + string(rune('0'+i%5)) + ",p\n"
		}
		held := "a,b,y\n" + strings.ReplaceAll(c.other, " ", ",1,p\n") + ",1,p\n"
		own, err := DecodeCSV("own", []byte(text+strings.TrimPrefix(held, "a,b,y\n")), CSV{Target: "y", Words: true})
		if err != nil {
			t.Fatal(err)
		}
		rows := own.All()
		s, err := Columns{Target: "y", Classes: true, Zeros: true}.Schema(own, rows[:12])
		if len(train) == 1 { // would be constant
			s, err = &Schema{Columns: []string{"a", "b", "y"}, Named: true, Target: "y", Shape: []int{2}, Classes: 1, Other: tables.OtherZeros, Names: []string{"p"}, Expand: []Expansion{{Column: "a", Categories: train}}}, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		other, err := DecodeCSV("other", []byte(held), s.CSV())
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []struct {
			t    *Table
			rows []int32
		}{{own, rows[12:]}, {other, nil}} {
			set, err := s.Set("x", of.t, of.rows, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range set.Len() {
				x := set.F32[i*s.Shape[0] : i*s.Shape[0]+len(s.Expand[0].Categories)]
				got = append(got, "-")
				if k := slices.Index(x, 1); k >= 0 {
					got[i] = s.Expand[0].Categories[k]
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %q are %q of %q", of.t.Name, c.other, got, c.train)
			}
		}
	}
}

// TestNoLongerConstant: a column that was constant is compared with the value that it had, as a number or as a word, by its name or by
// its place; a missing cell is no other value, and what a run does not know, or leaves out by its settings, is not compared.
func TestNoLongerConstant(t *testing.T) {
	const text = "k,w,a,d,y\n7,yes,1,1,0\n7,yes,2,1,1\n7,yes,3,1,1\n"
	s := leave(t, text, CSV{Target: "y", Words: true, Drop: []string{"d"}}, Columns{Target: "y", Classes: true})
	bare := leave(t, strings.TrimPrefix(text, "k,w,a,d,y\n"), CSV{Target: "5", Words: true, Drop: []string{"4"}}, Columns{Target: "5", Classes: true})
	for _, c := range []struct {
		s          *Schema
		text, want string
	}{
		{s, "a,w,k,d\n1,YES,7.0,5\n2,yes,7e0,6\n,NA,,7\n", ""},
		{s, "a,w,k,d\n1,no,8,5\n2,yes,7,6\n3,1,seven,7\n", `column "w" in 2 of 3 rows (yes in training) and column "k" in 2 of 3 rows (7 in training)`},
		{s, "a\n1\n", ""},
		{bare, "8,yes,1,5,0\n7,yes,2,6,0\n", `column "1" in 1 of 2 rows (7 in training)`},
		{bare, "1\n2\n", ""},
	} {
		var last *Table
		rows := 0
		if err := scanCSV("g", strings.NewReader(c.text), len(c.text), c.s.CSVToPredict(""), 2, func(t *Table) error { rows, last = rows+t.Rows(), t; return nil }); err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		got := ""
		for _, note := range last.Notes("g", rows) {
			got += note.Words()
		}
		if c.want != "" {
			c.want = "the network cannot use values of g in columns that were constant over the training rows: " + c.want
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
