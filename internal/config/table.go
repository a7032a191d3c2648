package config

import (
	"fmt"
	"reflect"
	"slices"
)

// Table lists a family of interchangeable parts, such as moves or layers. It is the only list of their names. A setting of
// the interface type T is written by the name of a row: {hmc: {steps: 3}} is the part of the row hmc with 3 steps. A part
// without settings is written by its name alone: relu.
type Table[T any] []Row[T]

// Row is one part of a family. Part is the value that a config's settings are decoded over.
type Row[T any] struct {
	Name string
	Part T
}

// Family is a Table of any type.
type Family interface {
	// Names lists the names of the rows, in order.
	Names() []string
	// Forms lists, for messages, how the rows are written in a config: "categorical, bernoulli or {gaussian: {sd: 1}}".
	Forms() string

	of() reflect.Type           // the interface type T
	part(i int) reflect.Value   // row i's part, of its own type
	row(part reflect.Value) int // the row that part was made from; −1: none
}

// Names lists the names of the rows, in order.
func (t Table[T]) Names() []string {
	names := make([]string, len(t))
	for i, r := range t {
		names[i] = r.Name
	}
	return names
}

// Forms lists, for messages, how the rows are written in a config: "categorical, bernoulli or {gaussian: {sd: 1}}".
func (t Table[T]) Forms() string { return forms(t, true) }

// Find returns the part of the row of that name; ok is false if there is none.
func (t Table[T]) Find(name string) (part T, ok bool) {
	for _, r := range t {
		if r.Name == name {
			return r.Part, true
		}
	}
	return part, false
}

// Name returns the name of the row that a part was made from: the row with the part's type or, if several rows have that
// type, the row whose part equals it except for settings. It is empty if there is no such row.
func (t Table[T]) Name(part T) string {
	if i := t.row(reflect.ValueOf(part)); i >= 0 {
		return t[i].Name
	}
	return ""
}

func (t Table[T]) of() reflect.Type { return reflect.TypeFor[T]() }

func (t Table[T]) part(i int) reflect.Value { return reflect.ValueOf(t[i].Part) }

func (t Table[T]) row(part reflect.Value) int {
	if !part.IsValid() {
		return -1
	}
	var same []int // rows of the part's type
	for i := range t {
		if t.part(i).Type() == part.Type() {
			same = append(same, i)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	for _, i := range same {
		if reflect.DeepEqual(t.part(i).Interface(), part.Interface()) {
			return i
		}
	}
	for _, i := range same {
		if reflect.DeepEqual(fixed(t.part(i)), fixed(part)) {
			return i
		}
	}
	return -1
}

// fixed returns a part with its settings zeroed. Rows of the same type differ in it.
func fixed(part reflect.Value) any {
	out := copyOf(part)
	if out.Kind() == reflect.Struct {
		for _, s := range slots(out) {
			s.v.SetZero()
		}
	}
	return out.Interface()
}

// isNumber reports whether a row's part is a number that a config sets: no other row has its type.
func isNumber(f Family, row int) bool {
	part := f.part(row)
	if !part.CanInt() && !part.CanUint() && !part.CanFloat() {
		return false
	}
	for i := range f.Names() {
		if i != row && f.part(i).Type() == part.Type() {
			return false
		}
	}
	return true
}

// hasSettings reports whether a row is written with settings, {hmc: {steps: 3}}, rather than as a name.
func hasSettings(f Family, row int) bool {
	return isNumber(f, row) || slices.ContainsFunc(settingsOf(f.part(row)), func(s slot) bool { return !s.beside })
}

// hasBeside reports whether settings may stand beside a row's name.
func hasBeside(f Family, row int) bool {
	return slices.ContainsFunc(settingsOf(f.part(row)), func(s slot) bool { return s.beside })
}

// settingsOf lists the settings of a part; none if it is no struct.
func settingsOf(part reflect.Value) []slot {
	if part.Kind() != reflect.Struct {
		return nil
	}
	return slots(part)
}

// codec knows the tables of parts.
type codec struct{ families map[reflect.Type]Family }

func newCodec(families []Family) codec {
	c := codec{map[reflect.Type]Family{}}
	for _, f := range families {
		c.families[f.of()] = f
	}
	return c
}

// family is the table for an interface type. A type without one is an error in the program.
func (c codec) family(t reflect.Type) Family {
	f, ok := c.families[t]
	if !ok {
		panic(fmt.Sprintf("config: no table of parts was given for %s", t))
	}
	return f
}
