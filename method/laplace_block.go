package method

import (
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/nn"
)

// block is that of a layer.
type block struct {
	weight  nn.Tensor
	bias    *nn.Tensor
	in, out int       // in counts the bias
	sa, sg  []float64 // S_A and S_G

	large, small    []float64          // B and C, or C and B, until they are cut
	tri             *dense.Tridiagonal // Q and T
	values, vectors []float64          // c and V
}

// blocksOf are the blocks of a network's random tensors, which all have factors.
func blocksOf(net *nn.Net) (blocks []block) {
	for _, t := range net.Random() {
		if last := len(blocks) - 1; t.Kind == nn.Biases {
			blocks[last].bias = &t
			blocks[last].in++
		} else {
			blocks = append(blocks, block{weight: t, out: t.Shape[0], in: t.Size / t.Shape[0]})
		}
	}
	return blocks
}

// sizes are those of the smaller and of the larger factor. A is the larger one where both are as large.
func (b *block) sizes() (small, large int) { return min(b.in, b.out), max(b.in, b.out) }

// place is the place in θ of input i of output o.
func (b *block) place(o, i int) int {
	if b.bias != nil && i == b.in-1 {
		return b.bias.Offset + o
	}
	return b.weight.Offset + o*(b.weight.Size/b.out) + i
}

// each calls visit with the place in θ of every element of the block as a matrix, a row for each row of the smaller factor.
func (b *block) each(visit func(at, place int)) {
	small, large := b.sizes()
	for s := range small {
		for l := range large {
			if b.out > b.in {
				visit(s*large+l, b.place(l, s))
			} else {
				visit(s*large+l, b.place(s, l))
			}
		}
	}
}

// divide divides the widths into S_A and S_G, if they are such products.
func (b *block) divide(sd []float64) bool {
	for i := range b.in {
		b.sa = append(b.sa, sd[b.place(0, i)])
	}
	for o := range b.out {
		b.sg = append(b.sg, sd[b.place(o, 0)]/b.sa[0])
		for i, s := range b.sa {
			if at := sd[b.place(o, i)]; math.Abs(float64(s*b.sg[o])-at) > 1e-12*at {
				return false
			}
		}
	}
	return true
}

// lift adds the least of a few numbers to the diagonal of T with which it has no eigenvalue below 0, if rounding alone has made one.
func (b *block) lift() {
	largest := 0.0
	for _, x := range b.tri.Diagonal {
		largest = max(largest, math.Abs(x))
	}
	l, m := b.room()
	for by := 1e-15 * largest; by > 0 && by <= negligible*largest && !b.tri.Cholesky(1, by, l, m); by *= 2 {
		if b.tri.Cholesky(1, 2*by, l, m) {
			for i := range b.tri.Diagonal {
				b.tri.Diagonal[i] += 2 * by
			}
			return
		}
	}
}

// room is room for a factor of T.
func (b *block) room() (l, m []float64) {
	_, large := b.sizes()
	return make([]float64, large), make([]float64, large-1)
}

// saved is a part of a block's state.
type saved struct {
	name   string
	values *[]float64
	size   int
	cut    bool // it is there when the block is cut, and not until then; else until then
}

func (b *block) parts() []saved {
	small, large := b.sizes()
	tri := b.tri
	if tri == nil {
		tri = new(dense.Tridiagonal)
	}
	return []saved{
		{"large", &b.large, large * large, false}, {"small", &b.small, small * small, false}, {"values", &b.values, small, true},
		{"vectors", &b.vectors, small * small, true}, {"diagonal", &tri.Diagonal, large, true}, {"off", &tri.Off, large - 1, true},
		{"beta", &tri.Beta, max(large-2, 0), true}, {"reflections", &tri.V, large * large, true},
	}
}
