package nn

import (
	"context"
	"fmt"
	"strings"

	"github.com/starling-smc/starling/internal/lanes"
)

// Factor has the Kronecker factors of the block of a layer's tensors in the Gauss-Newton matrix (Martens and Grosse 2015, "Optimizing Neural
// Networks with Kronecker-factored Approximate Curvature"; for convolutions KFAC-expand of Eschenhagen et al. 2023, "Kronecker-Factored
// Approximate Curvature for Modern Neural Network Architectures"). A layer is y = W a + b, at one position of an example or, for a convolution,
// at P, one for each pixel of its output. With g = ∂(column of the root of H)/∂y, N examples n and C columns c
//
//	A = 1/(N P) Σ_{n,p} a aᵀ       G = 1/N Σ_{n,c,p} g gᵀ
//
// and the block is N A⊗G: the entry of W[o,i] and W[o′,i′] is N A[i,i′] G[o,o′]. This is what laplace-torch 0.3 has by curvlinops, apart from
// its bias, which has a block of its own there: 1 here is one more input of the layer.
type Factor struct {
	Layer  string    // its module's name, as its tensors' begin
	Weight Tensor    // [out, in…]
	Bias   *Tensor   // nil: none
	A      []float64 // [in+1, in+1], row-major, of the inputs and the bias's 1 behind them; [in, in] without bias
	G      []float64 // [out, out]
}

// Factors are the Kronecker factors of the Gauss-Newton matrix (curvature.go) at one θ: those of each layer in the order of θ, over all examples.
// A learned log σ of a gaussian likelihood is a factor too, of one number: N A⊗G is the information about it. Sums are float32 over
// a thousand rows at most, and float64 between. An error names a layer that has random tensors without factors, or a likelihood without
// curvature, or is that of ctx.
func (m *Model) Factors(ctx context.Context, theta []float64) ([]Factor, error) {
	c, err := m.curve(theta)
	if err != nil {
		return nil, err
	}
	factors, layers, err := c.factors()
	if err != nil {
		return nil, err
	}
	perTile := 0
	for _, l := range layers {
		perTile += l.a.bytes() + l.g.bytes()
	}
	reserve := func(tiles int) {
		for _, l := range layers {
			l.a.reserve(tiles)
			l.g.reserve(tiles)
		}
	}
	err = c.rounds(ctx, perTile, reserve, func(t *tape, tile, first, count int) { c.fill(t, layers, tile, first, count) }, func(tiles int) {
		var work []func()
		for _, l := range layers {
			for _, g := range []*gram{l.a, l.g} {
				for b := range g.blocks {
					work = append(work, func() { g.collect(b, tiles) })
				}
			}
		}
		m.pool.Run(len(work), func(i int) { work[i]() })
	})
	if err != nil {
		return nil, err
	}
	for _, l := range layers {
		n := float64(m.set.Len())
		l.a.finish(1 / float64(n*float64(l.positions)))
		l.g.finish(1 / n)
	}
	return factors, nil
}

// layerSums are the sums of a layer.
type layerSums struct {
	factored
	factor
	a, g *gram
}

// factors makes the factors, and room for the sums of the ops that have them.
func (c *curving) factors() (factors []Factor, layers []*layerSums, err error) {
	net := c.m.net
	if without := net.Unfactored(); len(without) > 0 {
		t := without[0]
		return nil, nil, fmt.Errorf("layer %s (%s): its tensor %s has no Kronecker factors: want structure: diagonal or full, or model.random with layers that have them, such as last",
			t.Place, t.Of, t.Name)
	}
	own, of := c.lik.information(net.Outputs()), map[int]factored{} // by the weight's offset in θ
	for _, o := range c.m.prog.factored() {
		of[o.factor().weight.at] = o
	}
	random := net.Random()
	for i := 0; i < len(random); i++ {
		t := random[i]
		if t.Kind == Own {
			factors = append(factors, Factor{Layer: t.Name, Weight: t, A: []float64{1}, G: own[:1]})
			own = own[1:]
			continue
		}
		o := of[t.Offset]
		l := &layerSums{factored: o, factor: o.factor()}
		f := Factor{Layer: strings.TrimSuffix(t.Name, ".weight"), Weight: t}
		in := l.in
		if l.bias != nil {
			i++
			f.Bias = &random[i]
			in++
		}
		f.A, f.G = make([]float64, in*in), make([]float64, l.out*l.out)
		l.a = newGram(in, l.positions*tileExamples, f.A)
		l.g = newGram(l.out, l.positions*tileExamples*c.columns, f.G)
		factors, layers = append(factors, f), append(layers, l)
	}
	return factors, layers, nil
}

// fill takes a tile forward and back, and hands the inputs of the layers and the gradients of their outputs to their sums.
func (c *curving) fill(t *tape, layers []*layerSums, tile, first, count int) {
	inputs, gradients, wide := map[op]*filler{}, map[op]*filler{}, 0
	for _, l := range layers {
		inputs[l.factored], gradients[l.factored] = l.a.filler(tile), l.g.filler(tile)
		wide = max(wide, l.in, l.out)
	}
	scratch := lanes.Make(wide * lanes.Lanes)
	t.watch = func(o op, g0, g1 int) {
		to := gradients[o]
		if to == nil {
			return
		}
		l := o.(factored)
		for g := g0; g < g1; g++ {
			for p := range l.factor().positions {
				lanes.Transpose(l.gradientsAt(t, g, p, scratch), to.width, to.next(), to.pitch)
			}
		}
	}
	c.m.load(t, nil, nil, first, count)
	c.m.prog.forward(t, func(g0, g1 int) {
		for _, l := range layers {
			to := inputs[l.factored]
			for g := g0; g < g1; g++ {
				for p := range l.positions {
					to.inputs(l.inputsAt(t, g, p, scratch), l.in, min(lanes.Lanes, count-g*lanes.Lanes))
				}
			}
		}
		for column := range c.columns {
			c.back(t, column, g0, g1)
		}
	})
	for _, l := range layers {
		inputs[l.factored].close()
		gradients[l.factored].close()
	}
}

// inputs appends the inputs of the first valid examples of a group, with a 1 behind them if the layer has a bias.
func (f *filler) inputs(x []float32, n, valid int) {
	rows := f.next()
	lanes.Transpose(x, n, rows, f.pitch)
	for e := range valid {
		if n < f.width {
			rows[e*f.pitch+n] = 1
		}
	}
	clear(rows[valid*f.pitch:])
}
