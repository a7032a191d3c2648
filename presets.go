package starling

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/presets"
)

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
