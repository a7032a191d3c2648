package starling

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// ParseSpec reads a config: strict YAML, with the changes that sets asks for ("method.smc.islands=4": dotted keys,
// items of lists by index, a YAML value) made before anything is decoded, so that both meet the same checks. Every
// default is filled in. The error, a *ConfigError, lists every fault with its place; file is its name there.
func ParseSpec(file string, text []byte, sets ...string) (Spec, error) {
	root, f := parse(text)
	if f != nil {
		return Spec{}, configError(file, []fault{*f})
	}
	for _, arg := range sets {
		if f := root.set(arg); f != nil {
			return Spec{}, configError(file, []fault{*f})
		}
	}
	var s Spec
	d := decoder{places: map[string]place{}}
	d.decode("", reflect.ValueOf(&s).Elem(), root)
	if !root.table {
		return Spec{}, configError(file, d.faults)
	}
	s.from = &origin{file, d.places}
	c := checker{places: d.places, parsing: true}
	c.spec(&s)
	// What could not be decoded is missing for the check: only its own fault is of use.
	for _, fault := range c.faults {
		if !d.faulty(fault.path) {
			d.faults = append(d.faults, fault)
		}
	}
	if err := configError(file, d.faults); err != nil {
		return Spec{}, err
	}
	return s.fill(), nil
}

// faulty reports whether a fault was found at path or inside it.
func (d *decoder) faulty(path string) bool {
	for _, f := range d.faults {
		if f.path == path || strings.HasPrefix(f.path, path+".") {
			return true
		}
	}
	return false
}

// Resolve checks a Spec built in Go and fills every default in. The error is a *ConfigError.
func (s Spec) Resolve() (Spec, error) {
	c := s.checker()
	c.spec(&s)
	if err := s.refuse(c.faults...); err != nil {
		return Spec{}, err
	}
	return s.fill(), nil
}

// origin is where the fields of a Spec were written.
type origin struct {
	file   string
	places map[string]place
}

// checker checks a Spec after it was parsed, if it ever was: a zero is a default to come.
func (s *Spec) checker() *checker {
	if s.from == nil {
		return &checker{}
	}
	return &checker{places: s.from.places}
}

// refuse makes a *ConfigError of faults; nil if there are none.
func (s *Spec) refuse(faults ...fault) error {
	if s.from == nil {
		return configError("", faults)
	}
	return configError(s.from.file, faults)
}

// fault is a *ConfigError of what only the data showed, with the place where path was written.
func (s *Spec) fault(path, format string, args ...any) error {
	return s.refuse(fault{s.checker().brought(path), path, fmt.Sprintf(format, args...)})
}

// YAML writes a resolved Spec as a config that ParseSpec reads back to the same Spec.
func (s Spec) YAML() []byte {
	var b strings.Builder
	encode(reflect.ValueOf(&s)).write(&b, 0)
	return []byte(b.String())
}

//go:embed presets/*.yaml presets/annealing/*.yaml
var presets embed.FS

// Presets lists the names of the configs that come with the program, in alphabetical order.
func Presets() []string {
	files, err := fs.Glob(presets, "presets/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	files = append(files, annealingPresets()...)
	slices.Sort(files)
	return files
}

// PresetText is a preset as a commented config. The error names the nearest preset, or the data set, if there is none of that name.
func PresetText(name string) ([]byte, error) {
	if text := annealingText(name); text != nil {
		return text, nil
	}
	text, err := presets.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		hint := spelling.Suggest(name, Presets())
		if known(name) {
			hint = fmt.Sprintf(": it is a data set; write a config that has data: {set: %s}", name)
		}
		return nil, wrong("no preset %q%s (presets: %s)", name, hint, strings.Join(Presets(), ", "))
	}
	return text, nil
}

// Preset is ParseSpec of a preset.
func Preset(name string, sets ...string) (Spec, error) {
	text, err := PresetText(name)
	if err != nil {
		return Spec{}, err
	}
	return ParseSpec(name, text, sets...)
}
