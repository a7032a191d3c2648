package numeral

import (
	"strconv"
	"strings"
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
