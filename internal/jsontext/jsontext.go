// Package jsontext reads and writes JSON in the format of starling's files and of --json: indented by two blanks, with
// characters such as < not escaped, and with objects whose members keep their order.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Write writes v as an indented document that ends with a line end.
func Write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Object returns the JSON object of n members in their order.
func Object(n int, member func(i int) (name string, value any)) ([]byte, error) {
	b := []byte{'{'}
	for i := range n {
		name, value := member(i)
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), body...)
	}
	return append(b, '}'), nil
}

// Members calls read for each member of a JSON object in its order, with a decoder that stands before the value and refuses
// unknown keys. read must decode the value.
func Members(object []byte, read func(name string, value *json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(fmt.Errorf("%.20s is not a JSON object", object), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(name.(string), d); err != nil { // the key of an object is a string
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return fmt.Errorf("%.20s is not a JSON object: %w", object, err)
	}
	return nil
}
