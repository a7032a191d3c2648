package visible_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/visible"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a\tb\n": "a\tb\n", "größe µ 漢 😀 é\u00a0": "größe µ 漢 😀 é\u00a0", "\x1b[2J": `\x1b[2J`, "\x1b]8;;http://x\x07y": `\x1b]8;;http://x\x07y`,
		"\r\x00\x7f": `\x0d\x00\u007f`, "\u0085\u009b": `\u0085\u009b`, "\u202eabc\u2066\u061c\u200f": `\u202eabc\u2066\u061c\u200f`,
		"\u2028\u2029\ufeff": `\u2028\u2029\ufeff`, "a\xff\xe2\x80": `a\xff\xe2\x80`, "\ufffd": "\ufffd",
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestJSON: a text in JSON means the same afterwards, and has no character that is hidden.
func TestJSON(t *testing.T) {
	text := "\x1b[2J\u202e\u0085\x7f\ufeff\r\n\"\\"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := visible.Text(string(raw))
	var back string
	if err := json.Unmarshal([]byte(shown), &back); err != nil || back != text || strings.ContainsAny(shown, "\u202e\u0085\x7f\ufeff") {
		t.Errorf("%q in JSON is %s, which is %q, %v", text, shown, back, err)
	}
}

// TestWriter: wherever a text is cut, what is written is the same.
func TestWriter(t *testing.T) {
	text := "é\u202e漢\x1b😀\xff\u0085\xe2\x80"
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			var b bytes.Buffer
			w := visible.NewWriter(&b)
			for _, part := range []string{text[:i], text[i:j], text[j:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || b.String() != visible.Text(text) || !utf8.Valid(b.Bytes()) {
				t.Errorf("cut at %d and %d: %q, want %q", i, j, b.String(), visible.Text(text))
			}
		}
	}
}
