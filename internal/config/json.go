package config

import (
	"encoding/json"
	"reflect"

	"github.com/starling-smc/starling/internal/jsontext"
)

// EncodeJSON is Encode as one JSON object, with the same keys in the same order. Since JSON is YAML, Parse reads it.
func EncodeJSON(v any, families ...Family) ([]byte, error) {
	value := reflect.ValueOf(v)
	return newCodec(families).encodeStruct(value, reflect.Zero(value.Type()), false).MarshalJSON()
}

// MarshalJSON writes a value with what is in it.
func (n *node) MarshalJSON() ([]byte, error) {
	switch {
	case n.table:
		return jsontext.Object(len(n.keys), func(i int) (string, any) { return n.keys[i].name, n.items[i] })
	case n.list:
		return json.Marshal(n.items)
	}
	return json.Marshal(n.scalar)
}
