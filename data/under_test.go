package data

import (
	"path/filepath"
	"reflect"
	"testing"
)

// Under changes every relative name of a file and nothing else: neither the settings that it is called on nor absolute and missing names.
func TestUnder(t *testing.T) {
	absolute, err := filepath.Abs("t.csv")
	if err != nil {
		t.Fatal(err)
	}
	settings := func(folder string) Settings {
		in := func(name string) string { return filepath.Join(folder, name) }
		return Settings{
			CSV: &CSV{File: in("a.csv"), Test: absolute, Target: "y"}, Train: &Arrays{Inputs: in("x.npy"), Targets: in("y.npy")},
			Groups: []GroupFile{{"noise", in("n.npy")}}, Split: &Parts{TestRows: in("rows.txt"), Train: 0.5}, Standardise: "none",
		}
	}
	s := settings("")
	if got := s.Under("else"); !reflect.DeepEqual(got, settings("else")) {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(s, settings("")) {
		t.Errorf("the settings changed: %+v", s)
	}
	if got := (Settings{Set: "mnist7"}).Under("else"); !reflect.DeepEqual(got, Settings{Set: "mnist7"}) {
		t.Errorf("%+v", got)
	}
}

// The division of a problem: of tables with the lines of their text, of arrays without.
func TestDivision(t *testing.T) {
	dir := t.TempDir()
	csv, x, y := putWave(t, dir, 30)
	other := put(t, dir, "other.csv", "a,b,y\n1,2,3\n\n2,3,1\n")
	p, err := Settings{CSV: &CSV{File: csv, Test: other, Target: "y"}}.Load("", Need{Regression: true})
	if err != nil {
		t.Fatal(err)
	}
	all := p.Division()
	if len(all) != 32 {
		t.Fatalf("%d examples", len(all))
	}
	for i, at := range all[:30] {
		if at.Row != i || at.Line != i+2 || at.File != csv || (at.Part == "validate") != (rowIn(p.Validate, i)) || at.Part == "test" {
			t.Errorf("example %d is %+v", i, at)
		}
	}
	if want := []Place{{0, 2, "test", other}, {1, 4, "test", other}}; !reflect.DeepEqual(all[30:], want) {
		t.Errorf("%+v, want %+v", all[30:], want)
	}
	p, err = Settings{Train: &Arrays{Inputs: x, Targets: y}}.Load("", Need{Regression: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range p.Division() {
		if at.Row != i || at.Line != 0 || at.File != x || (at.Part == "test") != rowIn(p.Test, i) {
			t.Errorf("example %d of arrays is %+v", i, at)
		}
	}
}

func rowIn(s *Set, row int) bool {
	for _, r := range s.Rows {
		if int(r) == row {
			return true
		}
	}
	return false
}
