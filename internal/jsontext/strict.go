package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// Read reads one JSON document into what v points to. Files of starling are written by starling, so it refuses what
// encoding/json lets pass: a key that v does not have, a key that comes twice in an object, and a second document.
func Read(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends after %d bytes: it was cut off", len(text))
	} else if err != nil {
		return explained(err, v)
	}
	if rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("byte %d: something follows the document", len(text)-len(rest))
	}
	return twice(text)
}

// explained adds the nearest known key to an error about an unknown one.
func explained(err error, v any) error {
	_, quoted, unknown := strings.Cut(err.Error(), "json: unknown field ")
	key, bad := strconv.Unquote(quoted)
	if !unknown || bad != nil {
		return err
	}
	known := map[reflect.Type][]string{}
	collect(reflect.TypeOf(v), known)
	var all []string
	for _, keys := range known {
		all = append(all, keys...)
	}
	return fmt.Errorf("unknown key %.60q%s", key, spelling.Suggest(key, all))
}

// collect finds the keys of the structs in a type.
func collect(t reflect.Type, keys map[reflect.Type][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(t.Elem(), keys)
	case reflect.Struct:
		if _, seen := keys[t]; seen {
			return
		}
		keys[t] = []string{}
		for f := range t.Fields() {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
				keys[t] = append(keys[t], key)
			}
			collect(f.Type, keys)
		}
	}
}

// twice returns an error for a key that comes twice in an object of a valid document.
func twice(text []byte) error {
	type container struct {
		keys map[string]bool // nil in an array
		key  bool            // the next token is a key
	}
	var inside []container
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		top := len(inside) - 1
		if name, ok := token.(string); ok && top >= 0 && inside[top].key {
			if inside[top].keys[name] {
				return fmt.Errorf("byte %d: the key %.60q comes twice", d.InputOffset(), name)
			}
			inside[top].keys[name], inside[top].key = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			inside = append(inside, container{map[string]bool{}, true})
			continue
		case json.Delim('['):
			inside = append(inside, container{})
			continue
		case json.Delim('}'), json.Delim(']'):
			inside, top = inside[:top], top-1
		}
		if top >= 0 { // a value has ended: in an object a key follows
			inside[top].key = inside[top].keys != nil
		}
	}
}
