package config

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/rng"
)

// library reads a text by a library for the whole of YAML. It is false for what the library refuses, and for parts of YAML that
// no config uses.
func library(text string) (n *node, ok bool) {
	file, err := parser.ParseBytes([]byte(text), 0)
	switch {
	case err != nil || len(file.Docs) > 1:
		return nil, false
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return &node{}, true
	}
	return fromLibrary(file.Docs[0].Body)
}

func fromLibrary(from ast.Node) (*node, bool) {
	n, ok := &node{}, true
	entry := func(v *ast.MappingValueNode) {
		value, good := fromLibrary(v.Value)
		name, text := v.Key.(*ast.StringNode)
		if ok = ok && good && text; ok {
			n.put(key{name: name.Value}, value)
		}
	}
	switch v := from.(type) {
	case *ast.NullNode, *ast.CommentGroupNode:
	case *ast.BoolNode:
		n.scalar = v.Value
	case *ast.IntegerNode:
		n.scalar, n.text = v.Value, v.Token.Value
	case *ast.FloatNode:
		n.scalar = v.Value
	case *ast.InfinityNode:
		n.scalar = v.Value
	case *ast.NanNode:
		n.scalar = math.NaN()
	case *ast.StringNode:
		n.scalar = v.Value
		if v.Token.Indicator == 0 { // 1e-3, which YAML 1.1 reads as text
			if number, float := numberOf(v.Value).(float64); float {
				n.scalar = number
			}
		}
	case *ast.SequenceNode:
		n.list = true
		for _, item := range v.Values {
			value, good := fromLibrary(item)
			n.items, ok = append(n.items, value), ok && good
		}
	case *ast.MappingNode:
		n.table = true
		for _, v := range v.Values {
			entry(v)
		}
	case *ast.MappingValueNode:
		n.table = true
		entry(v)
	default:
		ok = false
	}
	return n, ok
}

// bare drops the places of a tree.
func bare(n *node) *node {
	out := &node{scalar: n.scalar, text: n.text, list: n.list, table: n.table}
	if v, ok := n.scalar.(float64); ok && math.IsNaN(v) {
		out.scalar = "NaN"
	}
	for i, item := range n.items {
		if n.table {
			out.keys = append(out.keys, key{name: n.keys[i].name})
		}
		out.items = append(out.items, bare(item))
	}
	return out
}

// TestAgainstLibrary: every config of the tree, random gardens as they are written, and the forms of each value mean what a
// library for the whole of YAML says.
func TestAgainstLibrary(t *testing.T) {
	texts := []string{
		"a: 1\nb:\n  c: [1, x y, 'it''s', \"\\u00e9\\n\"]\n  d:\n  - p: 1\n    q: 2\n  -\n    r\n  - - s\n    - {t: , u}\ne:\n- 1\n- 2 # two\n", "a:b: c", "- - - x",
		"---\na: 1 # c\n# d\n\nb:   2\n...\n", "[a: 1, {b: 2}, [c], \"d\": e]", "{\"a\":1, b: http://x/y, c: a#b, d: - }", "a: [\n  1, # one\n\n  2,\n]\nb: 3", "a:\n\n  b:\n   c: 1\n\n  d: 2",
		"{a:1, b : 2, 'c' : 3}", "a: -\nb: x: y", "a: 'x' y", "a:\n    b: 1\n  c: 2", "- a\nb: c", "a: \"\\x41\\U0001f600\\ud83d\\ude00\\e\\0\\/\"",
	}
	for _, value := range strings.Fields("0 -0 7 007 08 0x1F -0x1f 0o17 0b101 0b12 1_000 1_0.5 1. .5 -.5 +1 1e3 1E-3 1e999 99999999999999999999 -9223372036854775808 -9223372036854775809 " +
		"18446744073709551615 .inf -.INF .nan true FALSE yes null ~ Null - -- -1x 1-2 2024-01-01 12:30:45 0x 0xg e 1e inf nan <<x x<< a:b a#b (1) don~t \\x ;") {
		texts = append(texts, value, "a: "+value, "- "+value, "["+value+"]", "{a: "+value+"}")
	}
	for _, pattern := range []string{"../../*/*.yaml", "../../*/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, strings.TrimPrefix(string(text), "\ufeff"))
		}
	}
	for i := range 300 {
		d := draw{rng.Key{Seed: 2, Island: i}.Stream()}
		texts = append(texts, string(Encode(d.garden(), families...)))
	}
	read := 0
	for _, text := range texts {
		theirs, ok := library(text)
		ours, f := parseValue([]byte(text))
		switch {
		case f != nil && ok && utf8.ValidString(text):
			t.Errorf("%q: %s", text, f.message)
		case f == nil && !ok:
			t.Errorf("%q: the library refuses it", text)
		case f == nil:
			read++
			if d := cmp.Diff(bare(theirs), bare(ours), cmp.AllowUnexported(node{}, key{}, place{})); d != "" {
				t.Errorf("%q (-library +ours):\n%s", text, d)
			}
		}
	}
	if read < len(texts)*3/4 {
		t.Errorf("only %d of %d texts were read", read, len(texts))
	}
}
