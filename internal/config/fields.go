package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// field is a setting of a struct, as its tag describes it.
type field struct {
	name                                                                              string
	index                                                                             int
	omitempty, short, brief, not, inline, beside, zero, nonzero, pairs, required, one bool
	words                                                                             []word
}

// word stands for a number.
type word struct {
	name   string
	number float64
}

// known holds what readFields said of each type: a sampler checks its settings before each of its steps.
var known sync.Map

// fields lists the settings of a struct type, in order; none if no field has a tag. It panics where a tag is wrong or is
// missing: that is an error in the program. The list must not be changed.
func fields(t reflect.Type) []field {
	list, ok := known.Load(t)
	if !ok {
		list, _ = known.LoadOrStore(t, readFields(t))
	}
	return list.([]field)
}

func readFields(t reflect.Type) []field {
	var out []field
	missing := ""
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("yaml")
		switch {
		case tag == "-" || !tagged && !f.IsExported():
		case !tagged:
			missing = f.Name
		default:
			out = append(out, parseTag(t, i, tag))
		}
	}
	if missing != "" && out != nil {
		panic(fmt.Sprintf(`config: field %s of %s has no yaml tag: give it a name, or yaml:"-"`, missing, t))
	}
	return out
}

func parseTag(t reflect.Type, index int, tag string) field {
	f := t.Field(index)
	bad := func(what string) {
		panic(fmt.Sprintf("config: field %s of %s: tag %q: %s", f.Name, t, f.Tag, what))
	}
	options := strings.Split(tag, ",")
	out := field{name: options[0], index: index}
	known := map[string]*bool{
		"omitempty": &out.omitempty, "short": &out.short, "brief": &out.brief, "not": &out.not, "inline": &out.inline,
		"beside": &out.beside, "zero": &out.zero, "nonzero": &out.nonzero, "pairs": &out.pairs,
		"required": &out.required, "one": &out.one,
	}
	for _, option := range options[1:] {
		if known[option] == nil {
			bad("unknown option " + option)
			continue
		}
		*known[option] = true
	}
	switch {
	case (out.name == "") != out.inline && !out.short:
		bad("a field has either a name or the option inline")
	case out.zero && out.nonzero:
		bad("a field has either the option zero or nonzero")
	case out.required && (out.omitempty || out.name == ""):
		bad("a required field has a name and is always written")
	case out.inline && f.Type.Kind() != reflect.Struct && f.Type.Kind() != reflect.Interface:
		bad("inline is for structs and families")
	case out.not && f.Type.Kind() != reflect.Bool:
		bad("not is for bools")
	case out.one && f.Type.Kind() != reflect.Slice:
		bad("one is for lists")
	case out.pairs && !isPairs(f.Type):
		bad("pairs is for lists of structs of two strings")
	}
	words, ok := f.Tag.Lookup("words")
	for _, each := range strings.Split(words, ",") {
		if !ok {
			break
		}
		name, number, _ := strings.Cut(each, "=")
		value, err := strconv.ParseFloat(number, 64)
		if err != nil || name == "" {
			bad("want words as in last=-1")
		}
		out.words = append(out.words, word{name, value})
	}
	return out
}

func isPairs(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct || t.Elem().NumField() != 2 {
		return false
	}
	e := t.Elem()
	return e.Field(0).Type.Kind() == reflect.String && e.Field(1).Type.Kind() == reflect.String && e.Field(0).IsExported() && e.Field(1).IsExported()
}

// slot is a setting of one struct, and where its value is.
type slot struct {
	field
	v reflect.Value
}

// slots lists the settings of a struct, including the settings of its embedded structs.
func slots(v reflect.Value) []slot {
	var out []slot
	for _, f := range fields(v.Type()) {
		if inner := v.Field(f.index); f.inline && inner.Kind() == reflect.Struct {
			out = append(out, slots(inner)...)
		} else {
			out = append(out, slot{f, inner})
		}
	}
	return out
}

// copyOf returns a settable copy of v. Settings behind pointers and in lists are copied too, so that the copy can be changed.
func copyOf(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	detach(out)
	return out
}

func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(copyOf(v.Elem()))
			v.Set(p)
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(copyOf(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			items := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				items.Index(i).Set(copyOf(v.Index(i)))
			}
			v.Set(items)
		}
	case reflect.Struct:
		for _, s := range slots(v) {
			detach(s.v)
		}
	}
}

// join is the path of a setting of what stands at path. A setting without a key stands at path itself.
func join(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path
	}
	return path + "." + name
}

// within reports whether path is outer or stands inside it. Every path stands inside the empty one.
func within(path, outer string) bool {
	return outer == "" || path == outer || strings.HasPrefix(path, outer+".")
}
