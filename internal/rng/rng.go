// Package rng gives every random number of a run an address. The number at an address is the same on every machine.
//
// A stream is named by a Key: the run's seed, what the numbers are for, and where in the computation they are used
// (island, iteration, mutation, particle). Number i of a stream is a pure function of key and i. So results do not
// depend on threads, workers or attempts, nor on whether a run was stopped and resumed, and no state of a generator is
// saved.
//
// The function is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011). Its
// 64-bit key is the seed, and its 128-bit counter is the address:
//
//	word 0   purpose   8 bits | island   24 bits
//	word 1   iteration                   32 bits
//	word 2   mutation 12 bits | particle 20 bits
//	word 3   draw: the block within the stream; a block is two 64-bit numbers
//
// Tests freeze all outputs of this package, also the functions of fmath.go and the normals of normal.go: changing one
// bit would change every result of every run.
package rng

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/lanes"
)

// Purpose says what the numbers of a stream are for. The values are part of the format: never renumber.
type Purpose uint8

const (
	Init      Purpose = 1  // parameters drawn from the prior at the start of a sampler
	Resample  Purpose = 2  // choice of ancestors
	Momentum  Purpose = 3  // momenta of Hamiltonian moves
	Accept    Purpose = 4  // Metropolis decisions
	Jitter    Purpose = 5  // random factors of step sizes
	Proposal  Purpose = 6  // noise of random-walk, pCN and friction proposals
	Batch     Purpose = 7  // order of examples in mini-batches
	Start     Purpose = 8  // starting points of point optimisers (MAP restarts)
	Split     Purpose = 9  // division of a data set into train, validate and test
	Noise     Purpose = 10 // noise that is part of a data set
	Order     Purpose = 11 // order in which a schedule adds the examples
	Subset    Purpose = 12 // mini-batch of one trajectory's gradients
	Synthetic Purpose = 14 // generated data: benchmarks and tests
	Tree      Purpose = 15 // directions and choices of a trajectory of NUTS
	Search    Purpose = 16 // momenta of trials that find a step size
	Trial     Purpose = 17 // choice of the particles that such trials copy
	Draw      Purpose = 18 // draws from a distribution that was fitted to parameters
	Dropout   Purpose = 19 // masks of dropout: of the examples of a training step, and of the passes of a prediction
	State     Purpose = 20 // states of a filter before the first scan
	Chain     Purpose = 21 // proposals and decisions of a filter's chain
	Predict   Purpose = 22 // states that a filter pushes through a transition
	Scene     Purpose = 23 // states and measurements of simulated scans
	Hold      Purpose = 24 // measurements that a filter does not see, to judge its predictions
	Restart   Purpose = 25 // seeds of runs that begin again from the prior
	Pilot     Purpose = 26 // seed of the run that chooses the temperatures for others
	Target    Purpose = 27 // targets drawn from a predictive distribution
	Thin      Purpose = 28 // choice of the scans that a page draws of a long stream
	Rows      Purpose = 29 // measurements that a decision of a filter's chain looks at
	Shares    Purpose = 30 // measurements of a scan that each node of a filter has
	Decide    Purpose = 31 // what is learnt from calibration examples: randomised sets, examples held out, the network of wrong answers
	Augment   Purpose = 32 // crops and flips of the images of a training step
	View      Purpose = 33 // seeds of the crops and flips that the gradients of a trajectory see
	Simulate  Purpose = 34 // of simulation-based calibration: parameters, seeds of targets and fits, inputs to predict at, randomised ranks
)

// Key is the address of a stream.
type Key struct {
	Seed      uint64
	Purpose   Purpose
	Island    int // below 2²⁴
	Iteration int // below 2³²
	Mutation  int // below 2¹²
	Particle  int // below 2²⁰
}

// Limits of the fields of a Key. A run that needs more is refused when it is set up, by Check.
const (
	MaxIslands    = 1 << 24
	MaxIterations = 1 << 32
	MaxMutations  = 1 << 12
	MaxParticles  = 1 << 20
)

// Check returns an error that names the field which does not fit its bits.
func (k Key) Check() error {
	for _, f := range [...]struct {
		name       string
		value, max int
	}{
		{"island", k.Island, MaxIslands}, {"iteration", k.Iteration, MaxIterations},
		{"mutation", k.Mutation, MaxMutations}, {"particle", k.Particle, MaxParticles},
	} {
		if f.value < 0 || f.value >= f.max {
			return fmt.Errorf("random stream: %s %d is outside 0…%d", f.name, f.value, f.max-1)
		}
	}
	return nil
}

// Stream returns the stream, at its first number. It panics if a field does not fit its bits: a caller bounds its loops
// with Check beforehand.
func (k Key) Stream() *Stream {
	s := new(Stream) // inlined into the caller, where it stays on the stack
	s.seek(k)
	return s
}

func (s *Stream) seek(k Key) {
	if err := k.Check(); err != nil {
		panic(err.Error())
	}
	if r := opened.Load(); r != nil {
		r.add(k)
	}
	s.key = [2]uint32{uint32(k.Seed), uint32(k.Seed >> 32)}
	s.ctr = [3]uint32{uint32(k.Purpose)<<24 | uint32(k.Island), uint32(k.Iteration), uint32(k.Mutation)<<20 | uint32(k.Particle)}
	s.pos = ahead
}

// ahead is the number of 64-bit numbers that a stream computes at once: two blocks. One block would leave the multipliers
// idle, and a stream of one number would waste more.
const ahead = 4

// lastBlock is the number of blocks of a stream.
const lastBlock = 1 << 32

// Stream is a sequence of random numbers. It is not safe for concurrent use: give each goroutine a key of its own.
type Stream struct {
	key  [2]uint32
	ctr  [3]uint32
	next uint64 // block that refill computes next
	pos  int    // unread numbers are buf[pos:]
	buf  [ahead]uint64
}

// Uint64 returns 64 random bits.
func (s *Stream) Uint64() uint64 {
	if s.pos == ahead {
		s.refill()
	}
	v := s.buf[s.pos&(ahead-1)]
	s.pos++
	return v
}

// refill computes the next two blocks.
func (s *Stream) refill() {
	if s.next >= lastBlock {
		panic("random stream: more than 2³³ numbers drawn from one key")
	}
	a, b := lanes.PhiloxPair(s.ctr, uint32(s.next), uint32(s.next)+1, s.key)
	s.buf = [ahead]uint64{a[0], a[1], b[0], b[1]}
	s.next += 2
	s.pos = 0
}

// Float64 returns a uniform number in [0, 1), a multiple of 2⁻⁵³.
func (s *Stream) Float64() float64 { return float64(float64(s.Uint64()>>11) * 0x1p-53) }

// IntN returns a uniform integer in [0, n), without bias (Lemire 2019). It panics if n ≤ 0.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("random stream: IntN of %d", n))
	}
	return int(s.below(uint64(n)))
}

// Shuffle puts the elements into a uniformly random order (Fisher and Yates).
func Shuffle[T any](s *Stream, x []T) {
	for i := len(x) - 1; i > 0; i-- {
		j := s.below(uint64(i) + 1)
		x[i], x[j] = x[j], x[i]
	}
}

// Perm fills p with a uniformly random permutation of 0 … len(p)−1.
func (s *Stream) Perm(p []int32) {
	for i := range p {
		p[i] = int32(i)
	}
	Shuffle(s, p)
}

// Subset draws k of the numbers 0…n−1 without replacement, all n if k is larger, and returns them in the order of the
// draws. It uses the memory of scratch if that is large enough.
func (s *Stream) Subset(scratch []int32, n, k int) []int32 {
	p := slices.Grow(scratch[:0], n)[:n]
	for i := range p {
		p[i] = int32(i)
	}
	k = min(k, n)
	for i := range k {
		j := i + int(s.below(uint64(n-i)))
		p[i], p[j] = p[j], p[i]
	}
	return p[:k]
}
