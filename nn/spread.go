package nn

import "github.com/starling-smc/starling/internal/lanes"

// collect adds the gradients that the particles of a pass have set for a value that all share, by the particles' weights. The
// value's gradient is 0 when a tile begins (program.prepare).
type collect struct{ from, to *value }

func (*collect) inputs() []**value { return nil }

func (*collect) output() *value { return nil }

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
