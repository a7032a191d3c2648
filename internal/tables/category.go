package tables

import (
	"slices"
	"strings"
)

// Category returns the number of the category that a word is, len(categories) if it is none. Where the categories are true and false, or
// yes and no, their letter case plays no part: pandas writes True where other programs write true or TRUE. Words that differ only in how an accent is
// written are the same.
func Category(categories []string, word string) int {
	k, ok := slices.BinarySearch(categories, word)
	if !ok && (answers(categories, "false", "true") || answers(categories, "no", "yes")) {
		k = slices.IndexFunc(categories, func(c string) bool { return strings.EqualFold(c, word) })
		ok = k >= 0
	}
	if !ok {
		word = Composed(word)
		k = slices.IndexFunc(categories, func(c string) bool { return Composed(c) == word })
		ok = k >= 0
	}
	if !ok {
		return len(categories)
	}
	return k
}

// answers reports whether categories are one or both of two words, each once, in any letter case.
func answers(categories []string, no, yes string) bool {
	is := func(c string) bool { return strings.EqualFold(c, no) || strings.EqualFold(c, yes) }
	return len(categories) <= 2 && !slices.ContainsFunc(categories, func(c string) bool { return !is(c) }) &&
		(len(categories) < 2 || !strings.EqualFold(categories[0], categories[1]))
}
