package config

import "fmt"

// item adds a value to a list.
func (r *reader) item(list, value *node) *fault {
	if r.items++; r.items > mostItems {
		return &fault{place: value.place, message: fmt.Sprintf("more than %d items of lists", mostItems)}
	}
	list.items = append(list.items, value)
	return nil
}

// entries adds keys to a mapping, each of them once.
type entries struct {
	*node
	r    *reader
	seen map[string]place
}

func (r *reader) entries(n *node) *entries { return &entries{n, r, map[string]place{}} }

// key checks a key before its value is read.
func (e *entries) key(t token) (key, *fault) {
	k := key{t.text, t.place}
	bad := func(format string, args ...any) (key, *fault) {
		return k, &fault{place: t.place, message: fmt.Sprintf(format, args...)}
	}
	first, again := e.seen[k.name]
	if e.r.keys++; e.r.keys > mostKeys {
		return bad("more than %d keys", mostKeys)
	}
	switch {
	case len(t.text) > longest:
		return bad("key %s has more than %d bytes", excerpt(t.text), longest)
	case !t.name():
		return bad("key %s: want a name", t.text)
	case again:
		return bad("key %q is there twice, first in line %d, column %d", k.name, first.line, first.column)
	}
	e.seen[k.name] = t.place
	return k, nil
}
