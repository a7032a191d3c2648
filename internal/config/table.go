package config

import (
	"reflect"
)

// Table is a family of parts that stand for one another, such as moves or layers: the only place that lists their names.
// A setting of the interface type T is written by such a name: {hmc: {steps: 3}} is the row hmc's part with 3 steps. A
// part without settings is written by its name alone: relu.
type Table[T any] []Row[T]

// Row is one part of a family. Part is its value where no setting is written.
type Row[T any] struct {
	Name string
	Part T
}

// Family is a Table of any type.
type Family interface {
	// Names lists the names of the rows, in order.
	Names() []string

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

// Find returns the part of the row of that name; ok is false if there is none.
func (t Table[T]) Find(name string) (part T, ok bool) {
	for _, r := range t {
		if r.Name == name {
			return r.Part, true
		}
	}
	return part, false
}

// Name returns the name of the row that a part was made from: that of its type or, where several rows have the type, of its
// value. It is empty for a part that no row stands for.
func (t Table[T]) Name(part T) string {
	if i := t.row(reflect.ValueOf(part)); i >= 0 {
		return t[i].Name
	}
	return ""
}

func (t Table[T]) of() reflect.Type { return reflect.TypeFor[T]() }

func (t Table[T]) part(i int) reflect.Value { return reflect.ValueOf(t[i].Part) }

func (t Table[T]) row(part reflect.Value) int {
	found := -1
	for i := range t {
		row := t.part(i)
		switch {
		case !part.IsValid() || row.Type() != part.Type():
		case reflect.DeepEqual(row.Interface(), part.Interface()):
			return i
		case found < 0:
			found = i
		}
	}
	return found
}
