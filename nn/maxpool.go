package nn

import (
	"cmp"

	"github.com/starling-smc/starling/internal/config"
)

// MaxPool takes the maximum over windows; padding counts as −∞. A zero Stride means Size.
type MaxPool struct {
	Size   [2]int `yaml:"size,short"` // of a window: height, width
	Stride [2]int `yaml:"stride"`     // steps from one window to the next: down, across; default: the windows' size
	Pad    [2]int `yaml:"pad"`        // rows and columns of −∞ added on each side; default 0
}

// Defaults sets the stride to the size of the window.
func (m *MaxPool) Defaults() { m.Stride = cmp.Or(m.Stride, m.Size) }

// Check implements config.Checker.
func (m MaxPool) Check(f *config.Faults) { checkWindow(f, m.Size, m.Stride, m.Pad) }

func (m MaxPool) window() window { return newWindow(m.Size, m.Stride, m.Pad) }

func (MaxPool) mean() bool { return false }

// Title implements Layer.
func (MaxPool) Title() string { return "pool" }

func (m MaxPool) derive(_ *builder, n *node) error { return m.window().pool(n) }

func (m MaxPool) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.pool(m.window(), true, &chain[0], v), 1
}
