package filtering

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestEveryFieldIsDocumented: docs/filtering.md names each field of a line and of metrics.json.
func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/filtering.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, metrics, ok := strings.Cut(string(text), "In `metrics.json`:")
	if !ok {
		t.Fatal("docs/filtering.md has no tables of fields")
	}
	for page, of := range map[string]reflect.Type{lines: reflect.TypeFor[Line](), metrics: reflect.TypeFor[Metrics]()} {
		for _, name := range fieldsOf(of) {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/filtering.md does not say what %s of %v is", name, of)
			}
		}
	}
}

// fieldsOf lists the names of a type's JSON fields, and of the fields within them.
func fieldsOf(of reflect.Type) (names []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
		names = append(names, fieldsOf(of.Field(i).Type)...)
	}
	return names
}
