package config

import (
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Parse reads a config into a struct of type T, after making the changes that sets ask for ("a.b.c=4"). Defaults are filled in.
// Fields of interface types need their tables of parts. The error, an *Error, lists every fault; file is the config's name
// there. The Source gives the places of settings to faults that are found later.
func Parse[T any](file string, text []byte, sets []string, families ...Family) (T, *Source, error) {
	var v, none T
	source, err := newCodec(families).parse(file, text, sets, reflect.ValueOf(&v).Elem())
	if err != nil {
		return none, nil, err
	}
	return v, source, nil
}

// parse decodes into v, fills in defaults, decodes again over them, and checks.
func (c codec) parse(file string, text []byte, sets []string, v reflect.Value) (*Source, error) {
	source := newSource(file)
	root, f := parse(text)
	if f != nil {
		return nil, source.error([]fault{*f})
	}
	var bad []fault
	if root.table || root.null() {
		for _, arg := range sets {
			if f := root.set(arg); f != nil {
				bad = append(bad, *f)
			}
		}
	}
	if bad != nil {
		return nil, source.error(bad)
	}
	d := &decoder{codec: c, source: source, spare: map[string]reflect.Value{}, lost: map[string]bool{}, meant: map[string]bool{}}
	d.decode("", v, root, field{})
	if !root.table {
		return nil, source.error(d.faults)
	}
	c.defaults(v)
	for _, path := range d.spares() {
		c.defaults(d.spare[path])
	}
	d.again = true
	d.decode("", v, root, field{})
	return source, source.error(d.shown(append(d.faults, d.check(v)...)))
}

// shown leaves out the faults inside parts of which one is to be replaced.
func (d *decoder) shown(faults []fault) []fault {
	return slices.DeleteFunc(faults, func(f fault) bool {
		return slices.ContainsFunc(d.aside, func(part string) bool { return within(f.path, part) })
	})
}

// check adds the faults of checks that do not follow from a fault of decoding, and the zeros that no check refused.
func (d *decoder) check(v reflect.Value) []fault {
	found, moved := d.codec.check(v, "")
	for _, path := range d.spares() {
		more, _ := d.codec.check(d.spare[path], path)
		found = append(found, more...)
	}
	for from, to := range moved {
		d.source.moved[from] = to
	}
	wrong := map[string]bool{} // settings inside which decoding found a fault
	for _, own := range d.faults {
		for path := range outward(own.path) {
			wrong[path] = wrong[path] || path != "" || own.path == "" // the settings all together are wrong by a fault of their own
		}
	}
	zero := map[string]bool{}
	for _, z := range d.zeros {
		zero[z.path] = true
	}
	var out []fault
	said := map[string]bool{} // settings inside which a check found a fault: it says more than that a zero is refused
	for _, f := range found {
		if d.explains(f, wrong, zero) {
			continue
		}
		f := d.source.locate(f)
		out = append(out, f)
		for path := range outward(f.path) {
			said[path] = true
		}
	}
	return append(out, slices.DeleteFunc(slices.Clone(d.zeros), func(z fault) bool { return said[z.path] })...)
}

// explains reports whether decoding found a fault in a setting that a check found a fault with, or refused its zero. Only the
// fault of decoding is then shown.
func (d *decoder) explains(f Fault, wrong, zero map[string]bool) bool {
	for i, path := range append([]string{f.Path}, f.Also...) {
		path = moveAll(d.source.moved, path)
		if wrong[path] || i > 0 && zero[path] {
			return true
		}
		for part := range outward(path) {
			if d.lost[part] || d.meant[part] && !d.source.written(part) {
				return true
			}
		}
	}
	return false
}

// outward goes through a path and the paths around it, with the empty one at the end.
func outward(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(path) && path != "" {
			path = path[:max(0, strings.LastIndexByte(path, '.'))]
		}
	}
}
