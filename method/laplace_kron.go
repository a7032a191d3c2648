package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
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
	ground
	blocks []block
}

func newKron(g ground) (form, error) {
	k := &kronForm{ground: g, blocks: blocksOf(g.model.Net())}
	for i := range k.blocks {
		if b := &k.blocks[i]; !b.divide(g.sd) {
			return nil, fmt.Errorf("%s: the widths of the prior of layer %s are no product of a width for each output and one for each input, which structure kron needs: "+
				"take structure: diagonal or full, or a prior with one width for each tensor", pathOfLaplace, b.weight.Name)
		}
	}
	return k, nil
}

// checkKron refuses a network with tensors that have no factors.
func checkKron(net *nn.Net, f *config.Faults) {
	if without := net.Unfactored(); len(without) > 0 {
		t := without[0]
		last, _ := lastLayer(net)
		f.Conflict([]string{pathOfLaplace + ".structure"}, "kron has factors for dense layers, convolutions and low-rank updates, and %s is of another: take structure: diagonal%s",
			t.Name, orLast(net, t.Place != last))
	}
}

func (k *kronForm) measure(ctx context.Context) error {
	all, err := k.model.Factors(ctx, k.at)
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

func (k *kronForm) operations(i int) float64 {
	cube := func(n int) float64 { return float64(n) * float64(n) * float64(n) }
	small, large := k.blocks[i].sizes()
	return float64(4*cube(large)) + float64(60*cube(small))
}

// each calls visit with a factor of N c_j T + τI for each row j of each block, and with the place of its first element among all numbers of
// the blocks, one behind the other. It stops at a block that has none, and returns its layer.
func (k *kronForm) each(tau float64, visit func(b *block, at int, l, m []float64)) (layer string) {
	at, examples := 0, float64(k.model.Examples())
	for n := range k.blocks {
		b := &k.blocks[n]
		l, m := b.room()
		for _, c := range b.values {
			if !b.tri.Cholesky(float64(examples*c), tau, l, m) {
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
	for _, b := range blocksOf(net) {
		in, out := int64(b.in), int64(b.out)
		bytes = sum(bytes, product(8, 4, in, in), product(8, 4, out, out), product(8, 4, in, out))
	}
	return bytes
}
