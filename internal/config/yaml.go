package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A config uses a small part of YAML: mappings with names as keys, lists, and scalars. Anchors, aliases, tags and merge keys
// are refused, so that every value stands where it is used. Duplicate keys, a second document and indentation by tabs are
// refused too.

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

// parse reads one YAML document. An empty one, or null, is an empty table.
func parse(text []byte) (*node, *fault) {
	root, f := parseValue(text)
	if f == nil && root.null() {
		return &node{table: true, place: at(1, 1)}, nil
	}
	return root, f
}

// parseValue reads one YAML document of any kind.
func parseValue(text []byte) (*node, *fault) {
	if text = bytes.TrimPrefix(text, []byte("\ufeff")); !utf8.Valid(text) {
		return nil, &fault{message: "the text is not UTF-8: save it as UTF-8"}
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		f := &fault{message: err.Error()}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			f.message = syntax.Message
			if strings.Contains(f.message, "'\t'") {
				f.message = "a tab, which YAML does not take: indent by blanks"
			}
			f.place = at(syntax.Token.Position.Line, syntax.Token.Position.Column)
		}
		return nil, f
	}
	if len(file.Docs) > 1 {
		start := file.Docs[1].GetToken().Position
		return nil, &fault{place: at(start.Line, start.Column), message: "a second document; a config has only one"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return &node{place: at(1, 1)}, nil
	}
	return convert(file.Docs[0].Body)
}

func at(line, column int) place { return place{line: line, column: column} }

func convert(n ast.Node) (*node, *fault) {
	pos := n.GetToken().Position
	out := &node{place: at(pos.Line, pos.Column)}
	switch n := n.(type) {
	case *ast.NullNode, *ast.CommentGroupNode:
	case *ast.BoolNode:
		out.scalar = n.Value
	case *ast.IntegerNode:
		out.scalar, out.text = n.Value, n.Token.Value
	case *ast.FloatNode:
		out.scalar = n.Value
	case *ast.InfinityNode:
		out.scalar = n.Value
	case *ast.NanNode:
		out.scalar = n.GetValue()
	case *ast.StringNode:
		out.scalar = n.Value
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Token.Type == token.StringType && isDecimal(n.Value) {
			out.scalar = v // 1e-3, which YAML 1.1 reads as text
		}
	case *ast.LiteralNode:
		out.scalar = n.Value.Value
	case *ast.SequenceNode:
		out.list = true
		for _, v := range n.Values {
			item, f := convert(v)
			if f != nil {
				return nil, f
			}
			out.items = append(out.items, item)
		}
	case *ast.MappingNode:
		out.table = true
		for _, v := range n.Values {
			if f := out.entry(v); f != nil {
				return nil, f
			}
		}
		if len(out.keys) > 0 {
			out.place = out.keys[0].place
		}
	case *ast.MappingValueNode:
		out.table = true
		if f := out.entry(n); f != nil {
			return nil, f
		}
		out.place = out.keys[0].place
	default:
		return nil, &fault{place: out.place, message: fmt.Sprintf("%s is not used in configs: write the value itself", strings.ToLower(n.Type().String()))}
	}
	return out, nil
}

// isDecimal reports whether text has only the characters of a decimal number.
func isDecimal(text string) bool { return strings.Trim(text, "+-.0123456789eE") == "" }

func (n *node) entry(v *ast.MappingValueNode) *fault {
	pos := v.Key.GetToken().Position
	name, ok := v.Key.(*ast.StringNode)
	if !ok {
		return &fault{place: at(pos.Line, pos.Column), message: fmt.Sprintf("key %s: want a name", v.Key.String())}
	}
	value, f := convert(v.Value)
	if f != nil {
		return f
	}
	n.put(key{name.Value, at(pos.Line, pos.Column)}, value)
	return nil
}

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
		if r := []rune(s); len(r) > 60 { // usually the file is not a config
			return strconv.Quote(string(r[:60])) + "…"
		}
		return strconv.Quote(s)
	}
	return fmt.Sprint(n.scalar)
}
