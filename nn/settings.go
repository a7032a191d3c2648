package nn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/config"
)

const (
	mostSize    = 1 << 20 // of a layer in a config
	longestName = 100     // bytes of a layer's name
)

// checkSizes wants least ≤ size ≤ mostSize for the sizes of one field.
func checkSizes(f *config.Faults, field string, least int, sizes ...int) {
	for _, s := range sizes {
		if s < least || s > mostSize {
			f.Add(field, "want %d to %d, have %d", least, mostSize, s)
			return
		}
	}
}

// checkStride wants a stride, or the zero that means the layer's default.
func checkStride(f *config.Faults, stride [2]int) {
	if stride != [2]int{} {
		checkSizes(f, "stride", 1, stride[:]...)
	}
}

// checkName wants a name that files and terminals can show.
func checkName(f *config.Faults, name string) {
	f.If(len(name) > longestName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl),
		"name", "%q: want at most %d bytes without control characters", name, longestName)
}
