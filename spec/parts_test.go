package spec

import (
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/scans"
)

// row is a row of a table of Families.
type row struct {
	family, name string
	part         reflect.Value
}

// allRows lists the rows of all tables, of those that a Spec names and of those that a Filtering names.
func allRows() (all []row) {
	seen := map[string]bool{}
	for _, family := range append(slices.Clip(Families), FilterFamilies...) {
		table := reflect.ValueOf(family) // a config.Table[T]: a slice of config.Row[T]
		of := table.Type().Elem().Field(1).Type
		noun := strings.ToLower(of.Name())
		if of.String() == "filter.Method" { // there are two families of methods
			noun = "filtermethod"
		}
		if seen[noun] {
			continue
		}
		seen[noun] = true
		for i, name := range family.Names() {
			all = append(all, row{noun, name, table.Index(i).FieldByName("Part").Elem()})
		}
	}
	return all
}

// setting is a key of a part, and what it sets: a number, a pair of numbers, a word, true or false, or a part of another family.
type setting struct {
	key string // with dots; empty: the config writes the part as this number alone
	v   reflect.Value
}

// set sets the number or the word, or both numbers of a pair.
func (s setting) set(value any) {
	if s.v.Kind() == reflect.Array {
		for i := range s.v.Len() {
			setting{s.key, s.v.Index(i)}.set(value)
		}
		return
	}
	s.v.Set(reflect.ValueOf(value).Convert(s.v.Type()))
}

// settingsOf lists the settings in v, whose key is given. It fills in optional blocks and lists, so that their settings are listed
// too.
func settingsOf(v reflect.Value, key string) (all []setting) {
	switch v.Kind() {
	default:
		return []setting{{key, v}}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return settingsOf(v.Elem(), key)
	case reflect.Slice: // a list of one
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return settingsOf(v.Index(0), key)
	case reflect.Struct:
		for i := range v.NumField() {
			tag, tagged := v.Type().Field(i).Tag.Lookup("yaml")
			name, _, _ := strings.Cut(tag, ",")
			if tagged && name != "-" {
				all = append(all, settingsOf(v.Field(i), strings.Trim(key+"."+name, "."))...)
			}
		}
	}
	return all
}

// TestEverySettingIsChecked: each number and each word that a config sets in a part of a table has values that the part
// refuses. A part whose Check is missing, or leaves out a setting, fails by its name.
func TestEverySettingIsChecked(t *testing.T) {
	for _, r := range allRows() {
		faults := func(i int, value any) (key string, all []string) {
			part := reflect.New(r.part.Type()).Elem()
			part.Set(r.part)
			s := settingsOf(part, "")[i]
			s.set(value)
			if err := config.Check(part.Interface()); err != nil {
				all = strings.Split(err.Error(), "\n")
			}
			return s.key, all
		}
		part := reflect.New(r.part.Type()).Elem()
		for i, s := range settingsOf(part, "") {
			var plain, wrong any
			of := s.v.Type()
			if of.Kind() == reflect.Array {
				of = of.Elem()
			}
			switch of.Kind() {
			case reflect.Bool, reflect.Interface: // any value is right, or has a row of its own
				continue
			case reflect.Float64:
				plain, wrong = 1.0, math.NaN()
			case reflect.Int:
				plain, wrong = 1, math.MinInt32
			case reflect.String:
				plain, wrong = "a", "a\tb"
			default:
				t.Errorf("%s %s: the test knows no wrong value of type %s, for %q", r.family, r.name, of, s.key)
				continue
			}
			_, before := faults(i, plain)
			if key, now := faults(i, wrong); !newFault(before, now, key) {
				t.Errorf("%s %s: its method Check does not refuse %q of %v; it has the faults %q", r.family, r.name, key, wrong, now)
			}
		}
	}
}

// newFault reports whether there is now a fault that was not there before, at the key, or one that names the key.
func newFault(before, now []string, key string) bool {
	name := key[strings.LastIndex(key, ".")+1:]
	return slices.ContainsFunc(now, func(fault string) bool {
		return !slices.Contains(before, fault) && (strings.HasPrefix(fault, key+": ") || strings.Contains(fault, name))
	})
}

// TestEveryPartIsDocumented: docs/parts.md has a heading for each table, and below it a line for each row, which begins with
// the row's name and has all keys of its settings. There are no other lines.
func TestEveryPartIsDocumented(t *testing.T) {
	const page = "docs/parts.md"
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{} // by family and name
	heading := ""
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(title), " ", ""))
		} else if cells := strings.Split(line, "|"); len(cells) > 1 {
			if name := strings.TrimSpace(cells[1]); name != "name" && strings.Trim(name, "-") != "" {
				lines[heading+" "+name] = line
			}
		}
	}
	for _, r := range allRows() {
		at := r.family + " `" + r.name + "`"
		line, ok := lines[at]
		delete(lines, at)
		if !ok {
			t.Errorf("%s has no line for the %s %s: add \"| `%[3]s` | settings | what it is |\"", page, r.family, r.name)
			continue
		}
		part := reflect.New(r.part.Type()).Elem()
		for _, s := range settingsOf(part, "") {
			for key := range strings.SplitSeq(s.key, ".") {
				if key != "" && !strings.Contains(line, "`"+key+"`") {
					t.Errorf("%s: the line of the %s %s does not have its setting `%s`", page, r.family, r.name, key)
				}
			}
		}
	}
	of := reflect.TypeFor[scans.Settings]()
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
		at := "scans `" + key + "`"
		if _, ok := lines[at]; !ok {
			t.Errorf("%s has no line for the setting %s of scans", page, key)
		}
		delete(lines, at)
	}
	for at := range lines {
		t.Errorf("%s has a line for the %s, which is no part", page, at)
	}
}
