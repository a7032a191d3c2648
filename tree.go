package starling

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

// node is a YAML value that remembers where it stands: a scalar, a list (items) or a table (keys with items).
type node struct {
	place  place
	scalar any // bool, int64, uint64, float64, string; nil for null, lists and tables
	list   bool
	table  bool
	keys   []key   // of a table
	items  []*node // of a list, or a table's values in the order of its keys
}

type key struct {
	name  string
	place place
}

// place is a position in a file, counted from 1, or the --set argument that brought the value.
type place struct {
	line, column int
	set          string
}

// parse reads one YAML document. Anchors, aliases and tags are refused: a config shows what it says.
func parse(text []byte) (*node, *fault) {
	if text = bytes.TrimPrefix(text, []byte("\ufeff")); !utf8.Valid(text) {
		return nil, &fault{message: "the text is not UTF-8: save it as that"}
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
	root := &node{table: true, place: at(1, 1)}
	if len(file.Docs) > 1 {
		start := file.Docs[1].GetToken().Position
		return nil, &fault{place: at(start.Line, start.Column), message: "a second document; a config is one"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return root, nil
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
		out.scalar = n.Value
	case *ast.FloatNode:
		out.scalar = n.Value
	case *ast.InfinityNode:
		out.scalar = n.Value
	case *ast.NanNode:
		out.scalar = n.GetValue()
	case *ast.StringNode:
		out.scalar = n.Value
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Token.Type == token.StringType && isDecimal(n.Value) {
			out.scalar = v // 1e-3, which YAML 1.1 takes for text
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

// set applies one --set argument "a.b.c=VALUE": dotted keys, items of lists by index, a YAML value. Tables on the way
// are made where they lack, so that a default can be overridden; whether the keys exist is decoding's to say.
func (n *node) set(arg string) *fault {
	path, text, ok := strings.Cut(arg, "=")
	here := place{set: arg}
	bad := func(format string, args ...any) *fault {
		return &fault{place: here, message: fmt.Sprintf(format, args...)}
	}
	if !ok || path == "" {
		return bad("want key=value, as in method.smc.islands=4")
	}
	value, f := parse([]byte(text))
	if f != nil {
		return bad("%q is no YAML value: %s", text, f.message)
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
				return bad("%s has items 0 to %d, no %q", strings.Join(steps[:i], "."), len(n.items)-1, step)
			}
			if last {
				n.items[index] = value
			}
			n = n.items[index]
		case n.table || n.scalar == nil:
			n.table = true
			if n.get(step) == nil {
				n.put(key{step, here}, &node{place: here})
			}
			if last {
				*n.get(step) = *value
			}
			n = n.get(step)
		default:
			return bad("%s is %v, which has no part %q", strings.Join(steps[:i], "."), n.scalar, step)
		}
	}
	return nil
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

// kind names what a node is, for messages.
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
		if r := []rune(s); len(r) > 60 { // another file than a config, as a rule
			return strconv.Quote(string(r[:60])) + "…"
		}
		return strconv.Quote(s)
	}
	return fmt.Sprint(n.scalar)
}

// width is the length of a line that a block may have before it is written over several.
const width = 110

// write renders a table as YAML: a block for the outer levels, {…} on one line where it fits.
func (n *node) write(b *strings.Builder, indent int) {
	pad := strings.Repeat(" ", indent)
	for i, item := range n.items {
		head := "- "
		if n.table {
			head = scalarText(n.keys[i].name) + ": "
		}
		flow := item.flow()
		if indent+len(head)+len(flow) <= width || len(item.items) == 0 {
			fmt.Fprintf(b, "%s%s%s\n", pad, head, flow)
			continue
		}
		fmt.Fprintf(b, "%s%s\n", pad, strings.TrimRight(head, " "))
		item.write(b, indent+2)
	}
}

func (n *node) flow() string {
	var parts []string
	for i, item := range n.items {
		if n.table {
			parts = append(parts, scalarText(n.keys[i].name)+": "+item.flow())
		} else {
			parts = append(parts, item.flow())
		}
	}
	switch {
	case n.table:
		return "{" + strings.Join(parts, ", ") + "}"
	case n.list:
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalarText(n.scalar)
}

// scalarText writes a scalar so that it reads back as the same value of the same kind.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		switch strings.ToLower(v) {
		case "y", "n", "yes", "no", "on", "off": // truth values to readers of YAML 1.1
			return strconv.Quote(v)
		}
		if n, f := parse([]byte(v)); f == nil && n.scalar == v && !strings.ContainsAny(v, ",[]{}:#\n'\"&*!|>%@`") {
			return v
		}
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
