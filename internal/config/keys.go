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
	k := keys{codec: newCodec(families)}
	k.settings(reflect.TypeFor[T](), "", "", nil)
	return k.all
}

// Place is a family of parts, and where a config names one of them.
type Place struct {
	Key   string   // the last word of the first key under which a part of the family stands
	Names []string // of the parts
}

// Places lists the families that a config of type T can name, in the order of its keys.
func Places[T any](families ...Family) []Place {
	k := keys{codec: newCodec(families)}
	k.settings(reflect.TypeFor[T](), "", "", nil)
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
	all    []string
	places []Place
	seen   []reflect.Type // families that places has
}

func (k *keys) add(path string) {
	if !slices.Contains(k.all, path) {
		k.all = append(k.all, path)
	}
}

// settings adds the keys of a struct. around is the path of the struct's family if it is a part of one, else path. open holds
// the types on the way to path.
func (k *keys) settings(t reflect.Type, path, around string, open []reflect.Type) {
	if slices.Contains(open, t) {
		return
	}
	open = append(slices.Clip(open), t)
	for _, f := range fields(t) {
		at := join(path, f.name)
		if f.beside {
			at = join(around, f.name)
		}
		if f.inline {
			at = path
		} else {
			k.add(at)
		}
		if f.pairs {
			k.add(join(at, "NAME"))
			continue
		}
		k.value(t.Field(f.index).Type, at, open)
	}
}

func (k *keys) value(t reflect.Type, path string, open []reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		k.value(t.Elem(), path, open)
	case reflect.Slice:
		k.add(join(path, "N"))
		k.value(t.Elem(), join(path, "N"), open)
	case reflect.Struct:
		k.settings(t, path, path, open)
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
			if hasSettings(family, row) {
				k.add(at)
			}
			if part := family.part(row).Type(); part.Kind() == reflect.Struct {
				k.settings(part, at, path, append(slices.Clip(open), t))
			}
		}
	}
}
