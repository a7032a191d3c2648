package numeral

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Several counts things: 1 island, 8 islands, 60,000 examples.
func Several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(strconv.Itoa(n)) + " " + thing + "s"
}

// List joins words as a sentence does: a, b and c.
func List(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Capital makes the first letter of a sentence a capital. Names of files and runs, keys and symbols stay as they are.
func Capital(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if len(word) > 1 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		first, size := utf8.DecodeRuneInString(s)
		return string(unicode.ToUpper(first)) + s[size:]
	}
	return s
}
