// Package spelling tells which known name somebody may have meant.
package spelling

// Nearest returns the known name that is the fewest Edits from name, the first of equals; empty if none is known.
func Nearest(name string, known []string) string {
	best, fewest := "", -1
	for _, k := range known {
		if d := Edits(name, k); fewest < 0 || d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

// Edits is the fewest insertions, deletions, substitutions and swaps of neighbours that make b of a: the restricted
// Damerau–Levenshtein distance, in bytes.
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
