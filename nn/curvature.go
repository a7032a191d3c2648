package nn

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/regular"
)

// Curvature of the log-likelihood at one θ: the generalised Gauss-Newton matrix of −Σ_i log p(y_i | x_i, θ) (Schraudolph 2002, "Fast curvature
// matrix-vector products for second-order gradient descent"),
//
//	GGN = Σ_i J_iᵀ H_i J_i,   H_i = R_i R_iᵀ
//
// J_i is the Jacobian of the outputs of example i in θ, [K, D], and H_i the Hessian of −log p in the outputs or, for likelihoods where that may
// be negative, its mean over y (see informed). R_i is a root of H_i with a column for each class or value. It is exact: no labels are drawn.
//
// An example goes forward once. Then it goes back once for each column r of R_i, by the ops' own backward: the loss sets r in place of the
// gradient of the outputs, so that the gradient of θ is J_iᵀ r. What the way back leaves differs by the call:
//
//	Factors              nothing but the gradients of values, which tape.watch sees beside the inputs of the layers
//	GaussNewton          a row J_iᵀ r for each example (tape.rows), whose outer products are summed
//	GaussNewtonDiagonal  the squares of the examples' gradients, summed as gradients are (tape.squares)
//
// Ops sum the gradients of examples by lane. So in a pass of one group each lane has the gradient of one example, and only dense layers, whose
// products sum over examples, do something of their own (denseOp.singles). All calls have a program of their own, in which no op computes a layer
// behind its own (compileApart): so ways back can follow each other, and each layer has the gradient of its own output.
//
// Tiles of a round are worked on side by side, and leave what is theirs alone. It is added in the order of the tiles. A round has as many tiles
// as the network decides, whatever the threads, which thus have no influence.

// informed is a likelihood that has the curvature of −log p in the outputs. H = R Rᵀ is the Hessian or, where that depends on y and may be
// negative, the Fisher information of y in the outputs, which is its mean: the natural gradient's matrix (Martens 2020, "New insights and
// perspectives on the natural gradient method", section 9.2).
type informed interface {
	// roots is the number of columns of R for a network with that many outputs.
	roots(outputs int) int

	// root sets dz to column c of R for the outputs z of each lane, [outputs][16].
	root(t *tape, c int, z, dz []float32)

	// information is that of the targets of an example about the likelihood's own parameters, the diagonal of a block of the matrix: they have
	// no covariance with the outputs. It is of no use where there are none.
	information(outputs int) []float64
}

// curving is one call of a method of curvature.
type curving struct {
	m       *Model // with the program apart
	theta   []float32
	lik     informed
	columns int
}

// CheckCurvature refuses a network whose likelihood has no curvature.
func (n *Net) CheckCurvature() error {
	if _, ok := n.lik.(informed); !ok {
		return fmt.Errorf("the likelihood %s has no Gauss-Newton matrix: −log p of a target may curve downwards in the outputs; take categorical, bernoulli or gaussian", n.lik)
	}
	return nil
}

// curve begins a call at one θ.
func (m *Model) curve(theta []float64) (*curving, error) {
	if len(theta) != m.net.dim {
		panic(fmt.Sprintf("nn: curvature at %d parameters for D = %d", len(theta), m.net.dim))
	}
	if _, err := m.count(nil); err != nil {
		return nil, err
	}
	if err := m.net.CheckCurvature(); err != nil {
		return nil, err
	}
	own, lik := *m, m.net.lik.(informed)
	own.prog = m.net.apart()
	c := &curving{m: &own, theta: make([]float32, m.net.dim), lik: lik, columns: lik.roots(m.net.Outputs())}
	lanes.Float32s(c.theta, theta)
	return c, nil
}

const (
	roundBytes = 32 << 20 // of what the tiles of a round leave
	leastRound = 4        // tiles
	mostRound  = 16
)

// rounds takes the examples through work, tile by tile, side by side for the tiles of a round, and calls sum behind each round. perTile is the
// bytes that a tile leaves, and reserve makes room for a round of tiles.
func (c *curving) rounds(ctx context.Context, perTile int, reserve func(tiles int), work func(t *tape, tile, first, count int), sum func(tiles int)) (err error) {
	defer regular.Caught(&err)
	n := c.m.set.Len()
	all := (n + tileExamples - 1) / tileExamples
	round := min(all, mostRound, max(leastRound, roundBytes/max(1, perTile)))
	reserve(round)
	for at := 0; at < all && ctx.Err() == nil; at += round {
		tiles := min(round, all-at)
		c.m.pool.Run(tiles, func(i int) {
			if ctx.Err() != nil {
				return
			}
			t := c.m.prog.spare.tape(c.m.prog)
			defer c.m.prog.spare.returnTape(t)
			t.use(c.theta, c.m.psi, c.m.net.constants)
			t.first, t.batch, t.back = 0, 1, true
			first := (at + i) * tileExamples
			work(t, i, first, min(tileExamples, n-first))
		})
		sum(tiles)
	}
	return ctx.Err()
}

// back sets the gradient of the outputs of groups g0 ≤ g < g1 to a column of R, and goes back.
func (c *curving) back(t *tape, column, g0, g1 int) {
	out := c.m.prog.out
	for g := g0; g < g1; g++ {
		dz := t.dy(out, g, 0)
		c.lik.root(t, column, t.out(out, g, 0), dz)
		if g == t.groups-1 && t.valid < lanes.Lanes {
			lanes.MaskLanes(dz, t.valid)
		}
	}
	c.m.prog.runBack(t, stageConv, stageDense, g0, g1)
}
