package config

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScalar: every text reads back as it was written: as a key and as a value, in blocks, in braces and in brackets, beside
// others.
func FuzzScalar(f *testing.F) {
	for _, text := range []string{"x<<", "<<", "<<: a", "? ", "- ", "-", "~", "null", "007", "1e3", ".inf", "a ", " a", "a\n", "\r\n", "\u0085", "\u2028", "\ufeff", "\x00\x1b[2J",
		"a: b", "a:", ":", "a #b", "#", "{a", "a]", ",", "'", "\"", "\\", "&a", "*a", "!a", "%a", "@", "`", "|", ">", "---", "...", "--- a", "\t", "a\tb", "=", "yes", "é", "😀",
		strings.Repeat("long ", 40), "\U0010ffff", "\ufffd", "\u202e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 2*longest {
			t.Skip("YAML holds no other texts; longer ones show nothing more")
		}
		tree := &node{table: true}
		tree.put(key{name: "value"}, &node{scalar: text})
		tree.put(key{name: "list"}, &node{list: true, items: []*node{{scalar: text}, {scalar: "b"}, {list: true, items: []*node{{scalar: text}}}}})
		if len(text) <= longest {
			inner := &node{table: true}
			inner.put(key{name: text}, &node{scalar: text})
			if text != "other" {
				inner.put(key{name: "other"}, &node{scalar: strings.Repeat("so that the mapping needs a block ", 5)})
			}
			tree.put(key{name: "table"}, inner)
			tree.put(key{name: "list of tables"}, &node{list: true, items: []*node{inner, inner}})
			if tree.get(text) == nil {
				tree.put(key{name: text}, &node{})
			}
		}
		var b strings.Builder
		tree.write(&b, 0)
		back, fault := parse([]byte(b.String()))
		if fault != nil {
			t.Fatalf("%q: %+v\n%s", text, fault, b.String())
		}
		if got, want := back.flow(), tree.flow(); got != want {
			t.Errorf("%q reads back as\n%s\nwant\n%s\nfrom\n%s", text, got, want, b.String())
		}
		same(t, tree, back)
	})
}

// same compares the values of two trees.
func same(t *testing.T, a, b *node) {
	if a.scalar != b.scalar || a.list != b.list || a.table != b.table || len(a.items) != len(b.items) {
		t.Fatalf("%s became %s", a.flow(), b.flow())
	}
	for i := range a.items {
		if a.table && a.keys[i].name != b.keys[i].name {
			t.Fatalf("key %q became %q", a.keys[i].name, b.keys[i].name)
		}
		same(t, a.items[i], b.items[i])
	}
}
