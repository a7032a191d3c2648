package presets

import (
	"bytes"
	"slices"
)

// The verbs of the command that take a config.
const (
	Fit    = "fit"
	Filter = "filter"
)

// Verb returns the verb that a config is written for, by its keys at the top: filter if it has scans, fit if it has data. It is
// empty if the config has neither, or both.
func Verb(text []byte) string {
	has := func(key string) bool {
		return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return bytes.HasPrefix(line, []byte(key+":")) })
	}
	switch scans, data := has("scans"), has("data"); {
	case scans && !data:
		return Filter
	case data && !scans:
		return Fit
	}
	return ""
}
