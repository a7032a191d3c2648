package nn

// GlobalAvgPool averages each channel over height and width.
type GlobalAvgPool struct{}

// Title implements Layer.
func (GlobalAvgPool) Title() string { return "pool" }

func (GlobalAvgPool) derive(_ *builder, n *node) error {
	if err := n.planes(); err != nil {
		return err
	}
	n.out = n.in[:1]
	return nil
}

// compile appends a mean over one window, which is the whole plane.
func (GlobalAvgPool) compile(c *compiler, chain []node, v *value) (*value, int) {
	return c.pool(window{size: [2]int{v.h, v.w}, stride: [2]int{1, 1}}, false, &chain[0], v), 1
}
