package starling

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/presets"
	"github.com/starling-smc/starling/spec"
)

// Spec says all that a run depends on beside the examples themselves: what a config holds.
type Spec = spec.Spec

// Model is a network, the likelihood of its outputs, and what it may begin with.
type Model = spec.Model

// ParseSpec reads a config: strict YAML, with the changes that sets asks for ("method.smc.islands=4": dotted keys, items of
// lists by index, a YAML value) made before anything is decoded, so that both meet the same checks. Every default is filled in.
// The error, a *ConfigError, lists every fault with its place; file is its name there.
func ParseSpec(file string, text []byte, sets ...string) (Spec, error) {
	return spec.Parse(file, text, sets...)
}

// Keys lists the keys that a config may have, dotted, as --set takes them.
func Keys() []string { return spec.Keys() }

// Presets lists the names of the configs that come with the program, in alphabetical order.
func Presets() []string { return presets.Names() }

// PresetText is a preset as a commented config. The error names the nearest preset, or the data set, if there is none of that name.
func PresetText(name string) ([]byte, error) {
	if text := presets.Text(name); text != nil {
		return text, nil
	}
	hint := spelling.Suggest(name, Presets())
	if data.IsKnown(name) {
		hint = fmt.Sprintf(": it is a data set; write a config that has data: {set: %s}", name)
	}
	return nil, wrongUse("no preset %q%s (presets: %s)", name, hint, strings.Join(Presets(), ", "))
}

// Preset is ParseSpec of a preset.
func Preset(name string, sets ...string) (Spec, error) {
	text, err := PresetText(name)
	if err != nil {
		return Spec{}, err
	}
	return ParseSpec(name, text, sets...)
}

// wrongUse is a *ConfigError of what was asked for beside any config.
func wrongUse(format string, args ...any) error {
	var none Spec
	return none.Fault("", format, args...)
}
