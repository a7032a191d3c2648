package config

import (
	"fmt"
	"strconv"
)

// node is a YAML value that remembers where it stands: a scalar, a list (items) or a table (keys with items).
type node struct {
	place  place
	scalar any    // bool, int64, uint64, float64, string; nil for null, lists and tables
	text   string // a whole number as it was written
	list   bool
	table  bool
	unset  bool    // a table that was made only for a --set of null: it sets nothing
	keys   []key   // of a table: its keys
	items  []*node // of a list, or a table's values in the order of its keys
}

type key struct {
	name  string
	place place
}

// place is a position in a file, counted from 1, or the --set argument that a value comes from.
type place struct {
	line, column int
	set          string
}

func at(line, column int) place { return place{line: line, column: column} }

func (n *node) put(k key, value *node) {
	n.keys = append(n.keys, k)
	n.items = append(n.items, value)
}

// get returns a table's value, nil if it has none.
func (n *node) get(name string) *node {
	for i, k := range n.keys {
		if k.name == name {
			return n.items[i]
		}
	}
	return nil
}

// null reports whether a value is left out.
func (n *node) null() bool { return n.scalar == nil && !n.list && !n.table }

// kind says what a node is, for messages.
func (n *node) kind() string {
	switch {
	case n.table:
		return "a mapping"
	case n.list:
		return "a list"
	case n.scalar == nil:
		return "nothing"
	}
	if s, ok := n.scalar.(string); ok {
		return excerpt(s)
	}
	return fmt.Sprint(n.scalar)
}

// excerpt quotes a text, or its beginning: a long one usually means that the file is not a config.
func excerpt(s string) string {
	if r := []rune(s); len(r) > 60 {
		return strconv.Quote(string(r[:60])) + "…"
	}
	return strconv.Quote(s)
}
