// Package spelling finds the known name that is nearest to a misspelt one.
package spelling

import (
	"fmt"
	"strings"
)

// Nearest returns the known name with the fewest Edits from name, the first of equals. It is empty if none is near. A name is
// near within two edits, or one for every three bytes of a longer name, if at least one byte stays. Case is ignored. Nobody
// misspells a name of hundreds of bytes, and the edits of one would take long to count.
func Nearest(name string, known []string) string {
	const longest = 200
	best, fewest := "", max(2, len(name)/3)+1
	for _, k := range known {
		if len(name) > longest || len(k) > longest {
			continue
		}
		if d := Edits(strings.ToLower(name), strings.ToLower(k)); d < fewest && d < max(len(name), len(k)) {
			best, fewest = k, d
		}
	}
	return best
}

// Suggest returns a question for the nearest name, with a colon before it: `: did you mean "seed"?`. It is empty if none
// is near.
func Suggest(name string, known []string) string {
	if best := Nearest(name, known); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ""
}

// Edits is the smallest number of insertions, deletions, substitutions and swaps of neighbours that turn a into b: the
// restricted Damerau–Levenshtein distance, in bytes.
func Edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
