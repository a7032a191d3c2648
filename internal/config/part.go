package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// choice holds the parts of one family that the keys of a table name. Exactly one of them is right.
type choice struct {
	family Family
	v      reflect.Value // the field
	inline bool          // the names stand among the keys of a struct
	rows   []int         // rows of the named parts, in the order of the file
	parts  []reflect.Value
}

// part decodes the part of a family: a name, or a table of one name with its settings. The name alone of a part with settings
// is the part with its defaults; a part that is a number needs the number.
func (d *decoder) part(path string, v reflect.Value, n *node) {
	family := d.family(v.Type())
	c := &choice{family: family, v: v}
	noun, names := strings.ToLower(family.of().Name()), family.Names()
	if word, ok := n.scalar.(string); ok {
		switch row := slices.Index(names, word); {
		case row < 0:
			d.lost[path] = true
			d.unknown(key{word, n.place}, noun, path, names)
		case isNumber(family, row):
			d.lost[path] = true
			d.fault(n, path, "%s needs its settings, as in %s", word, either(samples(family, row)))
		case hasSettings(family, row):
			part := d.start(c, row, "")
			d.settings(path, join(path, word), c, row, part, &node{table: true, place: n.place})
			v.Set(part)
		default:
			v.Set(d.start(c, row, ""))
		}
		return
	}
	if _, ok := number(n); ok {
		for row := range names {
			if part := family.part(row); isNumber(family, row) && isAlone(part) {
				next := d.start(c, row, "")
				d.decode(path, next, n, field{zero: true})
				v.Set(next)
				return
			}
		}
	}
	if !n.table {
		d.want(n, path, forms(family, false))
		return
	}
	t := table{d: d, path: path, n: n, what: noun, known: names, families: []*choice{c}}
	t.decode()
}

// forms lists, for messages, how each part of a family is written: with the first of its examples, or with every one.
func forms(f Family, every bool) string {
	var out []string
	for row, name := range f.Names() {
		switch {
		case !hasSettings(f, row):
			out = append(out, name)
		case every:
			out = append(out, samples(f, row)...)
		default:
			out = append(out, samples(f, row)[0])
		}
	}
	return either(out)
}

// Alone is a part that is a number and may be written without the name of its row: 0.5 for {threshold: 0.5}.
type Alone interface{ Alone() }

func isAlone(part reflect.Value) bool {
	_, ok := part.Interface().(Alone)
	return ok
}

// Exampler is a part of a family that says how its settings may be written, for messages, as in {sd: 1}.
type Exampler interface{ Examples() []string }

// samples are a row with its settings, in messages.
func samples(f Family, row int) (out []string) {
	settings := []string{sample(f, row)}
	if e, ok := f.part(row).Interface().(Exampler); ok {
		settings = e.Examples()
	}
	for _, s := range settings {
		out = append(out, fmt.Sprintf("{%s: %s}", f.Names()[row], s))
	}
	return out
}

// sample stands for the settings of a row.
func sample(f Family, row int) string {
	if part := f.part(row); isNumber(f, row) && !part.IsZero() {
		return fmt.Sprint(part.Interface())
	}
	for _, s := range settingsOf(f.part(row)) {
		if s.short {
			return s.name
		}
	}
	return "…"
}

// either joins alternatives: a, b or c.
func either(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// choose finds the parts that the keys of a table name. It adds the settings that may stand beside their names to the known
// keys.
func (t *table) choose(c *choice) {
	for i, k := range t.n.keys {
		row := slices.Index(c.family.Names(), k.name)
		if row < 0 || t.n.items[i].null() || t.n.items[i].unset {
			continue
		}
		spare := ""
		if len(c.rows) > 0 {
			spare = join(t.path, k.name)
		}
		part := t.d.start(c, row, spare)
		c.rows, c.parts = append(c.rows, row), append(c.parts, part)
		for _, s := range settingsOf(part) {
			if s.beside && !slices.ContainsFunc(t.slots, func(other slot) bool { return other.name == s.name }) {
				t.slots = append(t.slots, s)
				t.known = append(slices.Clip(t.known), s.name)
			}
		}
	}
}

// start returns the value that the settings of a part are decoded into: the first time a copy of the row's part, the second
// time the value with defaults. spare is the path of a surplus part, else empty.
func (d *decoder) start(c *choice, row int, spare string) reflect.Value {
	part := copyOf(c.family.part(row))
	switch {
	case spare != "" && d.again:
		part.Set(d.spare[spare])
		d.spare[spare] = part
	case spare != "":
		d.spare[spare] = part
	case d.again && !c.v.IsNil() && c.v.Elem().Type() == part.Type() && part.Kind() == reflect.Struct:
		part.Set(c.v.Elem())
	}
	return part
}

// settings decodes the settings of a part: the value whose key is the part's name.
func (d *decoder) settings(outer, path string, c *choice, row int, part reflect.Value, n *node) {
	name := c.family.Names()[row]
	switch {
	case isNumber(c.family, row):
		d.decode(path, part, n, field{zero: true})
	case hasSettings(c.family, row):
		d.structure(path, part, n, true)
	case (c.inline || hasBeside(c.family, row)) && n.table && len(n.items) == 0:
	case c.inline:
		d.fault(n, path, "%s has no settings: write it as {%s: {}}", name, name)
	default:
		d.fault(n, outer, "%s has no settings: write it as a name%s", name, whose(c.family, n))
	}
}

// whose says which parts of a family have the settings that are written for another one.
func whose(f Family, n *node) (s string) {
	for _, k := range n.keys {
		var have []string
		for row, name := range f.Names() {
			if slices.ContainsFunc(settingsOf(f.part(row)), func(s slot) bool { return s.name == k.name }) {
				have = append(have, name)
			}
		}
		if have != nil {
			s += fmt.Sprintf("; %s is a setting of %s", k.name, either(have))
		}
	}
	return s
}

// take sets a family's field to the part that was named.
func (t *table) take(c *choice) {
	d := t.d
	names := slices.Sorted(slices.Values(c.family.Names()))
	switch {
	case len(c.rows) > 0:
		c.v.Set(c.parts[0])
	case c.inline || t.n.unset:
	case len(t.n.keys) == 0 && !d.again:
		// The outer struct may have a default.
	case len(t.n.keys) == 0:
		if c.v.IsNil() {
			d.faults = append(d.faults, fault{t.n.place, t.path, "want one of " + strings.Join(names, ", ")})
		}
	case !slices.ContainsFunc(d.faults, func(f fault) bool { return f.path == t.path }):
		d.lost[t.path] = true
		if i := slices.IndexFunc(t.n.keys, func(k key) bool { return k.place.set == "" && slices.Contains(names, k.name) }); i >= 0 {
			row := slices.Index(c.family.Names(), t.n.keys[i].name)
			message := "is empty: give it settings, as in " + samples(c.family, row)[0]
			if !isNumber(c.family, row) {
				message += ", or write its name alone for the defaults"
			}
			d.fault(t.n.items[i], join(t.path, t.n.keys[i].name), "%s", message)
			break
		}
		d.fault(t.n, t.path, "want one of %s", strings.Join(names, ", "))
	}
	if len(c.rows) < 2 || d.again {
		return
	}
	d.surplus(t, c)
}

// surplus notes the fault of several parts where one is wanted. If a --set names a part beside those of the file, the fault says
// how to replace these, and the faults inside all of them are held back.
func (d *decoder) surplus(t *table, c *choice) {
	var there, paths, old []string
	for _, k := range t.n.keys {
		row := slices.Index(c.family.Names(), k.name)
		if !slices.Contains(c.rows, row) {
			continue
		}
		there = append(there, k.name)
		if k.place.set == "" {
			old = append(old, join(t.path, k.name)+"=null")
		}
	}
	slices.Sort(there)
	for _, name := range there {
		paths = append(paths, join(t.path, name))
	}
	message := "has " + strings.Join(there, " and ") + ": want one of them"
	if 0 < len(old) && len(old) < len(there) {
		it := "it"
		if len(old) > 1 {
			it = "them"
		}
		message += "; set " + strings.Join(old, " and ") + " to replace " + it
		d.aside = append(d.aside, paths...)
	}
	d.faults = append(d.faults, d.source.locate(Fault{Path: t.path, Also: paths, Message: message}))
}
