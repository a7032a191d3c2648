package finding

import (
	"math"
	"reflect"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Finding is one diagnosis or warning as a run keeps it. A run's folder may hold kinds that this version does not know, written by another
// one.
type Finding struct {
	Kind    string                    `json:"kind"`
	Numbers map[string]numeral.Number `json:"numbers,omitempty"`
	Names   map[string]string         `json:"names,omitempty"`
}

// A struct is kept under its name with hyphens, few-states, and a field under its name with underscores, log_weight_var, or under the key
// of its tag "kept". A bool is kept as a word: the tag "size=written|adapted" has that of true and that of false. Without a word true is the
// number 1, and false is left out. A number that is nil is left out, too. A question mark at the end says that a run, of an older version
// too, may lack the field: an int is left out where it is 0, and a string where it is empty.

// Of is a finding as a run keeps it.
func Of(k Kind) Finding {
	f := Finding{nameOf(k), map[string]numeral.Number{}, map[string]string{}}
	each(reflect.ValueOf(k), func(at field, v reflect.Value) {
		switch v.Kind() {
		case reflect.Int:
			if n := v.Int(); n != 0 || !at.optional {
				f.Numbers[at.key] = numeral.Number(n)
			}
		case reflect.Float64:
			f.Numbers[at.key] = numeral.Number(v.Float())
		case reflect.Pointer:
			if x := v.Interface().(*numeral.Number); x != nil {
				f.Numbers[at.key] = *x
			}
		case reflect.String:
			if text := v.String(); text != "" || !at.optional {
				f.Names[at.key] = text
			}
		case reflect.Bool:
			text := either(v.Bool(), at.yes, at.no)
			switch {
			case text != "":
				f.Names[at.key] = text
			case v.Bool():
				f.Numbers[at.key] = 1
			}
		default:
			panic("finding " + f.Kind + ": no field can be a " + v.Type().String())
		}
	})
	if len(f.Numbers) == 0 {
		f.Numbers = nil
	}
	if len(f.Names) == 0 {
		f.Names = nil
	}
	return f
}

// All are the findings of a kind. What a run did not keep is 0.
func All[T Kind](found []Finding) (all []T) {
	for _, f := range found {
		k, _ := f.read()
		if k, ok := k.(T); ok {
			all = append(all, k)
		}
	}
	return all
}

// read is what was kept, and whether it is the whole of it; nil for an unknown kind.
func (f Finding) read() (k Kind, whole bool) {
	of, ok := kinds[f.Kind]
	if !ok {
		return nil, false
	}
	to := reflect.New(of).Elem()
	whole = true
	each(to, func(at field, v reflect.Value) {
		x, counted := f.Numbers[at.key]
		name, named := f.Names[at.key]
		there := named
		switch n := float64(x); v.Kind() {
		case reflect.Int:
			if there = counted && n == math.Trunc(n) && math.Abs(n) < 1<<53; there {
				v.SetInt(int64(n))
			}
		case reflect.Float64:
			there = counted
			v.SetFloat(n)
		case reflect.Pointer:
			if there = true; counted {
				v.Set(reflect.ValueOf(&x))
			}
		case reflect.String:
			v.SetString(name)
		case reflect.Bool:
			v.SetBool(named && name == at.yes || at.yes == "" && counted)
		}
		whole = whole && (there || at.optional)
	})
	return to.Interface().(Kind), whole
}

// field says how a field is kept.
type field struct {
	key, yes, no string
	optional     bool
}

// each goes through the fields of a struct, and those of structs in it.
func each(v reflect.Value, do func(field, reflect.Value)) {
	for i := range v.NumField() {
		of := v.Type().Field(i)
		if of.Anonymous {
			each(v.Field(i), do)
			continue
		}
		tag, optional := strings.CutSuffix(of.Tag.Get("kept"), "?")
		key, answers, _ := strings.Cut(tag, "=")
		yes, no, _ := strings.Cut(answers, "|")
		if key == "" {
			key = spelled(of.Name, '_')
		}
		if of.Type == reflect.TypeFor[Some]() {
			do(field{key: "count"}, v.Field(i).Field(0))
			do(field{key: key}, v.Field(i).Field(1))
			continue
		}
		do(field{key, yes, no, optional}, v.Field(i))
	}
}
