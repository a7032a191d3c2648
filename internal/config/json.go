package config

import (
	"encoding/json"
	"reflect"
)

// EncodeJSON is Encode as one JSON object, with the same keys in the same order. Since JSON is YAML, Parse reads it.
func EncodeJSON(v any, families ...Family) ([]byte, error) {
	value := reflect.ValueOf(v)
	return newCodec(families).encodeStruct(value, reflect.Zero(value.Type()), false).MarshalJSON()
}

// MarshalJSON writes a value with what is in it.
func (n *node) MarshalJSON() ([]byte, error) {
	switch {
	case n.list:
		return json.Marshal(n.items)
	case !n.table:
		return json.Marshal(n.scalar)
	}
	out := []byte{'{'}
	for i, k := range n.keys {
		key, err := json.Marshal(k.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(n.items[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
