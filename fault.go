package starling

import (
	"fmt"
	"sort"
	"strings"
)

// ConfigError is what is wrong with a Spec, every fault on a line of its own with its place: file, line and column, or
// the --set argument, or the path of the field in a Spec built in Go.
type ConfigError struct {
	File   string // as given to ParseSpec; empty for a Spec built in Go
	faults []fault
}

type fault struct {
	place   place
	path    string // dotted, as for --set; empty if the message says it all
	message string
}

func (e *ConfigError) Error() string {
	lines := make([]string, len(e.faults))
	for i, f := range e.faults {
		var b strings.Builder
		switch {
		case f.place.set != "":
			fmt.Fprintf(&b, "--set %s: ", f.place.set)
		case f.place.line > 0:
			fmt.Fprintf(&b, "%s:%d:%d: ", e.File, f.place.line, f.place.column)
		case e.File != "":
			fmt.Fprintf(&b, "%s: ", e.File)
		}
		if f.path != "" {
			b.WriteString(f.path + ": ")
		}
		b.WriteString(f.message)
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// configError gathers faults in the order of their places; nil if there are none.
func configError(file string, faults []fault) error {
	if len(faults) == 0 {
		return nil
	}
	sort.SliceStable(faults, func(i, j int) bool {
		a, b := faults[i].place, faults[j].place
		return a.line < b.line || a.line == b.line && a.column < b.column
	})
	return &ConfigError{File: file, faults: faults}
}

// nearest returns the known name with the fewest insertions, deletions, substitutions and swaps of neighbours from
// name; the first of equals.
func nearest(name string, known []string) string {
	best, fewest := "", -1
	for _, k := range known {
		if d := edits(name, k); fewest < 0 || d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

// edits is the restricted Damerau–Levenshtein distance.
func edits(a, b string) int {
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
