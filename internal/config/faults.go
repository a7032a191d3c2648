package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// Checker is a struct of settings that says what is wrong with them. Defaults are filled in by then: a check never asks what
// was written. It is called for the struct alone; the settings inside it have checks of their own.
type Checker interface{ Check(f *Faults) }

// Defaulter is a struct of settings, by pointer, that fills in what was left out: Defaults sets fields that are zero. Outer
// structs come before those inside them, so that an outer one may fill its parts. What was written, a zero too, is then
// written over it.
type Defaulter interface{ Defaults() }

// Fault is one thing that is wrong with settings.
type Fault struct {
	Path    string   // of the setting, dotted, by names in YAML; empty: of all of them
	Also    []string // paths of others that it lies with as much; a --set among them is what is shown
	Inside  bool     // the fault may as well lie inside Path: a --set there is what is shown
	Message string
}

// Faults collects what is wrong with settings, field by field. Fields are named as in YAML, relative to the struct that is
// checked: "step", "gradient.batch", "layers.2".
type Faults struct {
	path string // of the struct, with a dot behind it; empty for the outermost
	all  *[]Fault
}

// NewFaults collects the faults of a struct of settings.
func NewFaults() *Faults { return &Faults{all: new([]Fault)} }

// All lists what was collected.
func (f *Faults) All() []Fault { return *f.all }

// In collects into the same list for a struct that stands in a field.
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

// If notes a fault of a field where something is bad.
func (f *Faults) If(bad bool, field, format string, args ...any) {
	if bad {
		f.Add(field, format, args...)
	}
}

// Conflict notes a fault that several fields make together. It is shown at the first or, if a --set brought one of the
// others, there.
func (f *Faults) Conflict(fields []string, format string, args ...any) {
	paths := make([]string, len(fields))
	for i, field := range fields {
		paths[i] = f.join(field)
	}
	*f.all = append(*f.all, Fault{Path: paths[0], Also: paths[1:], Message: fmt.Sprintf(format, args...)})
}

// Inside notes a fault of a field together with all that stands inside it. It is shown at the first --set inside, else at the
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
