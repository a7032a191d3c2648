package method

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// kronForm is the curvature by Kronecker factors, a block N·A⊗G for each layer: A is the mean of the products of its inputs, with the 1 of the
// bias, and G that of the gradients of its outputs (nn.Factor). A prior whose widths are products of a number for each output and one for
// each input, S = S_G⊗S_A with S = Λ^−½, keeps the product in the coordinates of curvature:
//
//	S H S = N·(S_A A S_A)⊗(S_G G S_G)        S_A A S_A = U diag(a) Uᵀ        S_G G S_G = V diag(g) Vᵀ
//	S H S + τI = (U⊗V) diag(N a_i g_o + τ) (U⊗V)ᵀ
//
// Nothing is left out. A parameter of the likelihood is a block by itself. The bias is an input of its own, so it may have another width than the weights.
type kronForm struct {
	examples float64 // N
	blocks   []block
}

// block is that of a layer. Before its cut, u and v hold A and G.
type block struct {
	weight  nn.Tensor
	bias    *nn.Tensor
	in, out int       // in counts the bias
	sa, sg  []float64 // S_A and S_G
	a, g    []float64 // eigenvalues
	u, v    []float64
}

func newKron(c *curvature) (form, error) {
	k := &kronForm{examples: float64(c.job.Model.Examples())}
	if k.blocks, _ = blocksOf(c.job.Net); k.blocks == nil {
		return nil, fmt.Errorf("the network has tensors without Kronecker factors")
	}
	for i := range k.blocks {
		if b := &k.blocks[i]; !b.divide(c.sd) {
			return nil, fmt.Errorf("%s: the widths of the prior of layer %s are no product of a width for each output and one for each input, which structure kron needs: "+
				"take structure: diagonal or full, or a prior with one width for each tensor", pathOfLaplace, b.weight.Name)
		}
	}
	return k, nil
}

// blocksOf are the blocks of a network's random tensors or, where one is neither a weight nor a bias nor the likelihood's, its name.
func blocksOf(net *nn.Net) (blocks []block, without string) {
	for _, t := range net.Random() {
		last := len(blocks) - 1
		switch {
		case t.Kind == nn.Weights || t.Kind == nn.Own:
			blocks = append(blocks, block{weight: t, out: t.Shape[0], in: t.Size / t.Shape[0]})
		case t.Kind == nn.Biases && last >= 0 && blocks[last].bias == nil && blocks[last].weight.Place == t.Place:
			blocks[last].bias = &t
			blocks[last].in++
		default:
			return nil, t.Name
		}
	}
	return blocks, ""
}

// checkKron refuses a network with tensors that have no factors.
func checkKron(net *nn.Net, f *config.Faults) {
	if _, without := blocksOf(net); without != "" {
		f.Conflict([]string{pathOfLaplace + ".structure"}, "kron has factors for weights and biases alone, and %s is neither: take structure: diagonal or, for the last layer alone, of: last", without)
	}
}

// place is the place in θ of input i of output o.
func (b *block) place(o, i int) int {
	if b.bias != nil && i == b.in-1 {
		return b.bias.Offset + o
	}
	return b.weight.Offset + o*(b.weight.Size/b.out) + i
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

func (k *kronForm) measure(ctx context.Context, c *curvature) error {
	all, err := c.model().Factors(ctx, c.at)
	if err != nil {
		return err
	}
	for i := range k.blocks {
		b := &k.blocks[i]
		at := slices.IndexFunc(all, func(f nn.Factor) bool { return f.Weight.Name == b.weight.Name })
		if at < 0 {
			return fmt.Errorf("layer %s has no Kronecker factors: take structure: diagonal or, for the last layer alone, of: last", b.weight.Name)
		}
		b.u, b.v = scaled(all[at].A, b.sa), scaled(all[at].G, b.sg)
	}
	return nil
}

// scaled is diag(s) M diag(s).
func scaled(m, s []float64) []float64 {
	out := make([]float64, len(m))
	for i, x := range s {
		for j, y := range s {
			out[i*len(s)+j] = m[i*len(s)+j] * float64(x*y)
		}
	}
	return out
}

func (k *kronForm) cuts() int { return len(k.blocks) }

// cut makes the eigenvectors of a block.
func (k *kronForm) cut(i int) error {
	b := &k.blocks[i]
	for _, x := range slices.Concat(b.u, b.v) {
		if x-x != 0 {
			return fmt.Errorf("a Kronecker factor of layer %s is %v: the trained network has values or gradients that are no longer numbers", b.weight.Name, x)
		}
	}
	b.a, b.u = eigen(b.u, b.in)
	b.g, b.v = eigen(b.v, b.out)
	return nil
}

// eigen is dense.Eigen of a matrix without eigenvalues below 0 but by rounding.
func eigen(m []float64, d int) (values, vectors []float64) {
	values, vectors = dense.Eigen(m, d)
	least := -1e-12 * float64(d) * values[d-1]
	for i, v := range values {
		if v < 0 && v >= least {
			values[i] = 0
		}
	}
	return values, vectors
}

func (k *kronForm) operations(i int) float64 {
	cube := func(n int) float64 { return float64(n) * float64(n) * float64(n) }
	return 60 * (cube(k.blocks[i].in) + cube(k.blocks[i].out))
}

// each calls visit with the precision of each coordinate of each block, and with its number.
func (k *kronForm) each(tau float64, visit func(b *block, o, i int, precision float64)) {
	for n := range k.blocks {
		b := &k.blocks[n]
		for o, g := range b.g {
			for i, a := range b.a {
				visit(b, o, i, float64(float64(k.examples*a)*g)+tau)
			}
		}
	}
}

func (k *kronForm) fault(tau float64) (layer string) {
	k.each(tau, func(b *block, _, _ int, precision float64) {
		if !(precision > 0) && layer == "" {
			layer = b.weight.Name
		}
	})
	return layer
}

func (k *kronForm) logDet(tau float64) (sum float64) {
	k.each(tau, func(_ *block, _, _ int, precision float64) { sum += rng.Log(precision) })
	return sum
}

// draw is V Z Uᵀ with Z = Ξ/√(N a g + τ).
func (k *kronForm) draw(tau float64, xi, to []float64) {
	z, w := make([]float64, len(xi)), make([]float64, len(xi))
	k.each(tau, func(b *block, o, i int, precision float64) {
		at := b.place(o, i)
		z[at] = xi[at] / math.Sqrt(precision)
	})
	for n := range k.blocks {
		b := &k.blocks[n]
		x, y := b.take(z), w[:b.out*b.in]
		dense.MulT(y, x, b.u, b.in)
		dense.Mul(x, b.v, y, b.out)
		b.put(to, x)
	}
}

// whiten is Vᵀ X U/√(N a g + τ).
func (k *kronForm) whiten(tau float64, x, to []float64) {
	w := make([]float64, len(x))
	for n := range k.blocks {
		b := &k.blocks[n]
		from, y := b.take(x), w[:b.out*b.in]
		dense.Mul(y, from, b.u, b.in)
		dense.Mul(from, transposed(b.v, b.out), y, b.out)
		b.put(to, from)
	}
	k.each(tau, func(b *block, o, i int, precision float64) { to[b.place(o, i)] /= math.Sqrt(precision) })
}

func transposed(m []float64, d int) []float64 {
	t := make([]float64, len(m))
	for i := range d {
		for j := range d {
			t[j*d+i] = m[i*d+j]
		}
	}
	return t
}

// take is the block's part of x as a matrix out×in, and put puts it back.
func (b *block) take(x []float64) []float64 {
	m := make([]float64, b.out*b.in)
	for o := range b.out {
		for i := range b.in {
			m[o*b.in+i] = x[b.place(o, i)]
		}
	}
	return m
}

func (b *block) put(x, m []float64) {
	for o := range b.out {
		for i := range b.in {
			x[b.place(o, i)] = m[o*b.in+i]
		}
	}
}

func (k *kronForm) save(e *ckpt.Encoder) {
	for i, b := range k.blocks {
		e.Float64s(fmt.Sprint("a", i), b.a)
		e.Float64s(fmt.Sprint("g", i), b.g)
		e.Float64s(fmt.Sprint("u", i), b.u)
		e.Float64s(fmt.Sprint("v", i), b.v)
	}
}

func (k *kronForm) restore(d *ckpt.Decoder, steps int) {
	for i := range k.blocks {
		b := &k.blocks[i]
		b.a, b.g = d.Float64s(fmt.Sprint("a", i)), d.Float64s(fmt.Sprint("g", i))
		b.u, b.v = d.Float64s(fmt.Sprint("u", i)), d.Float64s(fmt.Sprint("v", i))
		measured, cut := min(steps, 1), min(max(steps-1-i, 0), 1)
		if len(b.a) != cut*b.in || len(b.g) != cut*b.out || len(b.u) != measured*b.in*b.in || len(b.v) != measured*b.out*b.out {
			d.Fail("factors of layer %s of other sizes than the network's", b.weight.Name)
		}
	}
}

// kronBytes estimates the memory of the factors: as the pass makes them, scaled, with their eigenvectors, and packed.
func kronBytes(net *nn.Net) (bytes int64) {
	blocks, _ := blocksOf(net)
	for _, b := range blocks {
		in, out := int64(b.in), int64(b.out)
		bytes = sum(bytes, product(8, 5, in, in), product(8, 5, out, out), product(8, 4, in, out))
	}
	return bytes
}
