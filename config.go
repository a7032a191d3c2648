package starling

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/presets"
	"github.com/starling-smc/starling/spec"
)

// Spec is the contents of a config, as [spec.Spec] describes it.
type Spec = spec.Spec

// Model is the network of a Spec: [spec.Model].
type Model = spec.Model

// ParseSpec reads a config; each of sets changes a value, as "method.smc.islands=4". See [spec.Parse]. The error is a
// *ConfigError.
func ParseSpec(file string, text []byte, sets ...string) (Spec, error) {
	return spec.Parse(file, text, sets...)
}

// Keys lists the keys of a config that sets can change.
func Keys() []string { return spec.Keys() }

// Presets lists the names of the configs that come with the program, in alphabetical order.
func Presets() []string { return presets.Names() }

// PresetsFor lists the presets that a verb of the command takes: fit or filter.
func PresetsFor(verb string) []string {
	return slices.DeleteFunc(Presets(), func(name string) bool { return ConfigVerb(presets.Text(name)) != verb })
}

// ConfigVerb returns the verb of the command that a config is written for: fit if its keys have data, filter if they have scans. It is
// empty if the config has neither, or both.
func ConfigVerb(text []byte) string {
	switch verb := presets.Verb(text); {
	case verb != "":
		return verb
	case spec.IsFiltering(text): // its scans come from the command line
		return presets.Filter
	case spec.IsSpec(text):
		return presets.Fit
	}
	return ""
}

// PresetText returns a preset as a commented config. If there is no preset of that name, the error names the nearest one, or
// the data set of that name; Presets lists them all.
func PresetText(name string) ([]byte, error) {
	if text := presets.Text(name); text != nil {
		return text, nil
	}
	hint := spelling.Suggest(name, Presets())
	if data.IsKnown(name) {
		hint = fmt.Sprintf(": it is a data set; write a config that has data: {set: %s}", name)
	}
	return nil, wrongUse("no preset %q%s", name, hint)
}

// Preset is ParseSpec of a preset for fit. PresetFiltering is its counterpart for filter.
func Preset(name string, sets ...string) (Spec, error) {
	text, err := PresetText(name)
	if err != nil {
		return Spec{}, err
	}
	return ParseSpec(name, text, sets...)
}

// wrongUse returns a *ConfigError about an argument that is not part of a config.
func wrongUse(format string, args ...any) error {
	var none Spec
	return none.Fault("", format, args...)
}
