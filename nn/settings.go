package nn

import (
	"slices"

	"github.com/starling-smc/starling/internal/config"
)

const (
	mostSize = 1 << 20 // of a layer in a config
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

// needSizes is checkSizes for a field without a default.
func needSizes(f *config.Faults, field string, sizes ...int) {
	if slices.Max(sizes) == 0 && slices.Min(sizes) == 0 {
		f.Add(field, "needs a size, 1 to %d", mostSize)
		return
	}
	checkSizes(f, field, 1, sizes...)
}

// checkStride wants a stride, or the zero that means the layer's default.
func checkStride(f *config.Faults, stride [2]int) {
	if stride != [2]int{} {
		checkSizes(f, "stride", 1, stride[:]...)
	}
}

// checkName wants a name that files and terminals can show.
func checkName(f *config.Faults, name string) {
	f.If(!config.Printable(name),
		"name", "%q: want at most %d bytes without control characters", name, config.LongestName)
}
