package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A config uses a small part of YAML: mappings with names as keys, lists, and scalars of one line, in blocks or in braces and
// brackets. Anchors, aliases, tags and merge keys are refused, so that every value stands where it is used. Duplicate keys, a
// second document, texts over several lines and indentation by tabs are refused too.
//
// Configs come from anywhere, also with the folder of a run, so reading one takes time and memory in proportion to its length,
// and its length is bounded. Libraries for the whole of YAML do not promise that.

// parse reads one YAML document. An empty one, or null, is an empty table. Lines that are no YAML from the first on are one
// text, about which decoding says what a config is: somebody gave another file.
func parse(text []byte) (*node, *fault) {
	root, f := parseValue(text)
	if f != nil && root != nil {
		return &node{place: root.place, scalar: strings.Join(strings.Fields(string(text)), " ")}, nil
	}
	if f == nil && root.null() {
		return &node{table: true, place: at(1, 1)}, nil
	}
	return root, f
}

// parseValue reads one YAML document of any kind. With a fault the node is nil, or the text before the lines that are wrong.
func parseValue(text []byte) (*node, *fault) {
	if len(text) > mostBytes {
		return nil, &fault{message: fmt.Sprintf("%d bytes, more than the %d that a config may have", len(text), mostBytes)}
	}
	if !utf8.Valid(text) {
		return nil, &fault{message: "the text is not UTF-8: save it as UTF-8"}
	}
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(text), "\ufeff"))
	if i := strings.IndexFunc(lines, control); i >= 0 {
		line := lines[strings.LastIndexByte(lines[:i], '\n')+1 : i]
		c, _ := utf8.DecodeRuneInString(lines[i:])
		return nil, &fault{
			place:   at(1+strings.Count(lines[:i], "\n"), 1+utf8.RuneCountInString(line)),
			message: fmt.Sprintf("the control character %U: write it as an escape in double quotes", c),
		}
	}
	r := &reader{text: lines, line: 1}
	return r.document()
}

// control reports whether a character may stand in no text file.
func control(c rune) bool { return unicode.IsControl(c) && c != '\t' && c != '\n' }

// document reads the value of the whole text.
func (r *reader) document() (*node, *fault) {
	if f := r.nextLine(); f != nil {
		return nil, f
	}
	if r.marker("---") {
		r.pos += 3
		if r.blanks(); !r.ended() {
			return nil, r.fault("the values begin in the line after ---")
		}
		if f := r.nextLine(); f != nil {
			return nil, f
		}
	}
	n := &node{place: at(1, 1)}
	if !r.over() {
		var f *fault
		if n, f = r.block(); f != nil {
			return nil, f
		}
	}
	if f := r.nextLine(); f != nil {
		return nil, f
	}
	if r.marker("...") {
		r.pos += 3
		if f := r.nextLine(); f != nil {
			return nil, f
		}
	}
	switch {
	case r.marker("---"):
		return nil, r.fault("a second document; a config has only one")
	case r.pos < len(r.text):
		if _, text := n.scalar.(string); !text {
			n = nil
		}
		return n, r.fault("%s is not indented as the lines above; a text over several lines is written in one, in quotes", excerpt(r.rest()))
	}
	return n, nil
}
