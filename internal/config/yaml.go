package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A config uses a small part of YAML: mappings with names as keys, lists, and scalars. Anchors, aliases, tags and merge keys
// are refused, so that every value stands where it is used. Duplicate keys, a second document and indentation by tabs are
// refused too.
//
// A config may come with a run's folder, from anywhere. Its length, the depth of its tables and lists, and the number of its
// values are bounded; below the bounds, reading takes time and memory in proportion to the length.

// The bounds of a config. The largest that people write has some hundred keys; lists of columns can be long.
const (
	mostBytes  = 1 << 20
	mostDepth  = 32     // mappings and lists inside each other
	mostKeys   = 10_000 // each may be misspelt, and is then compared with all known ones
	mostValues = 100_000
	longest    = 200 // bytes of a key: every message about a setting repeats the keys around it
)

var tooDeep = fmt.Sprintf("more than %d lists and mappings inside each other", mostDepth)

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
	switch text = bytes.TrimPrefix(text, []byte("\ufeff")); {
	case len(text) > mostBytes:
		return nil, &fault{message: fmt.Sprintf("%d bytes, more than the %d that a config may have", len(text), mostBytes)}
	case !utf8.Valid(text):
		return nil, &fault{message: "the text is not UTF-8: save it as UTF-8"}
	}
	if i := bytes.IndexFunc(text, control); i >= 0 {
		c, _ := utf8.DecodeRune(text[i:])
		line := text[bytes.LastIndexByte(text[:i], '\n')+1 : i]
		return nil, &fault{
			place:   at(1+bytes.Count(text[:i], []byte("\n")), 1+utf8.RuneCount(line)),
			message: fmt.Sprintf("the control character %U: write it as an escape in double quotes", c),
		}
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := documents.Decode(&first); errors.Is(err, io.EOF) {
		return &node{place: at(1, 1)}, nil
	} else if err != nil {
		return nil, syntaxFault(text, err)
	}
	if err := documents.Decode(&second); err == nil {
		return nil, &fault{place: at(second.Line, second.Column), message: "a second document; a config has only one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxFault(text, err)
	}
	return (&reader{}).convert(first.Content[0], mostDepth)
}

// control reports whether a character may stand in no text file.
func control(c rune) bool { return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' }

// syntaxFault is the parser's error. It has a line, if any place.
func syntaxFault(text []byte, err error) *fault {
	message, line := faultLine(text, err)
	f := &fault{message: message, place: place{line: line}}
	switch {
	case strings.Contains(message, "unknown anchor"):
		f.message = "alias is not used in configs: write the value itself"
	case strings.Contains(message, "exceeded max depth"):
		f.message = tooDeep
	case slices.Contains(unended, message):
		f.message += ", in the block or bracket that begins here"
	case line > 0 && strings.Contains(message, "start any token"):
		lines := bytes.Split(text, []byte("\n"))
		if tab := bytes.IndexByte(lines[min(line, len(lines))-1], '\t'); tab >= 0 {
			f.message = "a tab, which YAML does not take: indent by blanks"
			f.place.column = tab + 1
		}
	}
	return f
}

// lineOf finds the line in a message of the parser.
var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// faultLine splits the parser's error into its message and its line, which is 0 if it has none.
//
// The library counts lines from 0, adds 1 only to what its scanner finds, and omits a line 0; where a fault has two places, as
// in unended, it names the second if the first is in line 0. So the text is parsed once more with an empty line before it: then
// no line is 0.
func faultLine(text []byte, err error) (message string, line int) {
	documents := yaml.NewDecoder(io.MultiReader(strings.NewReader("\n"), bytes.NewReader(text)))
	for again := error(nil); again == nil; {
		if again = documents.Decode(new(yaml.Node)); again != nil && !errors.Is(again, io.EOF) {
			err = again
		}
	}
	found := lineOf.FindStringSubmatch(err.Error())
	message = strings.TrimPrefix(err.Error(), found[0])
	if line, err = strconv.Atoi(found[1]); err == nil && !slices.Contains(ofParser, message) && !slices.Contains(unended, message) {
		line-- // of the scanner
	}
	return message, min(line, 1+bytes.Count(bytes.TrimRight(text, " \t\r\n"), []byte("\n"))) // the end of the text may have a line of its own
}

var (
	// unended are the errors that have the line where a list or mapping begins, not the one that it cannot be read in.
	unended = []string{"did not find expected '-' indicator", "did not find expected key", "did not find expected ',' or ']'", "did not find expected ',' or '}'"}

	// ofParser are the other errors to which the library does not add 1.
	ofParser = []string{"did not find expected <stream-start>", "did not find expected <document start>", "did not find expected node content",
		"found undefined tag handle", "found duplicate %YAML directive", "found incompatible YAML document", "found duplicate %TAG directive"}
)

// reader turns what the parser gives into nodes, and counts them.
type reader struct{ keys, values int }

// convert turns a value into a node. depth is how many mappings and lists may still begin inside each other.
func (r *reader) convert(n *yaml.Node, depth int) (*node, *fault) {
	out := &node{place: at(n.Line, n.Column)}
	bad := func(format string, args ...any) (*node, *fault) {
		return nil, &fault{place: out.place, message: fmt.Sprintf(format, args...)}
	}
	if r.values++; r.values > mostValues {
		return bad("more than %d values", mostValues)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return bad("alias is not used in configs: write the value itself")
	case n.Anchor != "":
		return bad("anchor is not used in configs: write the value itself")
	case n.Style&yaml.TaggedStyle != 0:
		return bad("tag is not used in configs: write the value itself")
	case n.Kind != yaml.ScalarNode && depth == 0:
		return bad("%s", tooDeep)
	case n.Kind == yaml.ScalarNode:
		out.read(n)
	case n.Kind == yaml.SequenceNode:
		out.list = true
		for _, v := range n.Content {
			item, f := r.convert(v, depth-1)
			if f != nil {
				return nil, f
			}
			out.items = append(out.items, item)
		}
	case n.Kind == yaml.MappingNode:
		out.table = true
		seen := map[string]int{}
		for i := 0; i < len(n.Content); i += 2 {
			if f := r.entry(out, n.Content[i], n.Content[i+1], seen, depth); f != nil {
				return nil, f
			}
		}
		if len(out.keys) > 0 {
			out.place = out.keys[0].place
		}
	default:
		return bad("this kind of YAML is not used in configs")
	}
	return out, nil
}

// entry adds a key and its value to a mapping. seen is the line of each key so far.
func (r *reader) entry(to *node, k, v *yaml.Node, seen map[string]int, depth int) *fault {
	here := at(k.Line, k.Column)
	bad := func(format string, args ...any) *fault {
		return &fault{place: here, message: fmt.Sprintf(format, args...)}
	}
	r.keys++
	switch {
	case r.keys > mostKeys:
		return bad("more than %d keys", mostKeys)
	case !isName(k):
		return bad("key %.60s: want a name", k.Value)
	case len(k.Value) > longest:
		return bad("key %s has more than %d bytes", excerpt(k.Value), longest)
	case seen[k.Value] > 0:
		return bad("key %q is there twice, first in line %d", k.Value, seen[k.Value])
	}
	seen[k.Value] = k.Line
	value, f := r.convert(v, depth-1)
	if f == nil {
		to.put(key{k.Value, here}, value)
	}
	return f
}

// isName reports whether a key is a text, and nothing that YAML gives a meaning of its own.
func isName(k *yaml.Node) bool {
	var n node
	n.read(k)
	_, text := n.scalar.(string)
	return text && k.Kind == yaml.ScalarNode && k.ShortTag() != "!!merge" && k.Anchor == "" && k.Style&yaml.TaggedStyle == 0
}

// read sets the value of a scalar. Text without quotes may be null, a bool or a number.
func (n *node) read(from *yaml.Node) {
	n.scalar = from.Value
	if from.Style != 0 {
		return
	}
	text := from.Value
	switch strings.ToLower(text) {
	case "", "~", "null":
		n.scalar = nil
	case "true", "false":
		n.scalar = text[0] == 't' || text[0] == 'T'
	case ".inf", "+.inf":
		n.scalar = math.Inf(1)
	case "-.inf":
		n.scalar = math.Inf(-1)
	case ".nan":
		n.scalar = math.NaN()
	}
	if !isDecimal(text) {
		if v, err := strconv.ParseInt(text, 0, 64); err == nil && from.ShortTag() == "!!int" { // hexadecimal and the like
			n.scalar, n.text = v, text
			if v >= 0 {
				n.scalar = uint64(v)
			}
		}
		return
	}
	if v, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64); err == nil {
		n.scalar, n.text = v, text
	} else if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		n.scalar, n.text = v, text
	} else if v, err := strconv.ParseFloat(text, 64); err == nil {
		n.scalar = v
	}
}

// isDecimal reports whether text has only the characters of a decimal number.
func isDecimal(text string) bool { return strings.Trim(text, "+-.0123456789eE") == "" }
