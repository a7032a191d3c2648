package nn

import "github.com/starling-smc/starling/internal/lanes"

// accumulate adds the gradient that one reader of a value has set, from, to the value's gradient:
//
//	dy[i] += from[i]
//
// It belongs to the backward pass of a value with several readers; the first reader in the backward pass sets dy. See
// compiler.separate.
type accumulate struct{ from, to *value }

func (*accumulate) inputs() []**value { return nil }

func (*accumulate) output() *value { return nil }

func (*accumulate) forward(*tape, int, int) {}

func (a *accumulate) backward(t *tape, g0, g1 int) {
	if !t.needs(a.to) {
		return
	}
	t.each(a.to, g0, g1, func(g, b int) {
		own := t.dy(a.from, g, b)
		lanes.SumRows(own, len(own)/lanes.Lanes, 1, lanes.Lanes, t.dy(a.to, g, b))
	})
}

func (*accumulate) finish(*tape) {}
