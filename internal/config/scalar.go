package config

import (
	"fmt"
	"math"
	"reflect"
)

// scalar decodes a bool, a number or a string.
func (d *decoder) scalar(path string, v reflect.Value, n *node, f field) {
	switch v.Kind() {
	case reflect.Bool:
		b, ok := n.scalar.(bool)
		if !ok {
			d.want(n, path, "true or false")
			return
		}
		v.SetBool(b != f.not)
	case reflect.Int:
		d.number(path, v, n, f, "a whole number")
	case reflect.Uint64:
		d.number(path, v, n, f, "a whole number from 0")
	case reflect.Float64:
		d.number(path, v, n, f, "a number")
	case reflect.String:
		s, ok := n.scalar.(string)
		if _, whole := n.scalar.(uint64); whole { // an index of a column, or a name made of digits
			s, ok = n.text, true
		}
		if !ok {
			d.want(n, path, "a name")
			return
		}
		next := reflect.New(v.Type()).Elem()
		next.SetString(s)
		d.put(path, v, next, n, f, "a name")
	default:
		panic(fmt.Sprintf("config: no form for a field of type %s", v.Type()))
	}
}

// number decodes a number, or a word for one. A number for which there is a word is refused.
func (d *decoder) number(path string, v reflect.Value, n *node, f field, what string) {
	next := reflect.New(v.Type()).Elem()
	for _, w := range f.words {
		if n.scalar == w.name {
			setWord(v, w)
			return
		}
	}
	ok := setNumber(next, n)
	for _, w := range f.words {
		ok = ok && (asFloat(next) != w.number || f.zero && next.IsZero())
	}
	if ok {
		d.put(path, v, next, n, f, what)
		return
	}
	d.want(n, path, f.forms(what))
}

// forms says what a field takes: what, and the words that stand for numbers.
func (f field) forms(what string) string {
	if f.nonzero {
		what += " above 0"
	}
	forms := []string{what}
	for _, w := range f.words {
		forms = append(forms, w.name)
	}
	return either(forms)
}

// put sets v to what is written. A zero over a default, or over what the table's own part has, is remembered: it is a fault
// unless the field takes it or a check says more about it. A number with nonzero refuses every zero, also without a default, and
// says so as it refuses other numbers: what is wanted.
func (d *decoder) put(path string, v, next reflect.Value, n *node, f field, what string) {
	if next.IsZero() && !f.zero && (!v.IsZero() || f.nonzero && d.again) {
		message := n.kind() + " is not allowed here: leave it out for the default"
		if f.nonzero {
			message = fmt.Sprintf("want %s, have %s", f.forms(what), n.kind())
		}
		d.zeros = append(d.zeros, fault{n.place, path, message})
	}
	v.Set(next)
}

const exact = 1 << 53 // whole numbers up to this are exact in float64 too

// setNumber sets v to a finite number; it returns false if n is not a number that v can hold.
func setNumber(v reflect.Value, n *node) bool {
	number, ok := number(n)
	switch {
	case !ok || math.IsNaN(number) || math.IsInf(number, 0):
		return false
	case v.Kind() == reflect.Float64:
		v.SetFloat(number + 0) // −0 is 0
	case v.Kind() == reflect.Uint64:
		u, whole := n.scalar.(uint64)
		v.SetUint(u)
		return whole
	default:
		if u, whole := n.scalar.(uint64); whole && u > exact || number != math.Trunc(number) || math.Abs(number) > exact {
			return false
		}
		v.SetInt(int64(number))
	}
	return true
}

func number(n *node) (float64, bool) {
	switch v := n.scalar.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// setWord sets v to the number that a word stands for.
func setWord(v reflect.Value, w word) {
	switch v.Kind() {
	case reflect.Int:
		v.SetInt(int64(w.number))
	case reflect.Uint64:
		v.SetUint(uint64(w.number))
	default:
		v.SetFloat(w.number)
	}
}

func asFloat(v reflect.Value) float64 {
	switch v.Kind() {
	case reflect.Int:
		return float64(v.Int())
	case reflect.Uint64:
		return float64(v.Uint())
	}
	return v.Float()
}
