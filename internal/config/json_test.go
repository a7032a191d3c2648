package config

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestEncodeJSON: settings as JSON are valid JSON, and Parse reads them back as the same settings.
func TestEncodeJSON(t *testing.T) {
	type inner struct {
		Rate  float64 `yaml:"rate,omitempty"`
		Count int     `yaml:"count,zero"`
	}
	type outer struct {
		Name string   `yaml:"name"`
		On   bool     `yaml:"on,omitempty"`
		List []string `yaml:"list,omitempty"`
		In   *inner   `yaml:"in,omitempty"`
	}
	for _, v := range []outer{{Name: "plain"}, {Name: "a \"b\"\\c: {}", On: true, List: []string{"x, y", "1"}, In: &inner{Rate: 1e-7}}, {Name: "ä\u2028", In: &inner{0.1, -3}}} {
		raw, err := EncodeJSON(v)
		if err != nil || !json.Valid(raw) {
			t.Fatalf("%+v: %s, %v", v, raw, err)
		}
		back, _, err := Parse[outer]("", raw, nil)
		if err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%s reads back as %+v, %v: want %+v", raw, back, err, v)
		}
	}
}
