package jsontext

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	Mean []float64 `json:"mean"`
}

// parts are written as an object, and have the keys of what they embed.
type parts []struct{ inner }

func (p *parts) UnmarshalJSON(text []byte) error {
	return Members(text, func(_ string, value *json.Decoder) error {
		*p = append(*p, struct{ inner }{})
		return value.Decode(&(*p)[len(*p)-1])
	})
}

type outer struct {
	Classes int               `json:"classes,omitempty"`
	Inputs  *inner            `json:"inputs,omitempty"`
	Free    map[string]int    `json:"free,omitempty"`
	Many    []inner           `json:"many,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Again   *outer            `json:"again,omitempty"`
	Named   map[string]inner  `json:"named,omitempty"`
	Parts   parts             `json:"parts,omitempty"`
	Words   map[string]string `json:"-"`
}

// TestRead: what encoding/json lets pass is an error that names the key.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"clases": 3}`:                             `unknown key "clases": did you mean "classes"?`,
		`{"inputs": {"maen": [1]}}`:                 `unknown key "maen": did you mean "mean"?`,
		`{"Classes": 3}`:                            `unknown key "Classes": did you mean "classes"?`,
		`{"classes": 3, "CLASSES": 4}`:              `unknown key "CLASSES": did you mean "classes"?`,
		`{"inputs": {"Mean": [1]}}`:                 `unknown key "Mean": did you mean "mean"?`,
		`{"many": [{"mean": []}, {"MEAN": [1]}]}`:   `unknown key "MEAN"`,
		`{"named": {"any": {"Mean": [1]}}}`:         `unknown key "Mean"`,
		`{"parts": {"any": {"Mean": [1]}}}`:         `unknown key "Mean"`,
		`{"Words": {}}`:                             `unknown key "Words"`,
		`{"classes": 3, "classes": 4}`:              `byte 24: the key "classes" comes twice`,
		`{"inputs": {"mean": [1], "mean": [2]}}`:    `the key "mean" comes twice`,
		`{"free": {"a": 1, "b": 2, "a": 3}}`:        `the key "a" comes twice`,
		`{"raw": [{"x": 1}, {"x": 2, "x": 3}]}`:     `the key "x" comes twice`,
		`{"again": {"raw": 1}, "raw": 2, "raw": 3}`: `the key "raw" comes twice`,
		`{"classes": 3} {"classes": 4}`:             "byte 15: something follows the document",
		`{"classes": 3}x`:                           "byte 14: something follows the document",
		`{"classes": 3`:                             "it was cut off",
		``:                                          "it was cut off",
		`{"classes": "3"}`:                          "cannot unmarshal string",
		`[]`:                                        "cannot unmarshal array",
	} {
		if err := Read([]byte(text), new(outer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var got outer
	text := ` {"classes": 3, "inputs": {"mean": [1, 2]}, "free": {"a": 1, "A": 2, "classes": 3}, "many": [{"mean": []}, {"mean": [3]}],
		"raw": {"a": "a", "b": ["a", "b", {"a": null}], "c": {}}, "again": {"classes": 4}, "named": {"Mean": {"mean": []}},
		"parts": {"a": {"mean": [4]}}} ` + "\n"
	if err := Read([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := outer{Classes: 3, Inputs: &inner{[]float64{1, 2}}, Free: map[string]int{"a": 1, "A": 2, "classes": 3},
		Many: []inner{{[]float64{}}, {[]float64{3}}}, Raw: got.Raw, Again: &outer{Classes: 4},
		Named: map[string]inner{"Mean": {[]float64{}}}, Parts: parts{{inner{[]float64{4}}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestMembersAreStrict: an unknown key inside a member is an error too.
func TestMembersAreStrict(t *testing.T) {
	read := func(_ string, value *json.Decoder) error { return value.Decode(new(inner)) }
	if err := Members([]byte(`{"a": {"mean": []}, "b": {"maen": []}}`), read); err == nil || !strings.Contains(err.Error(), `"maen"`) {
		t.Error(err)
	}
}

// TestManyValues: a document of many short values is refused before it fills the memory.
func TestManyValues(t *testing.T) {
	var list struct {
		Names []string `json:"names"`
	}
	text := `{"names": ["` + strings.Repeat(`","`, mostValues) + `"]}`
	if err := Read([]byte(text), &list); err == nil || err.Error() != "more than 9437184 values" || list.Names != nil {
		t.Errorf("%d values, %v", len(list.Names), err)
	}
}
