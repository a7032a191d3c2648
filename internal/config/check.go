package config

import (
	"errors"
	"reflect"
	"strings"
)

// Check returns all faults of settings that a Go program built, one a line, or nil: those of v and of the settings inside it.
func Check(v any) error {
	f := NewFaults()
	f.walk(reflect.ValueOf(v))
	var all []error
	for _, fault := range f.All() {
		text := fault.Message
		if fault.Path != "" {
			text = fault.Path + ": " + text
		}
		all = append(all, errors.New(text))
	}
	return errors.Join(all...)
}

// walk checks v, and then what its fields hold.
func (f *Faults) walk(v reflect.Value) {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	if c, ok := v.Interface().(Checker); ok {
		c.Check(f)
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case !v.Type().Field(i).IsExported() || name == "-":
		case strings.Contains(options, "inline"):
			f.walk(v.Field(i))
		case name != "":
			f.In(name).walk(v.Field(i))
		}
	}
}
