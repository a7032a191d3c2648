package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key is what types and tables say of a key of a config. What the key means stands in the comment of the field.
type Key struct {
	Path     string
	Type     string // in words: "whole number", "list of texts"
	Default  string // as a config writes it; empty: there is none, or it depends on what no field says
	Required bool   // a config must write it

	Struct, Field string   // the Go field: mcmc.HMC, Steps; empty for an item of a list, and for a part
	Family        string   // of a part, or of the parts that the key names: move; empty: none
	Part          string   // the part that the key is: hmc; empty: the key is none
	Names         []string // of the parts that the key names
}

// Describe describes the keys of a config of type T, in the order of Keys.
func Describe[T any](families ...Family) []Key {
	k := keys{codec: newCodec(families), root: reflect.TypeFor[T]()}
	k.settings(k.root, "", "", nil, nil)
	return k.described
}

// step leads from a value to one inside it: to a field, to what a pointer points at, to the first item of a list, or to the part of a row.
type step struct {
	kind       reflect.Kind // of the value: Struct, Pointer, Slice or Interface
	field, row int
}

// describe adds what is known of a key, whose value is at the end of steps. f is its field in a struct of type t.
func (k *keys) describe(path string, t reflect.Type, f field, steps []step) {
	of := t.Field(f.index)
	d := Key{Path: path, Type: k.words(of.Type, f), Required: f.required, Struct: typeName(t), Field: of.Name}
	if inner := deepest(of.Type); inner.Kind() == reflect.Interface {
		d.Family, d.Names = noun(inner), k.family(inner).Names()
	}
	if !f.required {
		d.Default = k.defaultOf(f, steps)
	}
	k.described = append(k.described, d)
}

// defaultOf is the default of the setting at the end of steps, as a config writes it.
func (k *keys) defaultOf(f field, steps []step) string {
	root := reflect.New(k.root).Elem()
	k.build(root, steps)
	k.defaults(root)
	v, ok := follow(root, steps)
	if !ok {
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		return ""
	case reflect.Interface:
		if v.IsNil() {
			return ""
		}
		if row := k.family(v.Type()).row(v.Elem()); row >= 0 {
			return k.family(v.Type()).Names()[row]
		}
		return ""
	case reflect.Int, reflect.Uint64, reflect.Float64:
		if v.IsZero() && !f.zero && !slices.ContainsFunc(f.words, func(w word) bool { return w.number == 0 }) {
			return ""
		}
	case reflect.Bool:
	default:
		if v.IsZero() {
			return ""
		}
	}
	return k.encode(v, f).flow()
}

// build makes the values that steps lead through.
func (c codec) build(v reflect.Value, steps []step) {
	if len(steps) == 0 {
		return
	}
	switch s := steps[0]; s.kind {
	case reflect.Struct:
		c.build(v.Field(s.field), steps[1:])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		c.build(v.Elem(), steps[1:])
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		c.build(v.Index(0), steps[1:])
	case reflect.Interface:
		part := copyOf(c.family(v.Type()).part(s.row))
		c.build(part, steps[1:])
		v.Set(part)
	}
}

// follow is the value at the end of steps; ok is false if defaults have put another part on the way.
func follow(v reflect.Value, steps []step) (_ reflect.Value, ok bool) {
	for _, s := range steps {
		if v.Kind() != s.kind {
			return v, false
		}
		switch s.kind {
		case reflect.Struct:
			v = v.Field(s.field)
		case reflect.Slice:
			if v.Len() == 0 {
				return v, false
			}
			v = v.Index(0)
		default:
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
	}
	return v, true
}

// words says what values a setting has.
func (k *keys) words(t reflect.Type, f field) string {
	text := k.kind(t, f)
	for _, w := range f.words {
		text += " or " + w.name
	}
	return text
}

func (k *keys) kind(t reflect.Type, f field) string {
	switch t.Kind() {
	case reflect.Pointer:
		return k.kind(t.Elem(), f)
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	case reflect.Array:
		return fmt.Sprintf("%s, or a list of %d", k.kind(t.Elem(), f), t.Len())
	case reflect.Slice:
		switch {
		case f.pairs:
			return "mapping of names to texts"
		case f.one:
			return k.kind(t.Elem(), f) + ", or a list of them"
		}
		return "list, each item: " + k.kind(t.Elem(), f)
	case reflect.Interface:
		return noun(t)
	}
	for _, f := range fields(t) {
		if f.short || f.brief {
			return cmp.Or(k.words(t.Field(f.index).Type, f), "value") + ", or a block"
		}
	}
	return "block"
}

// deepest is the type of the items of lists and of what pointers point at.
func deepest(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// noun is what a part of a family is called.
func noun(t reflect.Type) string { return strings.ToLower(t.Name()) }

// typeName names a type by its package and its name, without the arguments of a generic type: smc.Schedule.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + name
}
