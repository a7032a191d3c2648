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
