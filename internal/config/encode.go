package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Encoding is the inverse of decoding with defaults. Parse reads an encoded value back as the same value, and that value is
// encoded as the same bytes. A value is left out only where Parse would fill it in, so encoding calls Defaults to see how a
// missing field is filled.
//
// A part that is in no table, such as a Go program's own move, is written as the name of its type, which Parse refuses.

// Encode writes settings, a struct or a pointer to one, as YAML. Fields of interface types need their tables of parts.
func Encode(v any, families ...Family) []byte {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	c := newCodec(families)
	var b strings.Builder
	c.encodeStruct(value, reflect.Zero(value.Type()), false).write(&b, 0)
	return []byte(b.String())
}

// encode writes a setting; nil if it is left out.
func (c codec) encode(v reflect.Value, f field) *node {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return c.encode(v.Elem(), f)
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return c.encodePart(v, false)
	case reflect.Struct:
		return c.encodeStruct(v, reflect.Zero(v.Type()), false)
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		out := c.encodeList(v, f)
		if f.one && len(out.items) == 1 && !out.items[0].list && !out.items[0].table { // as it is read
			return out.items[0]
		}
		return out
	case reflect.Array:
		out := c.encodeList(v, f)
		for i := range v.Len() {
			if !reflect.DeepEqual(v.Index(i).Interface(), v.Index(0).Interface()) {
				return out
			}
		}
		return out.items[0]
	case reflect.Bool:
		return &node{scalar: v.Bool() != f.not}
	case reflect.String:
		return &node{scalar: v.String()}
	}
	number := asFloat(v)
	for _, w := range f.words {
		if number == w.number && !(f.zero && number == 0) {
			return &node{scalar: w.name}
		}
	}
	switch v.Kind() {
	case reflect.Int:
		return &node{scalar: v.Int()}
	case reflect.Uint64:
		return &node{scalar: v.Uint()}
	}
	return &node{scalar: number}
}

func (c codec) encodeList(v reflect.Value, f field) *node {
	out := &node{list: !f.pairs, table: f.pairs}
	for i := range v.Len() {
		item := v.Index(i)
		if f.pairs {
			out.put(key{name: item.Field(0).String()}, &node{scalar: item.Field(1).String()})
			continue
		}
		n := c.encode(item, f)
		if n == nil {
			n = &node{}
		}
		out.items = append(out.items, n)
	}
	return out
}

// encodeStruct writes the settings of a struct; start is the value that decoding starts from. The settings beside the name of
// a part are left out.
func (c codec) encodeStruct(v, start reflect.Value, part bool) *node {
	if short := c.encodeShort(v, start, part); short != nil {
		return short
	}
	filled := copyOf(v)
	c.defaults(filled)
	out := &node{table: true}
	after := slots(filled)
	for i, s := range slots(v) {
		if part && s.beside || s.name == "" && !s.inline {
			continue
		}
		if s.inline {
			if !s.v.IsNil() {
				n := c.encodePart(s.v, true)
				out.keys, out.items = append(out.keys, n.keys...), append(out.items, n.items...)
			}
			continue
		}
		if s.omitempty && s.v.IsZero() && after[i].v.IsZero() {
			continue
		}
		if n := c.encode(s.v, s.field); n != nil {
			out.put(key{name: s.name}, n)
		}
	}
	return out
}

// encodeShort is the short form of a struct; nil if it has none, or if another setting differs from its default.
func (c codec) encodeShort(v, start reflect.Value, part bool) *node {
	guess := copyOf(start)
	at := -1
	given, guessed := slots(v), slots(guess)
	for i, s := range given {
		if s.short {
			at = i
		}
		if s.short || part && s.beside {
			guessed[i].v.Set(s.v)
		}
	}
	if at < 0 {
		return nil
	}
	c.defaults(guess)
	guessed[at].v.Set(given[at].v)
	for i, s := range given {
		if !(part && s.beside) && !reflect.DeepEqual(s.v.Interface(), guessed[i].v.Interface()) {
			return nil
		}
	}
	if n := c.encode(given[at].v, given[at].field); n != nil && !n.table {
		return n
	}
	return nil
}

// encodePart writes a part of a family: its name alone, or a table that holds its name with its settings and the settings
// beside the name.
func (c codec) encodePart(v reflect.Value, inline bool) *node {
	family, part := c.family(v.Type()), v.Elem()
	row := family.row(part)
	name := fmt.Sprint(part.Type())
	out := &node{table: true}
	switch {
	case row < 0:
		out.put(key{name: name}, &node{table: true})
	case isNumber(family, row):
		out.put(key{name: family.Names()[row]}, c.encode(part, field{}))
	default:
		name = family.Names()[row]
		settings := &node{table: true}
		if hasSettings(family, row) {
			settings = c.encodeStruct(part, family.part(row), true)
		}
		out.put(key{name: name}, settings)
		for _, s := range settingsOf(part) {
			if !s.beside || s.omitempty && s.v.IsZero() {
				continue
			}
			if n := c.encode(s.v, s.field); n != nil {
				out.put(key{name: s.name}, n)
			}
		}
	}
	if only := out.items[0]; !inline && len(out.items) == 1 && only.table && len(only.items) == 0 {
		return &node{scalar: name}
	}
	return out
}
