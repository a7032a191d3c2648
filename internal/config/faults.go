package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/spelling"
)

// Checker is a struct of settings that checks them. Defaults are filled in before Check is called, so a check never asks
// which values were written. Check is called for the struct alone; structs inside it have checks of their own.
type Checker interface{ Check(f *Faults) }

// Defaulter is a pointer to a struct of settings that fills in its defaults: Defaults sets fields that are zero. It is called
// for outer structs before inner ones, so that an outer struct may fill its parts. After it, written values, also zeros,
// replace the defaults.
type Defaulter interface{ Defaults() }

// Fault is one thing that is wrong with settings.
type Fault struct {
	Path    string   // of the setting: names in YAML with dots between them; empty: the fault is of all settings together
	Also    []string // paths of other settings that may be the cause; if a --set brought one of them, the fault is shown there
	Inside  bool     // the cause may be a setting inside Path; if a --set brought one of them, the fault is shown there
	Machine bool     // the settings are right, and this machine lacks what they need, such as memory
	Message string
}

// Faults collects the faults of settings, field by field. Fields are named as in YAML, relative to the struct that is
// checked: "step", "gradient.batch", "layers.2".
type Faults struct {
	path string // of the struct, ending in a dot; empty for the outermost struct
	all  *[]Fault
}

// NewFaults collects the faults of a struct of settings.
func NewFaults() *Faults { return &Faults{all: new([]Fault)} }

// All returns the collected faults.
func (f *Faults) All() []Fault { return *f.all }

// In returns a collector for the struct in a field. It adds to the same list.
func (f *Faults) In(field string) *Faults {
	path := f.join(field)
	if path != "" {
		path += "."
	}
	return &Faults{path: path, all: f.all}
}

func (f *Faults) join(field string) string {
	if field == "" {
		return strings.TrimSuffix(f.path, ".")
	}
	return f.path + field
}

// Add notes a fault of a field; "" is the struct itself.
func (f *Faults) Add(field, format string, args ...any) {
	*f.all = append(*f.all, Fault{Path: f.join(field), Message: fmt.Sprintf(format, args...)})
}

// Lacks notes that this machine lacks what a field needs.
func (f *Faults) Lacks(field, format string, args ...any) {
	*f.all = append(*f.all, Fault{Path: f.join(field), Machine: true, Message: fmt.Sprintf(format, args...)})
}

// If notes a fault of a field if bad is true.
func (f *Faults) If(bad bool, field, format string, args ...any) {
	if bad {
		f.Add(field, format, args...)
	}
}

// Conflict notes a fault of several fields together. It is shown at the first field or, if a --set brought another of them,
// at that one.
func (f *Faults) Conflict(fields []string, format string, args ...any) {
	paths := make([]string, len(fields))
	for i, field := range fields {
		paths[i] = f.join(field)
	}
	*f.all = append(*f.all, Fault{Path: paths[0], Also: paths[1:], Message: fmt.Sprintf(format, args...)})
}

// Inside notes a fault of a field and the settings inside it. It is shown at the first --set inside the field, else at the
// field.
func (f *Faults) Inside(field, format string, args ...any) {
	*f.all = append(*f.all, Fault{Path: f.join(field), Inside: true, Message: fmt.Sprintf(format, args...)})
}

// AtLeast wants low ≤ v.
func (f *Faults) AtLeast(field string, v, low int) {
	f.If(v < low, field, "want at least %d, have %d", low, v)
}

// Within wants low ≤ v < below.
func (f *Faults) Within(field string, v, low, below int) {
	f.AtLeast(field, v, low)
	f.If(v >= below, field, "want below %d, have %d", below, v)
}

// Positive wants a finite number above 0.
func (f *Faults) Positive(field string, v float64) {
	f.If(!(v > 0) || math.IsInf(v, 1), field, "want a number above 0, have %.12g", v)
}

// Share wants a number above 0 and below 1.
func (f *Faults) Share(field string, v float64) {
	f.If(!(v > 0 && v < 1), field, "want a number above 0 and below 1, have %.12g", v)
}

// OneOf wants one of the known names.
func (f *Faults) OneOf(field, name string, known ...string) {
	f.If(!slices.Contains(known, name), field, "unknown name %q%s (known: %s)", name, spelling.Suggest(name, known), strings.Join(known, ", "))
}

// LongestName is the number of bytes that a name may have.
const LongestName = 100

// Printable reports whether a name has only printable characters and at most LongestName bytes.
func Printable(name string) bool {
	return len(name) <= LongestName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}
