package nn

// Flatten turns [c, h, w] into c·h·w features; Dense does so on its own.
type Flatten struct{}

// Title implements Layer.
func (Flatten) Title() string { return "" }

func (Flatten) derive(_ *builder, n *node) error {
	n.out = []int{volume(n.in...)}
	return nil
}

// compile adds no op, or one that removes a border: the order of the values is the same.
func (Flatten) compile(c *compiler, _ []node, v *value) (*value, int) { return c.withoutBorder(v), 1 }
