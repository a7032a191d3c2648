package config

import (
	"reflect"
	"slices"
	"strings"
)

// Keys lists the dotted keys of a config of type T, blocks and settings, in the order of the fields. A --set argument begins
// with one of them. N stands for the index of an item of a list, NAME for a name that the user chooses. Where a part may hold
// a part of its own family, the settings of the inner part are not listed again.
func Keys[T any](families ...Family) []string {
	k := keys{codec: newCodec(families), root: reflect.TypeFor[T]()}
	k.settings(k.root, "", "", nil, nil)
	return k.all
}

// Place is a family of parts, and where a config names one of them.
type Place struct {
	Key   string   // the last word of the first key under which a part of the family stands
	Names []string // of the parts
}

// Places lists the families that a config of type T can name, in the order of its keys.
func Places[T any](families ...Family) []Place {
	k := keys{codec: newCodec(families), root: reflect.TypeFor[T]()}
	k.settings(k.root, "", "", nil, nil)
	return k.places
}

// Under lists the keys of the mapping under a dotted path of a config's text; none if there is no such mapping. The empty path is that
// of the whole config.
func Under(text []byte, path string) (names []string) {
	n, fault := parse(text)
	if fault != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		if name != "" && n != nil {
			n = n.get(name)
		}
	}
	if n != nil {
		for _, k := range n.keys {
			names = append(names, k.name)
		}
	}
	return names
}

type keys struct {
	codec
	root      reflect.Type
	all       []string
	described []Key // of all, in the same order
	places    []Place
	seen      []reflect.Type // families that places has
}

// add adds a key and, if it is a new one, what describe says of it.
func (k *keys) add(path string, describe func()) {
	if !slices.Contains(k.all, path) {
		k.all = append(k.all, path)
		describe()
	}
}

// settings adds the keys of a struct, which is at the end of steps. around is the path of the struct's family if it is a part of one, else
// path. open holds the types on the way to path.
func (k *keys) settings(t reflect.Type, path, around string, open []reflect.Type, steps []step) {
	if slices.Contains(open, t) {
		return
	}
	open = append(slices.Clip(open), t)
	for _, f := range fields(t) {
		at := join(path, f.name)
		if f.beside {
			at = join(around, f.name)
		}
		here := append(slices.Clip(steps), step{kind: reflect.Struct, field: f.index})
		if f.inline {
			at = path
		} else if f.name != "" {
			k.add(at, func() { k.describe(at, t, f, here) })
		}
		if f.pairs {
			k.add(join(at, "NAME"), func() { k.described = append(k.described, Key{Path: join(at, "NAME"), Type: "text"}) })
			continue
		}
		k.value(t.Field(f.index).Type, at, open, here)
	}
}

func (k *keys) value(t reflect.Type, path string, open []reflect.Type, steps []step) {
	inside := func(s step) []step { return append(slices.Clip(steps), s) }
	switch t.Kind() {
	case reflect.Pointer:
		k.value(t.Elem(), path, open, inside(step{kind: reflect.Pointer}))
	case reflect.Slice:
		item := join(path, "N")
		k.add(item, func() {
			d := Key{Path: item, Type: k.kind(t.Elem(), field{})}
			if inner := deepest(t.Elem()); inner.Kind() == reflect.Interface {
				d.Family, d.Names = noun(inner), k.family(inner).Names()
			}
			k.described = append(k.described, d)
		})
		k.value(t.Elem(), item, open, inside(step{kind: reflect.Slice}))
	case reflect.Struct:
		k.settings(t, path, path, open, steps)
	case reflect.Interface:
		if slices.Contains(open, t) {
			return
		}
		family := k.family(t)
		if !slices.Contains(k.seen, t) {
			words := strings.Split(strings.TrimSuffix(path, ".N"), ".")
			k.seen, k.places = append(k.seen, t), append(k.places, Place{words[len(words)-1], family.Names()})
		}
		for row, name := range family.Names() {
			at := join(path, name)
			here := inside(step{kind: reflect.Interface, row: row})
			part := family.part(row)
			if hasSettings(family, row) {
				k.add(at, func() {
					k.described = append(k.described, Key{Path: at, Type: k.kind(part.Type(), field{}), Family: noun(t), Part: name})
				})
			}
			if part.Kind() == reflect.Struct {
				k.settings(part.Type(), at, path, append(slices.Clip(open), t), here)
			}
		}
	}
}
