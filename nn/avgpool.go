package nn

import (
	"cmp"

	"github.com/starling-smc/starling/internal/config"
)

// AvgPool takes the mean over windows, dividing by the window's full size (padding counts as zeros). A zero Stride
// means Size.
type AvgPool struct {
	Size   [2]int `yaml:"size,short"` // of a window: height, width
	Stride [2]int `yaml:"stride"`     // steps from one window to the next: down, across; default: the windows' size
	Pad    [2]int `yaml:"pad"`        // rows and columns of zeros added on each side; default 0
}

// Defaults sets the stride to the size of the window.
func (a *AvgPool) Defaults() { a.Stride = cmp.Or(a.Stride, a.Size) }

// Check implements config.Checker.
func (a AvgPool) Check(f *config.Faults) { checkWindow(f, a.Size, a.Stride, a.Pad) }

func (a AvgPool) window() window { return newWindow(a.Size, a.Stride, a.Pad) }

func (AvgPool) mean() bool { return true }

// Title implements Layer.
func (AvgPool) Title() string { return "pool" }

func (a AvgPool) derive(_ *builder, n *node) error { return a.window().pool(n) }

func (a AvgPool) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.pool(a.window(), false, &chain[0], v), 1
}
