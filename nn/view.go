package nn

import "github.com/starling-smc/starling/internal/rng"

// View names what a training step sees of its examples: the masks of dropout layers, and the changes of images (data.Augment). Those of an
// example are a function of these fields and of the example's index: neither the batch nor the threads have an influence.
type View struct {
	Seed    uint64
	Restart int // of a search for point estimates; below 2²⁰
	Epoch   int // counted from 1, below 2³²; an example is seen in one way in an epoch
}

// stream is the random numbers of an example, of its masks or of its change. Masks of epoch 0 are for the passes of a prediction.
func (v View) stream(purpose rng.Purpose, example int) *rng.Stream {
	return v.key(purpose, example).Stream()
}

func (v View) key(purpose rng.Purpose, example int) rng.Key {
	return rng.Key{
		Seed: v.Seed, Purpose: purpose, Iteration: v.Epoch, Particle: v.Restart,
		Island: example % rng.MaxIslands, Mutation: example / rng.MaxIslands,
	}
}

// MaxPasses is the number of passes that have masks of their own.
const MaxPasses = rng.MaxIslands

// pass is the random numbers of the masks of a pass.
func pass(seed uint64, n int) *rng.Stream {
	return rng.Key{Seed: seed, Purpose: rng.Dropout, Island: n}.Stream()
}

// drop is a dropout layer at its place in a network.
type drop struct {
	rate   float64
	size   int // values of an example
	at     int // the first of them among the values of all dropout layers
	weight int // the next dense layer's weight, in Net.tensors
}

// scale is the factor of the values that a mask keeps.
func (d *drop) scale() float64 { return 1 / (1 - d.rate) }

// keep draws the mask of the next 64 values of an example: a bit for each, 1 if it is kept.
func (d *drop) keep(s *rng.Stream) uint64 { return ^s.Bernoulli(d.rate) }

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
