package smc

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// State is everything that a run needs to resume, as plain data. A Sampler with the same settings steps the same State to the
// same bytes, on any machine and with any number of threads.
type State struct {
	mcmc.Population // particles, with values cached at their positions

	K      int       // iterations made
	Memory []int     // of the path: numbers of iterations, from 0 to K
	Stage            // the present target
	LogW   []float64 // J, log-weights, normalised
	LogZ   float64   // log-evidence so far; 0 for chains
	Roots  []int32   // J, the first ancestor of every particle, at k = 0
	Parted int       // 1: the moves of the last iteration ended when the particles had travelled, so that copies have parted
	Tuning []float64 // values that the move adapts

	Genealogy  Genealogy // the error of LogZ, from the families of the particles
	LadderBias float64   // by how much steps of the path that the particles decide have moved LogZ, an estimate; 0: no such steps; NaN: unknown

	Examples  int // N of the model
	Spent     int // examples that moves evaluated for a particle: N times the epochs. A move adds the largest number over the particles
	Gradients int // evaluations of value and gradient in examples, over all particles, the first included
	Values    int // evaluations of the value alone, likewise

	Psi     []float64  // parameters that all particles share; empty where the model learns none
	Moments nn.Moments // of the optimiser that moves them

	Late     int       // iterations in the second half of the budget, for moves whose cost varies
	Kept     []float64 // states kept along the way, n×D: all particles of one time, then all of the next; without those moved to files
	Shards   []Shard   // the files to which the first of them were moved
	KeptLL   []float64 // n, their log-likelihoods
	KeptLogW []float64 // n, their log-weights, normalised at each time; empty: equal
	KeptPsi  []float64 // ψ of each time

	BestK     int       // the iteration of the best state by Sampler.Judge, counted from 1; 0: none was judged
	BestLoss  float64   // its loss
	BestTheta []float64 // J×D
	BestLogW  []float64 // J
	BestPsi   []float64
}

// Shard is a file to which kept states were moved: of which vectors, and the SHA-256 of the file.
type Shard struct {
	Vectors int
	Sum     [sha256.Size]byte
}

// Unload moves the states in Kept to a file, which has this sum. Their log-likelihoods, weights and ψ stay.
func (st *State) Unload(sum [sha256.Size]byte) {
	st.Shards = append(slices.Clip(st.Shards), Shard{len(st.Kept) / st.D, sum})
	st.Kept = nil
}

// Unloaded is the number of vectors that were moved to files.
func (st *State) Unloaded() (n int) {
	for _, s := range st.Shards {
		n += s.Vectors
	}
	return n
}

// Kept is the ensemble of a run: n = T·J parameter vectors of the T times at which states were kept, time after time.
type Kept struct {
	Times int       // T
	Theta []float64 // n×D, row-major; without the vectors that lie in files (State.Shards), which come first
	LogW  []float64 // n, log-weights, normalised over all times; nil: equal
	Psi   []float64 // T rows of the parameters that the particles of a time share; empty where the model learns none
}

// Ensemble returns what stands for the posterior at the end of a run: the best state if states were judged, else the states kept
// along the way if there are any, else the particles. The slices share memory with st.
func (st *State) Ensemble() Kept {
	switch {
	case st.BestK > 0:
		return Kept{Times: 1, Theta: st.BestTheta, LogW: st.BestLogW, Psi: st.BestPsi}
	case len(st.KeptLL) > 0:
		kept := Kept{Times: len(st.KeptLL) / st.J, Theta: st.Kept, Psi: st.KeptPsi}
		if len(st.KeptLogW) > 0 {
			kept.LogW = slices.Clone(st.KeptLogW)
			for i := range kept.LogW {
				kept.LogW[i] -= rng.Log(float64(kept.Times))
			}
		}
		return kept
	}
	return Kept{Times: 1, Theta: st.Theta, LogW: st.LogW, Psi: st.Psi}
}

// stale reports whether ψ has moved since the particles were evaluated. It moves at the end of every iteration that learns.
func (st *State) stale() bool { return st.Moments.Steps > 0 }

// Epochs is the number of passes over all examples that the moves of each particle have made.
func (st *State) Epochs() float64 { return float64(st.Spent) / float64(max(1, st.Examples)) }

// copy makes st a deep copy of s, except for the kept states and the best one, which are only appended to or replaced and stay
// shared.
func (st *State) copy(s *State) {
	p, logw, roots, tuning, psi, moments, genealogy := st.Population, st.LogW, st.Roots, st.Tuning, st.Psi, st.Moments, st.Genealogy
	if !p.Like(&s.Population) {
		p = s.Population.Blank()
	}
	p.Copy(&s.Population)
	*st = *s
	st.Population = p
	st.LogW = append(logw[:0], s.LogW...)
	st.Roots = append(roots[:0], s.Roots...)
	st.Tuning = append(tuning[:0], s.Tuning...)
	st.Psi = append(psi[:0], s.Psi...)
	moments.Copy(&s.Moments)
	st.Moments = moments
	genealogy.copy(&s.Genealogy)
	st.Genealogy = genealogy
	st.Memory = slices.Clone(s.Memory)
}

// maxMemory is the largest number of numbers that a path may remember.
const maxMemory = 64

const stateKind = "smc.State/10"

// MarshalBinary packs the state into a container of internal/ckpt. It never fails.
func (st *State) MarshalBinary() ([]byte, error) { return st.encoder().Encode(), nil }

// WriteTo writes the bytes of MarshalBinary. Its errors come from w.
func (st *State) WriteTo(w io.Writer) (int64, error) { return st.encoder().WriteTo(w) }

func (st *State) encoder() *ckpt.Encoder {
	e := ckpt.NewEncoder(stateKind)
	e.Ints("counts", st.J, st.D, st.K, len(st.Memory), st.Examples, st.Spent, st.Gradients, st.Values, st.Late, st.Moments.Steps, st.BestK, st.Parted)
	e.Ints("memory", st.Memory...)
	e.Ints("rows", st.Rows.From, st.Rows.To, st.Annealed)
	e.Float64s("scalars", []float64{st.Lambda, st.Mu, st.LogZ, st.BestLoss, st.LadderBias})
	for _, a := range st.arrays() {
		e.Float64s(a.name, *a.data)
	}
	e.Int32s("roots", st.Roots)
	e.Int32s("folds", st.Fold)
	st.Genealogy.encode(e)
	var vectors, sums = make([]int, 0, len(st.Shards)), make([]byte, 0, len(st.Shards)*sha256.Size)
	for _, s := range st.Shards {
		vectors, sums = append(vectors, s.Vectors), append(sums, s.Sum[:]...)
	}
	e.Ints("shards", vectors...)
	e.Bytes("shard sums", sums)
	return e
}

func decodeShards(d *ckpt.Decoder) (shards []Shard) {
	sums := d.Bytes("shard sums")
	if len(sums)%sha256.Size != 0 {
		d.Fail("section %q has %d bytes, not a multiple of %d", "shard sums", len(sums), sha256.Size)
		return nil
	}
	if len(sums) > 0 {
		shards = make([]Shard, len(sums)/sha256.Size)
	}
	vectors := make([]*int, len(shards))
	for i := range shards {
		vectors[i], shards[i].Sum = &shards[i].Vectors, [sha256.Size]byte(sums[i*sha256.Size:])
	}
	d.Ints("shards", vectors...)
	return shards
}

// UnmarshalBinary is the inverse of MarshalBinary. It refuses damaged bytes and shapes that do not fit each other.
func (st *State) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, stateKind)
	if err != nil {
		return err
	}
	var s State
	var remembered int
	d.Ints("counts", &s.J, &s.D, &s.K, &remembered, &s.Examples, &s.Spent, &s.Gradients, &s.Values, &s.Late, &s.Moments.Steps, &s.BestK, &s.Parted)
	if remembered < 0 || remembered > maxMemory {
		d.Fail("%d numbers that the path remembers: want 0 to %d", remembered, maxMemory)
	} else if remembered > 0 {
		s.Memory = make([]int, remembered)
	}
	memory := make([]*int, len(s.Memory))
	for i := range memory {
		memory[i] = &s.Memory[i]
	}
	d.Ints("memory", memory...)
	d.Ints("rows", &s.Rows.From, &s.Rows.To, &s.Annealed)
	if scalars := d.Float64s("scalars"); len(scalars) == 5 {
		s.Lambda, s.Mu, s.LogZ, s.BestLoss, s.LadderBias = scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]
	} else {
		d.Fail("%d scalars, not 5", len(scalars))
	}
	for _, a := range s.arrays() {
		*a.data = d.Float64s(a.name)
	}
	s.Roots = d.Int32s("roots")
	s.Fold = d.Int32s("folds")
	s.Genealogy.decode(d)
	s.Shards = decodeShards(d)
	if err := d.Err(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	*st = s
	return nil
}

type array struct {
	name string
	data *[]float64
}

func (st *State) arrays() []array {
	return []array{
		{"theta", &st.Theta}, {"ll", &st.LL}, {"grad_ll", &st.GradLL}, {"lp", &st.LP},
		{"annealed_ll", &st.AnnealedLL}, {"annealed_grad", &st.AnnealedGrad}, {"momentum", &st.Momentum},
		{"logw", &st.LogW}, {"tuning", &st.Tuning}, {"kept", &st.Kept}, {"kept_ll", &st.KeptLL},
		{"kept_logw", &st.KeptLogW}, {"kept_psi", &st.KeptPsi}, {"psi", &st.Psi}, {"first", &st.Moments.First}, {"second", &st.Moments.Second},
		{"best_theta", &st.BestTheta}, {"best_logw", &st.BestLogW}, {"best_psi", &st.BestPsi},
	}
}

// check refuses shapes that do not fit each other.
func (st *State) check() error {
	j, d := st.J, st.D
	if j < 1 || d < 1 || len(st.Theta)/d != j || len(st.Theta)%d != 0 {
		return fmt.Errorf("state of %d particles of %d parameters holds %d numbers", j, d, len(st.Theta))
	}
	for i, s := range st.Shards {
		if s.Vectors < 1 || s.Vectors > len(st.KeptLL) {
			return fmt.Errorf("state moved %d vectors to file %d", s.Vectors, i)
		}
	}
	for _, a := range []struct {
		name string
		got  int
		ok   bool
	}{
		{"log-likelihoods", len(st.LL), len(st.LL) == j},
		{"gradients of the likelihood", len(st.GradLL), len(st.GradLL) == 0 || len(st.GradLL) == len(st.Theta)},
		{"log-priors", len(st.LP), len(st.LP) == j},
		{"log-likelihoods of annealed examples", len(st.AnnealedLL), len(st.AnnealedLL) == 0 || len(st.AnnealedLL) == j},
		{"gradients of annealed examples", len(st.AnnealedGrad), len(st.AnnealedGrad) == 0 || len(st.AnnealedLL) == j && len(st.AnnealedGrad) == len(st.GradLL)},
		{"momenta", len(st.Momentum), len(st.Momentum) == 0 || len(st.Momentum) == len(st.Theta)},
		{"numbers that the path remembers", len(st.Memory), len(st.Memory) <= maxMemory},
		{"log-weights", len(st.LogW), len(st.LogW) == j},
		{"first ancestors", len(st.Roots), len(st.Roots) == j},
		{"folds", len(st.Fold), len(st.Fold) == j},
		{"states kept", len(st.Kept), len(st.Kept)%d == 0 && len(st.Kept)/d+st.Unloaded() == len(st.KeptLL) && len(st.KeptLL)%j == 0},
		{"log-weights of states kept", len(st.KeptLogW), len(st.KeptLogW) == 0 || len(st.KeptLogW) == len(st.KeptLL)},
		{"learned parameters of states kept", len(st.KeptPsi), len(st.KeptPsi) == len(st.KeptLL)/j*len(st.Psi)},
		{"moments of learned parameters", len(st.Moments.First), len(st.Moments.First) == 0 || len(st.Moments.First) == len(st.Psi)},
		{"second moments of learned parameters", len(st.Moments.Second), len(st.Moments.Second) == 0 || len(st.Moments.Second) == len(st.Psi)},
		{"parameters of the best state", len(st.BestTheta), len(st.BestTheta) == len(st.Theta)*min(st.BestK, 1)},
		{"log-weights of the best state", len(st.BestLogW), len(st.BestLogW) == j*min(st.BestK, 1)},
		{"learned parameters of the best state", len(st.BestPsi), len(st.BestPsi) == len(st.Psi)*min(st.BestK, 1)},
	} {
		if !a.ok {
			return fmt.Errorf("state of %d particles of %d parameters has %d %s", j, d, a.got, a.name)
		}
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"iterations", st.K}, {"examples of the model", st.Examples},
		{"examples evaluated for each particle", st.Spent}, {"gradients evaluated", st.Gradients}, {"values evaluated", st.Values},
		{"late iterations", st.Late}, {"steps of the learned parameters", st.Moments.Steps}, {"iterations before the best", st.BestK},
	} {
		if c.n < 0 {
			return fmt.Errorf("state counts %d %s", c.n, c.name)
		}
	}
	for _, k := range st.Memory {
		if k < 0 || k > st.K {
			return fmt.Errorf("state remembers iteration %d, of %d iterations in all", k, st.K)
		}
	}
	switch {
	case st.Parted != 0 && st.Parted != 1:
		return fmt.Errorf("state says %d of whether particles have parted: want 0 or 1", st.Parted)
	case st.BestK > st.K:
		return fmt.Errorf("state has its best in iteration %d, of %d iterations in all", st.BestK, st.K)
	case st.Annealed < 0 || st.Annealed > st.Rows.From || st.Rows.From > st.Rows.To:
		return fmt.Errorf("state has %d examples annealed in and a batch from %d to %d: want 0 ≤ annealed in ≤ from ≤ to",
			st.Annealed, st.Rows.From, st.Rows.To)
	case st.Annealed > 0 && st.AnnealedLL == nil:
		return fmt.Errorf("state has %d examples annealed in, but no log-likelihoods of them", st.Annealed)
	}
	for _, r := range st.Roots {
		if r < 0 || int(r) >= j {
			return fmt.Errorf("state of %d particles has first ancestor %d", j, r)
		}
	}
	for _, f := range st.Fold {
		if f < 0 || int(f) >= mcmc.Folds(j) {
			return fmt.Errorf("state of %d particles has fold %d, of %d", j, f, mcmc.Folds(j))
		}
	}
	return st.Genealogy.check(j)
}

// logLikelihood is the mean over the particles alive. The log-likelihood of a dead particle may be undefined.
func (st *State) logLikelihood() (mean float64) {
	living := float64(st.J - dead(st.LogW))
	for j, l := range st.LL {
		if !math.IsInf(st.LogW[j], -1) {
			mean += l / living
		}
	}
	return mean
}

// reweight adds increments, if there are any, to the log-weights and their log-mean to the evidence, and returns the
// effective sample size. chains is the number of chains whose states the particles are, as of Sampler.chains.
func (st *State) reweight(increments []float64, chains int) (ess float64, err error) {
	var before []float64
	if increments != nil {
		before = make([]float64, len(st.LogW))
		weights.Exp(st.LogW, before)
	}
	for j, l := range increments {
		st.LogW[j] += l
	}
	logSum, ess, err := weights.Normalise(st.LogW, "particle")
	if increments == nil || err != nil {
		return ess, err
	}
	st.LogZ += logSum // the weights were normalised, so this is log Σ_j W_j e^{increment}, including the factor 1/J
	after := make([]float64, len(st.LogW))
	weights.Exp(st.LogW, after)
	st.Genealogy.weighted(before, after, chains)
	return ess, nil
}
