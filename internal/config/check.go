package config

import (
	"fmt"
	"reflect"
)

// Settings are visited from the outside in: a struct, then what its fields hold. Defaults and Check are called in this order,
// so an outer struct may fill an inner one before the inner one fills itself.
//
// The path of a setting is written as for --set. The settings of a part stand under the part's name,
// method.smc.move.hmc.steps; a setting beside a part's name stands under the family, layers.0.name.

// Check checks settings built in Go, given as a struct or a pointer to one. Its error is an *Error that lists every fault,
// nil if there is none. Paths in it hold the names of the parts whose families' tables are given.
func Check(v any, families ...Family) error {
	found, moved := newCodec(families).check(copyOf(reflect.ValueOf(v)), "")
	for i := range found {
		found[i].Path = moveAll(moved, found[i].Path)
	}
	var none *Source
	return none.Error(found...)
}

// check calls every Check in v, the value at path. It returns the faults, and the paths that are written elsewhere in a
// config (walker.moved).
func (c codec) check(v reflect.Value, path string) (found []Fault, moved map[string]string) {
	all := NewFaults()
	w := walker{codec: c, moved: map[string]string{}, visit: func(v any, path string) {
		if s, ok := v.(Checker); ok {
			s.Check(all.In(path))
		}
	}}
	w.walk(v, path, path)
	return all.All(), w.moved
}

// Complete fills in the defaults of settings built in Go, given by a pointer. It sets the fields that Parse sets where a
// config leaves them out: those that are zero.
func Complete(pointer any, families ...Family) {
	newCodec(families).defaults(reflect.ValueOf(pointer).Elem())
}

// defaults calls every Defaults in v.
func (c codec) defaults(v reflect.Value) {
	w := walker{codec: c, moved: map[string]string{}, visit: func(v any, _ string) {
		if s, ok := v.(Defaulter); ok {
			s.Defaults()
		}
	}}
	w.walk(v, "", "")
}

type walker struct {
	codec
	visit func(pointer any, path string)
	moved map[string]string // the path by which a check names a setting → the path at which a config writes it
}

// walk visits the value at path, which must be settable; around is the path of the family that it is a part of, else path.
func (w *walker) walk(v reflect.Value, path, around string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.walk(v.Elem(), path, around)
		}
		return
	case reflect.Interface:
		if !v.IsNil() {
			part := copyOf(v.Elem())
			w.walk(part, w.partPath(v, path), path)
			v.Set(part)
		}
		return
	}
	if p := v.Addr(); p.CanInterface() {
		w.visit(p.Interface(), path)
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fields(v.Type()) {
			w.field(f, v.Field(f.index), path, around)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			at := join(path, fmt.Sprint(i))
			w.walk(v.Index(i), at, at)
		}
	}
}

func (w *walker) field(f field, v reflect.Value, path, around string) {
	at := join(path, f.name)
	switch {
	case f.inline:
		w.walk(v, path, around)
	case f.pairs:
		for i := range v.Len() {
			one := join(at, v.Index(i).Field(0).String())
			w.walk(v.Index(i), one, one)
		}
	case f.beside && path != around:
		beside := join(around, f.name)
		w.moved[at] = beside
		w.walk(v, beside, beside)
	default:
		w.walk(v, at, at)
	}
}

// partPath returns the path of a part's settings; the part is the value of a family's field.
func (w *walker) partPath(v reflect.Value, path string) string {
	family := w.families[v.Type()]
	if family == nil {
		return path
	}
	if row := family.row(v.Elem()); row >= 0 {
		return join(path, family.Names()[row])
	}
	return path
}
