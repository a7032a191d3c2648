package nn

import "github.com/starling-smc/starling/internal/lanes"

// input returns what a layer's op reads in place of v. Where the op belongs to the particles, and v is shared by all of them but
// depends on ψ, that is a value with the same activation whose gradient each particle has for itself. The gradient of v is the
// weighted sum of these:
//
//	dv = Σ_b W_b dv_b
//
// A layer that consists of other layers calls input for each value that its own op reads.
func (c *compiler) input(n *node, v *value) *value {
	if n.stage.shared() || !v.stage.shared() || v.grad < 0 {
		return v
	}
	if v.tight = true; n.stage == stageDense {
		v = c.withoutBorder(v)
	}
	own := *v
	own.origin, own.spread, own.source, own.relu = origin{n.stage, true}, true, v, false
	c.values = append(c.values, &own)
	c.spreads = append(c.spreads, v)
	c.emit(n.stage, &collect{from: &own, to: v})
	return &own
}

// collect adds the gradients that the particles of a pass have set for a value that all share, by the particles' weights. The
// value's gradient is 0 when a tile begins (program.prepare).
type collect struct{ from, to *value }

func (*collect) inputs() []**value { return nil }

func (*collect) forward(*tape, int, int) {}

func (c *collect) backward(t *tape, g0, g1 int) {
	if !t.needs(c.to) {
		return
	}
	for g := g0; g < g1; g++ {
		sum := t.dy(c.to, g, 0)
		for b := range t.batch {
			own := t.dy(c.from, g, b)
			lanes.Scale(own, t.share(b), own)
			lanes.SumRows(own, len(own)/lanes.Lanes, 1, lanes.Lanes, sum)
		}
		if c.to.relu {
			lanes.ReLUBackward(t.out(c.to, g, 0), sum, sum)
		}
	}
}

func (*collect) finish(*tape) {}
