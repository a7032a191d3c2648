package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// mostValues bounds the values of a document: in memory a short one takes thirty times its length. It leaves room for the schema
// of the largest input that a network takes, 4 Mi values with two numbers for each.
const mostValues = 9 << 20

// Read reads one JSON document into what v points to. Files of starling are written by starling, so it refuses what
// encoding/json lets pass: a key that v does not have, or has in other letters, such as SD for sd; a key that comes twice in an
// object; and a second document.
func Read(text []byte, v any) error {
	if bytes.Count(text, []byte{','}) >= mostValues {
		return fmt.Errorf("more than %d values", mostValues)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var document json.RawMessage
	if err := d.Decode(&document); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends after %d bytes: it was cut off", len(text))
	} else if err != nil {
		return err
	}
	if rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("byte %d: something follows the document", len(text)-len(rest))
	}
	if err := checkKeys(text, reflect.TypeOf(v)); err != nil {
		return err
	}
	return json.Unmarshal(document, v)
}

// fields are the keys of a struct, and the types of their values.
type fields struct {
	keys  []string
	types map[string]reflect.Type
}

// fieldsOf finds the keys of a struct as encoding/json does.
func fieldsOf(t reflect.Type) *fields {
	out := &fields{types: map[string]reflect.Type{}}
	add := func(key string, t reflect.Type) {
		if out.types[key] == nil {
			out.keys = append(out.keys, key)
			out.types[key] = t
		}
	}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		key, _, _ := strings.Cut(tag, ",")
		switch inner := target(f.Type); {
		case tag == "-":
		case f.Anonymous && key == "" && inner.Kind() == reflect.Struct:
			promoted := fieldsOf(inner)
			for _, k := range promoted.keys {
				add(k, promoted.types[k])
			}
		case !f.IsExported():
		case key == "":
			add(f.Name, f.Type)
		default:
			add(key, f.Type)
		}
	}
	return out
}

// target is what a pointer points to in the end, or the type itself.
func target(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// checkKeys returns an error for a key of a valid document that comes twice in its object, or that is not a key of the struct
// which the object is read into. A type of another kind may have any keys; a slice that is written by Object has elements for
// members.
func checkKeys(text []byte, t reflect.Type) error {
	type container struct {
		seen   map[string]bool // nil in an array
		fields *fields         // nil: any keys
		value  reflect.Type    // of the next value; nil: any
		key    bool            // the next token is a key
	}
	known := map[reflect.Type]*fields{}
	inside := []container{{value: t}}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		top := &inside[len(inside)-1]
		if name, ok := token.(string); ok && top.key {
			if top.seen[name] {
				return fmt.Errorf("byte %d: the key %.60q comes twice", d.InputOffset(), name)
			}
			if f := top.fields; f != nil {
				if top.value = f.types[name]; top.value == nil {
					return fmt.Errorf("byte %d: unknown key %.60q%s", d.InputOffset(), name, spelling.Suggest(name, f.keys))
				}
			}
			top.seen[name], top.key = true, false
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			in := container{}
			if token == json.Delim('{') {
				in.seen, in.key = map[string]bool{}, true
			}
			if t := target(top.value); t != nil {
				switch t.Kind() {
				case reflect.Struct:
					if known[t] == nil {
						known[t] = fieldsOf(t)
					}
					in.fields = known[t]
				case reflect.Slice, reflect.Array, reflect.Map:
					in.value = t.Elem()
				}
			}
			inside = append(inside, in)
			continue
		case json.Delim('}'), json.Delim(']'):
			inside = inside[:len(inside)-1]
			top = &inside[len(inside)-1]
		}
		top.key = top.seen != nil // a value has ended: in an object a key follows
	}
}
