package nn

import (
	"context"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Masks names the dropout masks of a training step. The mask of an example is a function of these fields and of the example's
// index: neither the batch nor the threads have an influence.
type Masks struct {
	Seed    uint64
	Restart int // of a search for point estimates; below 2²⁰
	Epoch   int // counted from 1, below 2³²; an example has one mask in an epoch
}

// key is the address of an example's mask. Epoch 0 is for the passes of a prediction.
func (m Masks) key(example int) rng.Key {
	return rng.Key{
		Seed: m.Seed, Purpose: rng.Dropout, Iteration: m.Epoch, Particle: m.Restart,
		Island: example % rng.MaxIslands, Mutation: example / rng.MaxIslands,
	}
}

// MaxPasses is the number of passes that have a mask of their own.
const MaxPasses = rng.MaxIslands

// drop is a dropout layer at its place in a network.
type drop struct {
	rate   float64
	size   int // values of an example
	at     int // the first of them among the values of all dropout layers
	weight int // the next dense layer's weight, in Net.tensors
}

// scale is the factor of the values that a mask keeps.
func (d drop) scale() float64 { return 1 / (1 - d.rate) }

// keep draws the mask of the values i … i+63 of an example: a bit for each, 1 if it is kept.
func (d drop) keep(s *rng.Stream) uint64 { return ^s.Bernoulli(d.rate) }

// feed notes the dense layers behind the dropout layers of a chain.
func (b *builder) feed(chain []node) {
	for i := range chain {
		if _, ok := chain[i].layer.(Dropout); !ok {
			continue
		}
		next := i + 1
		for len(chain[next].params) == 0 {
			next++
		}
		b.net.drops[chain[i].drop].weight = chain[next].params[0]
	}
}

// Dropout reports whether the network has dropout layers.
func (n *Net) Dropout() bool { return len(n.drops) > 0 }

// LogLikDropout is LogLik in a training step: dropout layers mask their inputs, each example's by a mask of its own, which all
// particles share. It is LogLik if the network has no dropout layer, or each has rate 0.
func (m *Model) LogLikDropout(ctx context.Context, masks Masks, rows []int32, theta, ll, grad []float64) error {
	training := *m
	training.prog = m.net.training()
	return training.logLik(ctx, masks, rows, theta, ll, grad)
}

// Pass changes θ to the network of a pass of Monte Carlo dropout (Gal and Ghahramani 2016): the inputs of the dense layers behind
// dropout layers are masked. It draws one mask for each dropout layer, named by seed and pass (0 ≤ pass < MaxPasses), for all
// examples. So a pass is a network like any other: the mask is part of its weights.
func (n *Net) Pass(theta []float64, seed uint64, pass int) {
	n.mask(theta, rng.Key{Seed: seed, Purpose: rng.Dropout, Island: pass}.Stream())
}

// mask multiplies the columns of weights that read masked values.
func (n *Net) mask(theta []float64, s *rng.Stream) {
	for _, d := range n.drops {
		t := n.tensors[d.weight]
		w := theta[t.Offset:][:t.Size]
		for first := 0; first < d.size; first += 64 {
			kept := d.keep(s)
			for i := first; i < min(first+64, d.size); i++ {
				factor := 0.
				if kept>>(i-first)&1 == 1 {
					factor = d.scale()
				}
				for at := i; at < len(w); at += d.size {
					w[at] *= factor
				}
			}
		}
	}
}

// draw sets the masks of the tile's examples, layer by layer and group by group, with a bit for each lane.
func (t *tape) draw(masks Masks, drops []drop) {
	if len(t.kept) == 0 {
		return
	}
	for g := range t.groups {
		var streams [lanes.Lanes]rng.Stream
		for l := range streams {
			streams[l] = *masks.key(t.examples[g*lanes.Lanes+l]).Stream()
		}
		for _, d := range drops {
			to := t.keptIn(d, g)
			for len(to) > 0 {
				var kept [lanes.Lanes]uint64
				for l := range kept {
					kept[l] = d.keep(&streams[l])
				}
				transpose(&kept)
				n := min(64, len(to))
				for i := range n {
					to[i] = uint16(kept[i%16] >> (i / 16 * 16))
				}
				to = to[n:]
			}
		}
	}
}

// keptIn is the masks of a dropout layer in group g.
func (t *tape) keptIn(d drop, g int) []uint16 { return t.kept[tileGroups*d.at+g*d.size:][:d.size] }

// transpose transposes the four 16×16 blocks of bits side by side: bit 16q+i of word l becomes bit 16q+l of word i.
func transpose(w *[16]uint64) {
	for _, step := range [...]struct {
		by   int
		mask uint64 // of the columns whose number has no bit by
	}{{8, 0x00ff00ff00ff00ff}, {4, 0x0f0f0f0f0f0f0f0f}, {2, 0x3333333333333333}, {1, 0x5555555555555555}} {
		for i := range w {
			if j := i | step.by; i != j {
				swap := (w[i]>>step.by ^ w[j]) & step.mask
				w[j] ^= swap
				w[i] ^= swap << step.by
			}
		}
	}
}
