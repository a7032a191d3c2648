package nn

import "github.com/starling-smc/starling/internal/lanes"

const (
	gramBlock = 128          // rows and columns of a block of sums
	gramRows  = tileExamples // rows of X that a call of the kernels adds
	gramLong  = 1024         // rows whose sums are float32
)

// gram sums outer products of rows x of float32 numbers:
//
//	S = Σ x xᵀ
//
// Sums are float32 over 1,024 rows at most, and float64 between. Their order is that of the rows. S is symmetric: only the blocks of 128×128 on
// and above its diagonal are computed, by the kernels of weight gradients.
//
// The rows of a round of tiles come to places of their own, whichever thread works on a tile. Then threads share the blocks of S. So there are
// no sums of a thread, and none waits for another. If a tile has more rows than S, the rows are not kept: the tile has its own sums, which are
// added to S in the order of the tiles.
type gram struct {
	width, pitch int
	perTile      int // rows of a tile, a multiple of 16
	size         int // of a block
	blocks       [][2]int
	kernels      [2][2]*product // of blocks that are whole or the last, down and across
	sums         []float64      // S, width×width, row-major

	rows  [][]float32 // of the tiles of a round
	tiles [][]float64 // or their sums, block by block
}

func newGram(width, perTile int, sums []float64) *gram {
	g := &gram{width: width, perTile: perTile, sums: sums}
	g.pitch = (width + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
	g.size = min(gramBlock, g.pitch)
	if g.pitch%256 == 0 {
		g.pitch += lanes.Lanes // rows of X at one place of the first-level cache would replace each other
	}
	count := (width + g.size - 1) / g.size
	for i := range count {
		for j := i; j < count; j++ {
			g.blocks = append(g.blocks, [2]int{i, j})
		}
	}
	terms := make([]lanes.Term, gramRows)
	for r := range terms {
		terms[r] = lanes.Term{W: int32(r * g.pitch), X: int32(r * g.pitch)}
	}
	last := width - (count-1)*g.size
	for i, rows := range []int{g.size, last} {
		for j, columns := range []int{g.size, last} {
			g.kernels[i][j] = wgradProduct(rows, g.size, (columns+lanes.Lanes-1)/lanes.Lanes, terms)
		}
	}
	return g
}

// kept reports whether the rows of a tile are kept, and not summed.
func (g *gram) kept() bool { return g.perTile < g.width }

// bytes is the memory of a tile of a round.
func (g *gram) bytes() int {
	if g.kept() {
		return 4 * g.tileRows() * g.pitch
	}
	return 8 * len(g.blocks) * g.size * g.size
}

// tileRows is the rows of a tile, and rows of zeros that make the last call whole.
func (g *gram) tileRows() int { return (g.perTile + gramRows - 1) / gramRows * gramRows }

// reserve makes room for a round of tiles.
func (g *gram) reserve(tiles int) {
	for range tiles {
		if g.kept() {
			g.rows = append(g.rows, lanes.Make(g.tileRows()*g.pitch))
		} else {
			g.tiles = append(g.tiles, make([]float64, len(g.blocks)*g.size*g.size))
		}
	}
}

// add adds gramRows rows to the float32 sums of a block.
func (g *gram) add(block int, x, sums []float32) {
	b, last, kind := g.blocks[block], (g.width-1)/g.size, [2]int{}
	for k := range b {
		if b[k] == last {
			kind[k] = 1
		}
	}
	for _, c := range g.kernels[kind[0]][kind[1]].calls {
		c.plan.Add(x[b[0]*g.size+c.w:], x[b[1]*g.size:], sums[c.d:])
	}
}

// filler takes the rows of a tile, 16 at a time.
type filler struct {
	*gram
	tile int
	at   int       // rows in x
	x    []float32 // the tile's rows, or gramRows of them
	sums []float32 // of all blocks, if the rows are summed
	long int       // rows in sums
}

func (g *gram) filler(tile int) *filler {
	f := &filler{gram: g, tile: tile}
	if g.kept() {
		f.x = g.rows[tile]
		return f
	}
	f.x, f.sums = lanes.Make(gramRows*g.pitch), lanes.Make(len(g.blocks)*g.size*g.size)
	clear(g.tiles[tile])
	return f
}

// next is where the next 16 rows are written, pitch apart. They hold anything.
func (f *filler) next() []float32 {
	if !f.kept() && f.at == gramRows {
		f.sum()
	}
	f.at += lanes.Lanes
	return f.x[(f.at-lanes.Lanes)*f.pitch:][:lanes.Lanes*f.pitch]
}

// sum adds the rows to the tile's sums.
func (f *filler) sum() {
	n := f.size * f.size
	for b := range f.blocks {
		f.add(b, f.x, f.sums[b*n:][:n])
	}
	f.at = 0
	if f.long += gramRows; f.long >= gramLong {
		f.flush()
	}
}

func (f *filler) flush() {
	lanes.AddFloat64s(f.tiles[f.tile], f.sums)
	clear(f.sums)
	f.long = 0
}

// close ends a tile.
func (f *filler) close() {
	clear(f.x[f.at*f.pitch:])
	if !f.kept() {
		f.sum()
		f.flush()
	}
}

// collect adds a block of the sums of the first tiles of a round to S. Blocks may be collected side by side.
func (g *gram) collect(block, tiles int) {
	n := g.size * g.size
	if !g.kept() {
		for _, sums := range g.tiles[:tiles] {
			own := sums[block*n:][:n]
			g.to(block, func(row int, to []float64) {
				for j, v := range own[row*g.size:][:len(to)] {
					to[j] += v
				}
			})
		}
		return
	}
	sums, long := lanes.Make(n), 0
	flush := func() {
		g.to(block, func(row int, to []float64) { lanes.AddFloat64s(to, sums[row*g.size:][:len(to)]) })
		clear(sums)
		long = 0
	}
	for _, rows := range g.rows[:tiles] {
		for at := 0; at < g.tileRows(); at += gramRows {
			g.add(block, rows[at*g.pitch:], sums)
			if long += gramRows; long >= gramLong {
				flush()
			}
		}
	}
	flush()
}

// to calls f for the rows of a block of S.
func (g *gram) to(block int, f func(row int, to []float64)) {
	i, j := g.blocks[block][0]*g.size, g.blocks[block][1]*g.size
	for row := range min(g.size, g.width-i) {
		f(row, g.sums[(i+row)*g.width+j:][:min(g.size, g.width-j)])
	}
}

// finish multiplies S by a factor and fills in the triangle that was left out.
func (g *gram) finish(factor float64) {
	w := g.width
	for i := range w {
		for j := i; j < w; j++ {
			v := float64(g.sums[i*w+j] * factor)
			g.sums[i*w+j], g.sums[j*w+i] = v, v
		}
	}
}
