package config

import (
	"strings"
	"testing"
)

// TestLinesOfSyntax: an error of syntax has the line of the fault, or of the beginning of what has no end, wherever it stands.
func TestLinesOfSyntax(t *testing.T) {
	begins := ", in the block or bracket that begins here"
	for text, want := range map[string]string{
		"data: {set: mnist7\n":                     "did not find expected ',' or '}'" + begins,
		"data: {set: mnist7\nmodel:\n  dense: 3\n": "did not find expected ',' or '}'" + begins,
		"layers: [dense: 3}\n":                     "did not find expected ',' or ']'" + begins,
		"csv: [":                                   "did not find expected node content",
		"name: @x\n":                               "found character that cannot start any token",
		"a: b: c\n":                                "mapping values are not allowed in this context",
		"name: \"x\n\n":                            "found unexpected end of stream",
		"a: !x!y z\n":                              "found undefined tag handle",
		"one: *two\n":                              "", // which has no line
		"a:\tb\n\tc: d\n":                          "",
	} {
		for _, before := range []int{0, 2, 6, 11} {
			_, f := parseValue([]byte(strings.Repeat("# a comment\n", before) + text))
			switch {
			case f == nil:
				t.Errorf("%q is read", text)
			case want != "" && (f.message != want || f.place.line != before+1):
				t.Errorf("%q after %d lines: line %d, %q; want %q", text, before, f.place.line, f.message, want)
			}
		}
	}
	block := "data:\n  csv:\n    - a\n   - b\n"
	for _, before := range []int{0, 4} {
		_, f := parseValue([]byte(strings.Repeat("\n", before) + block))
		if f == nil || f.place.line != before+2 || !strings.HasSuffix(f.message, begins) {
			t.Errorf("%q after %d lines: %+v", block, before, f)
		}
	}
	_, f := parseValue([]byte("a: b\n---\nc: {d\n"))
	if f == nil || f.place.line != 3 {
		t.Errorf("in the second document: %v", f)
	}
}
