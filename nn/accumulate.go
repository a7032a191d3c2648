package nn

import "github.com/starling-smc/starling/internal/lanes"

// accumulate adds the gradient that one reader of a value has set, from, to the value's gradient:
//
//	dy[i] += from[i]
//
// It belongs to the backward pass of a value with several readers; the first reader in the backward pass sets dy. See
// compiler.separate. Where one of the two is not yet gated by the ReLU that the value is the output of, the sum is.
type accumulate struct {
	from, to *value
	gate     bool
}

func (*accumulate) inputs() []**value { return nil }

func (*accumulate) output() *value { return nil }

func (*accumulate) forward(*tape, int, int) {}

func (a *accumulate) backward(t *tape, g0, g1 int) {
	if !t.needs(a.to) {
		return
	}
	t.each(a.to, g0, g1, func(g, b int) {
		own, sum := t.dy(a.from, g, b), t.dy(a.to, g, b)
		if a.gate {
			lanes.AddGated(t.out(a.to, g, b), own, sum)
		} else {
			lanes.Add(own, sum, sum)
		}
	})
}

func (*accumulate) finish(*tape) {}
