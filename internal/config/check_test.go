package config

import (
	"errors"
	"reflect"
	"testing"
)

// TestCheck: settings built in Go meet the same checks, without defaults and without places.
func TestCheck(t *testing.T) {
	bad := garden{
		secret: 3,
		Rows:   []Plant{beans{Poles: 100, Gap: [2]int{1, 1}, Label: "weed"}, under{}, &beans{Poles: 1, Gap: [2]int{1, 1}}},
		Beds:   []bed{{frame: frame{Nails: 100}}},
		Water:  &water{Litres: 0},
		Labels: []label{{"a", ""}},
		Tended: below(1.5),
	}
	before := reflect.ValueOf(bad).Interface()
	const want = `beds.0.nails: want below 100, have 100
rows.0.beans.poles: want below 100, have 100
rows.0.label: no name for a plant
rows.1.under.of: needs a plant
water.litres: want a number above 0, have 0
labels.a: needs a file
tended.height: want a number above 0 and below 1, have 1.5`
	for _, v := range []any{bad, &bad} {
		err := Check(v, families...)
		var list *Error
		if !errors.As(err, &list) || err.Error() != want {
			t.Errorf("%T: %v", v, err)
		}
	}
	if !reflect.DeepEqual(before, bad) {
		t.Error("the settings have changed")
	}
	if err := Check(bad.Rows[1]); err == nil || err.Error() != "of: needs a plant" {
		t.Errorf("a part alone: %v", err)
	}
	if err := Check(garden{Rows: []Plant{under{}}}); err == nil || err.Error() != "rows.0.of: needs a plant" {
		t.Errorf("without tables: %v", err)
	}
	if err := Check(garden{Rows: []Plant{under{Of: stone{}}}}, families...); err != nil {
		t.Errorf("a part that no table has: %v", err)
	}
	if err := Check((*garden)(nil)); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

// stone is a part of a Go program's own.
type stone struct{}

func (stone) plant() {}

// TestFaultsHelpers: the sentences of the helpers, and the paths of structs inside structs.
func TestFaultsHelpers(t *testing.T) {
	f := NewFaults()
	f.AtLeast("a", 1, 2)
	f.AtLeast("a", 2, 2)
	f.Within("b", 5, 1, 5)
	f.Within("b", 4, 1, 5)
	f.In("c").Positive("d", 0)
	f.In("").Positive("", 1)
	f.In("c").In("e").Share("", 1)
	f.In("").Share("s", 0)
	f.OneOf("n", "equals", "equal", "evidence")
	f.OneOf("n", "equal", "equal")
	f.If(false, "x", "no")
	f.In("c").Conflict([]string{"p", "q"}, "%d", 3)
	f.Inside("i", "j")
	for i, want := range []Fault{
		{Path: "a", Message: "want at least 2, have 1"},
		{Path: "b", Message: "want below 5, have 5"},
		{Path: "c.d", Message: "want a number above 0, have 0"},
		{Path: "c.e", Message: "want a number above 0 and below 1, have 1"},
		{Path: "s", Message: "want a number above 0 and below 1, have 0"},
		{Path: "n", Message: `unknown name "equals": did you mean "equal"? (known: equal, evidence)`},
		{Path: "c.p", Also: []string{"c.q"}, Message: "3"},
		{Path: "i", Inside: true, Message: "j"},
	} {
		if got := f.All(); i >= len(got) || !reflect.DeepEqual(got[i], want) {
			t.Errorf("fault %d: %+v, want %+v", i, got, want)
		}
	}
	if len(f.All()) != 8 {
		t.Errorf("%d faults, want 8", len(f.All()))
	}
}

// TestTable: names of parts, also where several rows have one type.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		part Plant
		name string
	}{
		{beans{Poles: 9}, "beans"}, {grass{"x"}, "grass"}, {herb(0), "mint"}, {herb(1), "sage"}, {herb(2), ""},
		{cut{}, "lawn"}, {cut{Every: 4}, "lawn"}, {cut{Hedge: true}, "hedge"}, {cut{Hedge: true, Every: 4}, "hedge"}, {stone{}, ""}, {nil, ""},
	} {
		if got := plants.Name(c.part); got != c.name {
			t.Errorf("%+v is %q, want %q", c.part, got, c.name)
		}
	}
	if part, ok := plants.Find("sage"); part != herb(1) || !ok {
		t.Errorf("sage is %v", part)
	}
	if part, ok := plants.Find("rosemary"); part != nil || ok {
		t.Errorf("rosemary is %v", part)
	}
	if d := len(plants.Names()); d != len(plants) || plants.Names()[1] != "grass" {
		t.Errorf("names %v", plants.Names())
	}
}

// TestTableStands: what is decoded into a part does not change the table.
func TestTableStands(t *testing.T) {
	type list struct {
		Ground Ground `yaml:"ground"`
	}
	own := Table[Ground]{{"sand", sand{Sieve: []int{1, 2}, Mesh: pointer(3.0)}}}
	v, _, err := Parse[list]("x", []byte("ground: {sand: {sieve: [5, 6], mesh: 7}}"), nil, own)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Ground.(sand); got.Sieve[0] != 5 || *got.Mesh != 7 {
		t.Errorf("%+v", got)
	}
	if v, _, err = Parse[list]("x", []byte("ground: {sand: {}}"), nil, own); err != nil {
		t.Fatal(err)
	}
	got := v.Ground.(sand)
	if got.Sieve[1] != 2 || *got.Mesh != 3 {
		t.Errorf("the row's part was not the start: %+v", got)
	}
	got.Sieve[0] = 9
	if first := own[0].Part.(sand); first.Sieve[0] != 1 || *first.Mesh != 3 {
		t.Errorf("the table has changed: %+v", first)
	}
}

// TestTags: a tag that is wrong is an error in the program.
func TestTags(t *testing.T) {
	for want, parse := range map[string]func(){
		`config: field B of struct { A int "yaml:\"a\""; B int } has no yaml tag: give it a name, or yaml:"-"`: tagFault[struct {
			A int `yaml:"a"`
			B int
		}],
		`config: field A of struct { A int "yaml:\"a,shrt\"" }: tag "yaml:\"a,shrt\"": unknown option shrt`: tagFault[struct {
			A int `yaml:"a,shrt"`
		}],
		`config: field A of struct { A int "yaml:\",omitempty\"" }: tag "yaml:\",omitempty\"": a field has either a name or the option inline`: tagFault[struct {
			A int `yaml:",omitempty"`
		}],
		`config: field A of struct { A int "yaml:\",inline\"" }: tag "yaml:\",inline\"": inline is for structs and families`: tagFault[struct {
			A int `yaml:",inline"`
		}],
		`config: field A of struct { A int "yaml:\"a,not\"" }: tag "yaml:\"a,not\"": not is for bools`: tagFault[struct {
			A int `yaml:"a,not"`
		}],
		`config: field A of struct { A []int "yaml:\"a,pairs\"" }: tag "yaml:\"a,pairs\"": pairs is for lists of structs of two strings`: tagFault[struct {
			A []int `yaml:"a,pairs"`
		}],
		`config: field A of struct { A int "yaml:\"a\" words:\"last\"" }: tag "yaml:\"a\" words:\"last\"": want words as in last=-1`: tagFault[struct {
			A int `yaml:"a" words:"last"`
		}],
		"config: no form for a field of type int8": tagFault[struct {
			A int8 `yaml:"a"`
		}],
		"config: no table of parts was given for config.Plant": tagFault[struct {
			A Plant `yaml:"a"`
		}],
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v\nwant  %s", got, want)
				}
			}()
			parse()
		}()
	}
}

func tagFault[T any]() { Parse[T]("x", []byte("a: 3"), nil) }
