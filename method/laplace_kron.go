package method

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// kronForm is the curvature by Kronecker factors, a block N·A⊗G for each layer: A is the mean of the products of its inputs, with the 1 of the
// bias, and G that of the gradients of its outputs (nn.Factor). A prior whose widths are products of a number for each output and one for
// each input, S = S_G⊗S_A with S = Λ^−½, keeps the product in the coordinates of curvature. Of B = S_A A S_A and C = S_G G S_G one has
// eigenvalues c and eigenvectors V, the smaller of the two, say C. Then with B = Q T Qᵀ
//
//	S H S + τI = N·B⊗C + τI = (V⊗Q) blockdiag(N c_j T + τI) (V⊗Q)ᵀ
//
// and each block is tridiagonal, so that nothing else of the larger factor is needed (dense.Tridiagonal). Nothing is left out. A parameter
// of the likelihood is a block by itself. The bias is an input of its own, so it may have another width than the weights.
type kronForm struct {
	examples float64 // N
	threads  *pool.Pool
	blocks   []block
}

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

func newKron(c *curvature) (form, error) {
	k := &kronForm{examples: float64(c.job.Model.Examples()), threads: c.job.Pool}
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
		b.large, b.small = scaled(all[at].A, b.sa), scaled(all[at].G, b.sg)
		if b.out > b.in {
			b.large, b.small = b.small, b.large
		}
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

// negligible is the size of a factor's eigenvalue below 0, for its largest, up to which it counts as 0. Factors are sums in float32.
const negligible = 1e-6

// cut makes the eigenvectors of the smaller factor of a block, and the tridiagonal matrix of the larger one.
func (k *kronForm) cut(i int) error {
	b := &k.blocks[i]
	for _, x := range slices.Concat(b.large, b.small) {
		if x-x != 0 {
			return fmt.Errorf("a Kronecker factor of layer %s is %v: the trained network has values or gradients that are no longer numbers", b.weight.Name, x)
		}
	}
	small, large := b.sizes()
	b.values, b.vectors = dense.Eigen(b.small, small)
	for j, v := range b.values {
		if v < 0 && -v <= negligible*b.values[small-1] {
			b.values[j] = 0
		}
	}
	b.tri = dense.NewTridiagonal(b.large, large, k.threads)
	b.lift()
	b.large, b.small = nil, nil
	return nil
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

func (k *kronForm) operations(i int) float64 {
	cube := func(n int) float64 { return float64(n) * float64(n) * float64(n) }
	small, large := k.blocks[i].sizes()
	return float64(4*cube(large)) + float64(60*cube(small))
}

// each calls visit with a factor of N c_j T + τI for each row j of each block, and with the place of its first element among all numbers of
// the blocks, one behind the other. It stops at a block that has none, and returns its layer.
func (k *kronForm) each(tau float64, visit func(b *block, at int, l, m []float64)) (layer string) {
	at := 0
	for n := range k.blocks {
		b := &k.blocks[n]
		l, m := b.room()
		for _, c := range b.values {
			if !b.tri.Cholesky(float64(k.examples*c), tau, l, m) {
				return b.weight.Name
			}
			visit(b, at, l, m)
			at += len(l)
		}
	}
	return ""
}

func (k *kronForm) fault(tau float64) (layer string) {
	return k.each(tau, func(*block, int, []float64, []float64) {})
}

func (k *kronForm) logDet(tau float64) (sum float64) {
	k.each(tau, func(_ *block, _ int, l, _ []float64) {
		for _, x := range l {
			sum += 2 * rng.Log(x)
		}
	})
	return sum
}

// draw is V Z with the rows Q L_j⁻ᵀ ξ_j of Z.
func (k *kronForm) draw(tau float64, xi, to []float64) {
	z := k.take(xi)
	k.each(tau, func(b *block, at int, l, m []float64) {
		row := z[at : at+len(l)]
		for i := len(l) - 1; i >= 0; i-- {
			if i < len(m) {
				row[i] -= float64(m[i] * row[i+1])
			}
			row[i] /= l[i]
		}
		b.tri.Mul(row)
	})
	k.turn(z, func(b *block, small int) []float64 { return b.vectors })
	k.put(to, z)
}

// whiten has the rows L_j⁻¹ Qᵀ x_j, of Vᵀ X.
func (k *kronForm) whiten(tau float64, x, to []float64) {
	z := k.take(x)
	k.turn(z, func(b *block, small int) []float64 { return transposed(b.vectors, small) })
	k.each(tau, func(b *block, at int, l, m []float64) {
		row := z[at : at+len(l)]
		b.tri.MulT(row)
		for i := range row {
			if i > 0 {
				row[i] -= float64(m[i-1] * row[i-1])
			}
			row[i] /= l[i]
		}
	})
	k.put(to, z)
}

// turn multiplies each block of z by a matrix from the left.
func (k *kronForm) turn(z []float64, by func(b *block, small int) []float64) {
	for n := range k.blocks {
		b := &k.blocks[n]
		small, large := b.sizes()
		here := z[:small*large]
		dense.Mul(here, by(b, small), slices.Clone(here), small)
		z = z[len(here):]
	}
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

// take lists the elements of the blocks in x one behind the other, and put puts them back.
func (k *kronForm) take(x []float64) (z []float64) {
	for n := range k.blocks {
		k.blocks[n].each(func(_, place int) { z = append(z, x[place]) })
	}
	return z
}

func (k *kronForm) put(x, z []float64) {
	for n := range k.blocks {
		b := &k.blocks[n]
		b.each(func(at, place int) { x[place] = z[at] })
		z = z[b.in*b.out:]
	}
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

func (k *kronForm) save(e *ckpt.Encoder) {
	for i, b := range k.blocks {
		for _, part := range b.parts() {
			e.Float64s(fmt.Sprint(part.name, i), *part.values)
		}
	}
}

func (k *kronForm) restore(d *ckpt.Decoder, steps int) {
	for i := range k.blocks {
		b := &k.blocks[i]
		if steps > i+1 {
			b.tri = new(dense.Tridiagonal)
		}
		for _, part := range b.parts() {
			want := 0
			if part.cut == (steps > i+1) && steps > 0 {
				want = part.size
			}
			if *part.values = d.Float64s(fmt.Sprint(part.name, i)); len(*part.values) != want {
				d.Fail("factors of layer %s of other sizes than the network's", b.weight.Name)
			}
		}
	}
}

// kronBytes estimates the memory of the factors: as the pass makes them, scaled, with their eigenvectors, and packed.
func kronBytes(net *nn.Net) (bytes int64) {
	blocks, _ := blocksOf(net)
	for _, b := range blocks {
		in, out := int64(b.in), int64(b.out)
		bytes = sum(bytes, product(8, 4, in, in), product(8, 4, out, out), product(8, 4, in, out))
	}
	return bytes
}
