package main

import (
	"os"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// attacks are what hostile names hold, by the words that stand for them in scripts: characters that clear the screen, make a link,
// and turn the order of characters around.
var attacks = map[string]string{"ESC": "\x1b[2J", "OSC": "\x1b]8;;http://x\x07", "RLO": "\u202e", "CSI": "\u009b2J"}

// hostile FILE…: puts the attacks into files in the place of $ESC and so on.
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), func(word string) string { return attacks[word] })
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

// harmless FILE…: no file, stdout and stderr among them, holds a control character.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		text := ts.ReadFile(file)
		bad := func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff' || r == '\ufffd'
		}
		if i := strings.IndexFunc(text, bad); i >= 0 {
			ts.Fatalf("%s: a control character: %q", file, text[max(0, i-20):min(len(text), i+20)])
		}
	}
}
