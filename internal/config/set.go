package config

import (
	"fmt"
	"strconv"
	"strings"
)

// A --set argument is "a.b.c=VALUE": keys with dots between them, items of lists by their index from 0, and a YAML value. It
// changes the parsed tree before decoding, so the file and the arguments meet the same checks. Missing tables on the way are
// made, so that a default can be changed. Decoding finds unknown keys.
//
// A null leaves a value out, whatever the file says: map=null.
//
// A file that is no mapping has no settings to change: decoding says what it should be.

// set applies one --set argument to the tree of a config.
func (n *node) set(arg string) *fault {
	path, text, ok := strings.Cut(arg, "=")
	here := place{set: arg}
	bad := func(format string, args ...any) *fault {
		return &fault{place: here, message: fmt.Sprintf(format, args...)}
	}
	if !ok || path == "" {
		return bad("want key=value, as in a.b.c=4")
	}
	value, f := parseValue([]byte(text))
	if f != nil {
		return bad("%q is not a YAML value: %s", text, f.message)
	}
	if strings.TrimSpace(text) == "" {
		return bad("no value")
	}
	value.moveTo(here)
	steps := strings.Split(path, ".")
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case n.list:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(n.items) {
				return bad("%s has %s, not %q", strings.Join(steps[:i], "."), n.indices(), step)
			}
			if last {
				n.items[index] = value
			}
			n = n.items[index]
		case n.table || n.scalar == nil || n.scalar == step:
			if n.scalar == step { // a part written by its name alone is to have settings
				*n = node{place: here, table: true}
				n.put(key{step, here}, &node{place: here, table: true})
			}
			if n.null() {
				n.table, n.unset = true, value.null()
			}
			n.unset = n.unset && value.null()
			if n.get(step) == nil {
				n.put(key{step, here}, &node{place: here})
			}
			if last {
				*n.get(step) = *value
			}
			n = n.get(step)
		default:
			return bad("%s is %s, which has no part %q", strings.Join(steps[:i], "."), n.kind(), step)
		}
	}
	return nil
}

// indices says which items a list has.
func (n *node) indices() string {
	if len(n.items) == 0 {
		return "no items"
	}
	return fmt.Sprintf("items 0 to %d", len(n.items)-1)
}

func (n *node) moveTo(p place) {
	n.place = p
	for i := range n.keys {
		n.keys[i].place = p
	}
	for _, item := range n.items {
		item.moveTo(p)
	}
}
