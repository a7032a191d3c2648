package nn

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/lanes"
)

// GaussNewton sets h, D×D and row-major, to the Gauss-Newton matrix of all examples at one θ (curvature.go). An error names a likelihood without
// curvature, or is that of ctx.
func (m *Model) GaussNewton(ctx context.Context, theta, h []float64) error {
	c, err := m.curve(theta)
	if err != nil {
		return err
	}
	d := m.net.dim
	if len(h) != d*d {
		panic(fmt.Sprintf("nn: GaussNewton: %d numbers for D = %d", len(h), d))
	}
	clear(h)
	sums := newGram(d, tileExamples*c.columns, h)
	err = c.rounds(ctx, sums.bytes(), sums.reserve, func(t *tape, tile, first, count int) {
		f := sums.filler(tile)
		t.pitch = f.pitch
		c.singles(t, first, count, func(column int) {
			t.rows = f.next()
			clear(t.rows)
			c.single(t, column)
		})
		f.close()
	}, func(tiles int) {
		m.pool.Run(len(sums.blocks), func(b int) { sums.collect(b, tiles) })
	})
	sums.finish(1)
	c.own(func(at int, v float64) { h[at*d+at] = v })
	return err
}

// GaussNewtonDiagonal sets d, of length D, to the diagonal of what GaussNewton sets.
func (m *Model) GaussNewtonDiagonal(ctx context.Context, theta, d []float64) error {
	c, err := m.curve(theta)
	if err != nil {
		return err
	}
	if len(d) != m.net.dim {
		panic(fmt.Sprintf("nn: GaussNewtonDiagonal: %d numbers for D = %d", len(d), m.net.dim))
	}
	clear(d)
	own, sums := &c.m.prog.own, [][]float32{}
	reserve := func(tiles int) {
		for range tiles {
			sums = append(sums, lanes.Make(own.size))
		}
	}
	err = c.rounds(ctx, 4*own.size, reserve, func(t *tape, tile, first, count int) {
		clear(sums[tile])
		t.grads, t.squares = sums[tile], true
		c.singles(t, first, count, func(column int) { c.single(t, column) })
	}, func(tiles int) {
		for _, s := range sums[:tiles] {
			own.flush(s, d)
		}
	})
	c.own(func(at int, v float64) { d[at] = v })
	return err
}

// singles takes a tile forward, a group at a time as if it were the whole tile, and calls back for each column of its examples.
func (c *curving) singles(t *tape, first, count int, back func(column int)) {
	for at := 0; at < count; at += lanes.Lanes {
		c.m.load(t, nil, nil, first+at, min(lanes.Lanes, count-at))
		c.m.prog.run(t, stageConv, stageDense, 0, 1)
		for column := range c.columns {
			back(column)
		}
	}
}

// single goes back from a column of the group's examples. The sums by lane are their gradients.
func (c *curving) single(t *tape, column int) {
	clear(t.lane)
	c.back(t, column, 0, 1)
	c.m.prog.finish(t, stageConv, stageDense)
}

// own calls set with the place in θ of each of the likelihood's own parameters, and the information of all examples about it.
func (c *curving) own(set func(at int, v float64)) {
	own := c.lik.information(c.m.net.Outputs())
	for _, t := range c.m.net.Random() {
		if t.Kind == Own {
			set(t.Offset, float64(float64(c.m.set.Len())*own[0]))
			own = own[1:]
		}
	}
}
