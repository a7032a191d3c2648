package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// decoder turns nodes into settings. It collects every fault rather than stopping at the first. It decodes the same nodes
// twice, with the defaults filled in between. The second time, written values replace defaults.
type decoder struct {
	codec
	source *Source
	faults []fault
	again  bool // this is the second time: faults were collected the first time

	zeros []fault                  // zeros that a config writes where there is a default
	lost  map[string]bool          // paths whose values could not be decoded: checks see them as missing
	meant map[string]bool          // paths that an unknown key may be a misspelling of: unless written, also missing for checks
	aside []string                 // paths of parts of which one is to be replaced: faults inside them are held back
	spare map[string]reflect.Value // by path: surplus parts, named beside the part that is used; decoded for their faults alone
}

// fault notes a fault of n at path, whose value is lost.
func (d *decoder) fault(n *node, path, format string, args ...any) {
	d.faultAt(n.place, path, format, args...)
}

func (d *decoder) faultAt(p place, path, format string, args ...any) {
	if !d.again {
		d.faults = append(d.faults, fault{p, path, fmt.Sprintf(format, args...)})
	}
}

// want notes that n is of the wrong kind for path.
func (d *decoder) want(n *node, path, what string) {
	d.lost[path] = true
	d.fault(n, path, "want %s, have %s", what, n.kind())
}

// decode sets v, the setting at path, from n.
func (d *decoder) decode(path string, v reflect.Value, n *node, f field) {
	d.source.note(path, n.place)
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if d.again && !v.IsNil() {
			to.Elem().Set(v.Elem())
		}
		v.Set(to)
		d.decode(path, to.Elem(), n, f)
	case reflect.Interface:
		d.part(path, v, n)
	case reflect.Struct:
		d.structure(path, v, n, false)
	case reflect.Slice:
		if f.pairs {
			d.pairs(path, v, n)
		} else {
			d.list(path, v, n, f)
		}
	case reflect.Array:
		d.array(path, v, n, f)
	default:
		d.scalar(path, v, n, f)
	}
}

// structure decodes the settings of a struct from a table, or from the struct's short form. It leaves out the settings that
// stand beside the name of a part.
func (d *decoder) structure(path string, v reflect.Value, n *node, part bool) {
	var own []slot
	for _, s := range slots(v) {
		if (s.short || s.brief) && !n.table && !n.null() {
			if s.name != "" {
				d.source.moved[join(path, s.name)] = path
			}
			d.decode(path, s.v, n, s.field)
			return
		}
		if (!part || !s.beside) && (s.name != "" || s.inline) {
			own = append(own, s)
		}
	}
	t := table{d: d, path: path, n: n, what: "key"}
	for _, s := range own {
		if s.inline {
			t.families = append(t.families, &choice{family: d.family(s.v.Type()), v: s.v, inline: true})
			t.known = append(t.known, d.family(s.v.Type()).Names()...)
		} else {
			t.slots = append(t.slots, s)
			t.known = append(t.known, s.name)
		}
	}
	if !n.table {
		d.want(n, path, strings.TrimSuffix("a mapping of "+strings.Join(t.known, ", "), " of "))
		return
	}
	t.decode()
}

// table is a mapping that is decoded: its keys are settings, and names of parts of families.
type table struct {
	d        *decoder
	path     string
	n        *node
	what     string // the kind of the keys, for messages
	known    []string
	slots    []slot
	families []*choice
}

func (t *table) decode() {
	for _, c := range t.families {
		t.choose(c)
	}
	for i, k := range t.n.keys {
		t.key(k, t.n.items[i])
	}
	for _, s := range t.slots {
		written := t.n.get(s.name)
		if s.required && !t.n.unset && (written == nil || written.null()) {
			t.d.lost[join(t.path, s.name)] = true
			t.d.fault(cmp.Or(written, t.n), t.path, "needs %s", s.name)
		}
	}
	for _, c := range t.families {
		t.take(c)
	}
}

// key decodes one entry.
func (t *table) key(k key, n *node) {
	d, path := t.d, join(t.path, k.name)
	for _, c := range t.families {
		if row := slices.Index(c.family.Names(), k.name); row >= 0 {
			d.source.note(path, n.place)
			if i := slices.Index(c.rows, row); i >= 0 {
				d.settings(t.path, path, c, row, c.parts[i], n)
			} else if n.unset {
				d.settings(t.path, path, c, row, copyOf(c.family.part(row)), n)
			}
			return
		}
	}
	for _, s := range t.slots {
		switch {
		case s.name != k.name:
			continue
		case n.null():
			d.source.note(path, n.place)
		case n.unset:
			d.decode(path, copyOf(s.v), n, s.field)
		default:
			d.decode(path, s.v, n, s.field)
		}
		return
	}
	if rows := t.besideOf(k.name); rows != nil {
		if t.families[0].inline || len(t.families[0].rows) > 0 {
			d.faultAt(k.place, path, "goes with %s", strings.Join(rows, ", "))
		}
		return
	}
	if inside := t.insideOf(k.name, n); inside != "" {
		d.faultAt(k.place, path, "%s", inside)
		return
	}
	d.unknown(k, t.what, t.path, t.known)
}

// insideOf says that a setting stands inside the part beside whose name it was written; empty if it is none of a part's.
func (t *table) insideOf(name string, n *node) string {
	for _, c := range t.families {
		for i, part := range c.parts {
			row := c.family.Names()[c.rows[i]]
			settings := settingsOf(part)
			if !slices.ContainsFunc(settings, func(s slot) bool { return !s.beside && s.name == name }) {
				continue
			}
			together := &node{table: true}
			switch at := t.n.get(row); {
			case at.table:
				together.keys, together.items = slices.Clone(at.keys), slices.Clone(at.items)
			default:
				for _, s := range settings {
					if s.short && s.name != "" {
						together.put(key{name: s.name}, at)
					}
				}
			}
			if together.get(name) == nil {
				together.put(key{name: name}, n)
			}
			return fmt.Sprintf("stands inside %s, as in %s: %s", row, row, together.flow())
		}
	}
	return ""
}

// besideOf lists the parts beside whose name a setting may stand.
func (t *table) besideOf(name string) (rows []string) {
	for _, c := range t.families {
		for i, row := range c.family.Names() {
			if slices.ContainsFunc(settingsOf(c.family.part(i)), func(s slot) bool { return s.beside && s.name == name }) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// unknown notes the fault of an unknown name.
func (d *decoder) unknown(k key, what, path string, known []string) {
	d.faultAt(k.place, path, "unknown %s %q%s (known: %s)", what, k.name, spelling.Suggest(k.name, known), strings.Join(known, ", "))
	if near := spelling.Nearest(k.name, known); near != "" {
		d.meant[join(path, near)] = true
	}
}

// list decodes a list. The second time, items keep their defaults.
func (d *decoder) list(path string, v reflect.Value, n *node, f field) {
	if f.one && !n.list && !n.table {
		n = &node{place: n.place, list: true, items: []*node{n}}
	}
	if !n.list {
		d.want(n, path, "a list, as in "+example(v.Type().Elem()))
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	if d.again {
		reflect.Copy(items, v)
	}
	v.Set(items)
	for i, item := range n.items {
		d.decode(join(path, fmt.Sprint(i)), items.Index(i), item, f)
	}
}

// example returns a list of items of a type, for messages.
func example(item reflect.Type) string {
	switch item.Kind() {
	case reflect.Int, reflect.Uint64:
		return "[1, 28, 28]"
	case reflect.Float64:
		return "[0.1, 1]"
	case reflect.String:
		return "[a, b]"
	}
	return "[…, …]"
}

// array decodes an array: one value for all of its items, or a list of as many.
func (d *decoder) array(path string, v reflect.Value, n *node, f field) {
	if n.list && len(n.items) != v.Len() {
		d.lost[path] = true
		d.fault(n, path, "want one value or a list of %d, have a list of %d", v.Len(), len(n.items))
		return
	}
	for i := range v.Len() {
		if n.list {
			d.decode(join(path, fmt.Sprint(i)), v.Index(i), n.items[i], f)
		} else {
			d.decode(path, v.Index(i), n, f)
		}
	}
}

// pairs decodes a mapping into a list of structs of two strings: a name and its value.
func (d *decoder) pairs(path string, v reflect.Value, n *node) {
	one := v.Type().Elem()
	name, value := strings.ToLower(one.Field(0).Name), strings.ToLower(one.Field(1).Name)
	if !n.table {
		d.want(n, path, fmt.Sprintf("%ss and %ss, as in {%s: %s}", name, value, name, value))
		return
	}
	pairs := reflect.MakeSlice(v.Type(), 0, len(n.keys))
	for i, k := range n.keys {
		at, pair := join(path, k.name), reflect.New(one).Elem()
		if n.items[i].null() {
			d.source.note(at, n.items[i].place)
			continue
		}
		pair.Field(0).SetString(k.name)
		d.decode(at, pair.Field(1), n.items[i], field{})
		pairs = reflect.Append(pairs, pair)
	}
	v.Set(pairs)
}

// spares lists the paths of surplus parts.
func (d *decoder) spares() []string { return slices.Sorted(maps.Keys(d.spare)) }
