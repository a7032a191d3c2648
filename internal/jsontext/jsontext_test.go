package jsontext

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, map[string]any{"a<b": []int{1}}); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a<b\": [\n    1\n  ]\n}\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if err := Write(&b, func() {}); err == nil {
		t.Error("a function was written")
	}
}

// Members come back in the order in which Object wrote them, however many they are and whatever their names are.
func TestMembersKeepTheirOrder(t *testing.T) {
	for _, names := range [][]string{nil, {"one"}, {"z", "a", "m", `quo"te`, "ä<"}} {
		raw, err := Object(len(names), func(i int) (string, any) { return names[i], []int{i} })
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(raw) {
			t.Fatalf("%s is not JSON", raw)
		}
		var got []string
		err = Members(raw, func(name string, value *json.Decoder) error {
			var v []int
			err := value.Decode(&v)
			if len(v) != 1 || v[0] != len(got) {
				t.Errorf("%s has the value %v", name, v)
			}
			got = append(got, name)
			return err
		})
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%s: read %q, %v, want %q", raw, got, err, names)
		}
	}
}

func TestMembersErrors(t *testing.T) {
	skip := func(_ string, value *json.Decoder) error { return value.Decode(new(any)) }
	for _, text := range []string{"", "[]", "3", "null", `{"a": 1`, `{"a" 1}`, `{"a": 1, 2}`} {
		if err := Members([]byte(text), skip); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	own := errors.New("own")
	if err := Members([]byte(`{"a": 1}`), func(string, *json.Decoder) error { return own }); !errors.Is(err, own) {
		t.Errorf("the reader's error is %v", err)
	}
	if _, err := Object(1, func(int) (string, any) { return "f", func() {} }); err == nil {
		t.Error("a function was written")
	}
}

// FuzzMembers: no text makes Members panic, and the members of an object that reads are an object.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{"a": 1, "b": {"c": [null]}}`, `{"a"}`, `{1: 2}`, `[`, `{"a": 1} {`, `{"\ud800": 1e999}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var names []string
		var values []json.RawMessage
		err := Members(text, func(name string, value *json.Decoder) error {
			var raw json.RawMessage
			err := value.Decode(&raw)
			names, values = append(names, name), append(values, raw)
			return err
		})
		if err != nil {
			return
		}
		if raw, err := Object(len(names), func(i int) (string, any) { return names[i], values[i] }); err != nil || !json.Valid(raw) {
			t.Errorf("%s became %s, %v", text, raw, err)
		}
	})
}
