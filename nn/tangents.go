package nn

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/regular"
)

// Tangents sets out[(j·n+i)·K+k] to the derivative of output k along direction j for the i-th of n examples: rows, or all if nil,
//
//	Σ_d ∂f_k(x_i)/∂θ_d direction_j[d],   direction_j = directions[j·D:(j+1)·D]
//
// at the one θ, by forward differentiation (Wengert 1964, "A simple automatic derivative evaluation program"): each op computes the move of its
// output from those of its inputs and parameters (tangential), once for each direction. The way forward is gone once a tile, and leaves
// what the way back would need. Dropout layers are left out. An error names a bad row, or a layer without tangent, or is that of ctx.
func (m *Model) Tangents(ctx context.Context, rows []int32, theta, directions []float64, out []float32) (err error) {
	defer regular.Caught(&err)
	n, err := m.count(rows)
	if err != nil {
		return err
	}
	d, k := m.net.dim, m.net.Outputs()
	j := len(directions) / d
	if len(theta) != d || len(directions) != j*d || len(out) != j*n*k {
		panic(fmt.Sprintf("nn: Tangents: %d parameters, %d numbers of directions, %d outputs for D = %d, n = %d, K = %d", len(theta), len(directions), len(out), d, n, k))
	}
	own := *m
	own.prog = m.net.apart()
	p := own.prog
	if still := m.net.compiled.still; still != nil {
		return fmt.Errorf("layer %s has no tangent, so that outputs cannot be linearised: want predict: draws", kind(still.layer))
	}
	at, along := make([]float32, d), make([]float32, len(directions))
	lanes.Float32s(at, theta)
	lanes.Float32s(along, directions)
	m.pool.Run((n+tileExamples-1)/tileExamples, func(i int) {
		if ctx.Err() != nil {
			return
		}
		t := p.spare.tape(p)
		defer p.spare.returnTape(t)
		t.use(at, m.psi, m.net.constants)
		t.first, t.batch, t.back = 0, 1, true
		if t.moves == nil {
			t.moves, t.aside = lanes.Make(p.actSize), lanes.Make(p.widest()*tileGroups)
		}
		first := i * tileExamples
		count := min(tileExamples, n-first)
		own.load(t, nil, rows, first, count)
		p.forward(t, func(g0, g1 int) {
			for to := range j {
				t.along = along[to*d:][:d]
				p.tangent(t, g0, g1)
				for e := g0 * lanes.Lanes; e < min(count, g1*lanes.Lanes); e++ {
					z, row := t.move(p.out, e/lanes.Lanes), out[((to*n)+first+e)*k:][:k]
					for o := range row {
						row[o] = z[o*lanes.Lanes+e%lanes.Lanes]
					}
				}
			}
		})
	})
	return ctx.Err()
}

// tangent is run for moves.
func (p *program) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		for _, o := range p.ops[stageConv] {
			if o.output() != nil {
				o.(tangential).tangent(t, g, g+1)
			}
		}
	}
	for _, o := range p.ops[stageDense] {
		if o.output() != nil {
			o.(tangential).tangent(t, g0, g1)
		}
	}
}

// widest is the size of the largest output of the particles' ops.
func (p *program) widest() (size int) {
	for _, s := range []stage{stageConv, stageDense} {
		for _, o := range p.ops[s] {
			if v := o.output(); v != nil {
				size = max(size, v.size())
			}
		}
	}
	return size
}
