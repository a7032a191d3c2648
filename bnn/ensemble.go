package bnn

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/nn"
)

// Ensemble is a weighted set of parameter vectors of one network. Every method of inference returns one; prediction,
// evaluation and files need nothing else. Parameters are float32, as in the file, so that an ensemble read from a file
// predicts the same bits.
//
// Where particles share parameters that are learned (nn.NewPartly), θ is what each has of its own. Shared has rows of ψ, of S =
// Net.Learned() numbers each, and particle j is the network of Theta's row j and Shared's row Row[j]. Else both are empty. Constants are
// those of Net.
type Ensemble struct {
	Net         *nn.Net
	Theta       []float32 // J×D, particles over all islands, island after island; empty where Members has them
	Members     *Members  // of ensembles that are read from files a few particles at a time; else nil
	LogWeights  []float64 // J, normalised: Σ exp = 1; −Inf is a dead particle
	Island      []int32   // J, the island of each particle, not decreasing
	LogEvidence []float64 // of each island, in nats; 0 if the method estimates none
	Shared      []float32 // rows×S, a row for each island or several, island after island
	Row         []int32   // J, the row of Shared of each particle, not decreasing

	// Format is the format of θ in the ensemble's file; empty: float32. Parameters are numbers of this format.
	Format safetensors.Format

	// Centre is θ*, of D numbers, about which the particles' outputs are linear in θ (linearised.go); nil: particles are networks as they are.
	Centre []float32

	width float64 // of predicted laws of numbers, as Stretched says; 0: as they are
}

// Size is the number J of particles.
func (e *Ensemble) Size() int { return len(e.LogWeights) }

// Island is the final population of one of several independent samplers.
type Island struct {
	Theta       []float64 // I×D
	LogWeights  []float64 // I, up to a constant; nil: all equal
	LogEvidence float64   // of this island, in nats; 0 for chains
	Shared      []float64 // R×S, ψ of R groups of particles of equal size, one after another: R = 1, or the times at which states were kept

	Members *Members           // of an island that lies in files: Theta is empty then. All islands of an ensemble lie in files, or none
	Format  safetensors.Format // of the parameters; empty: float32
}

// size is the number of particles.
func (i Island) size(net *nn.Net) int {
	if i.Members != nil {
		return i.Members.Size()
	}
	return len(i.Theta) / net.Dim()
}

// Combine joins islands into one ensemble (Liang et al., eq. 5): particle i of island p has weight ω_p W_i with W the
// island's own normalised weights, which are 1/I where none are given. An error names the island whose evidence or
// weights are NaN or +Inf, or all zero.
func Combine(net *nn.Net, islands []Island, by Combination) (*Ensemble, error) {
	e := &Ensemble{Net: net}
	members := make([]*Members, len(islands))
	for p, island := range islands {
		size := island.size(net)
		if island.Members == nil && size*net.Dim() != len(island.Theta) || island.LogWeights != nil && len(island.LogWeights) != size {
			panic(fmt.Sprintf("bnn: island %d has %d parameters and %d weights for a network of %d", p, len(island.Theta), len(island.LogWeights), net.Dim()))
		}
		e.LogEvidence = append(e.LogEvidence, island.LogEvidence)
		e.LogWeights = append(e.LogWeights, append(make([]float64, 0, size), island.LogWeights...)[:size]...)
		for range size {
			e.Island = append(e.Island, int32(p))
		}
		e.Format = island.Format
		e.Theta = narrow(e.Theta, island.Theta)
		members[p] = island.Members
		e.share(p, island, size)
	}
	e.Members = JoinMembers(members...)
	var err error
	e.LogWeights, err = e.Weigh(by)
	return e, err
}

// Weigh returns the particles' log-weights under another weighting of islands. Errors are as those of Combine.
func (e *Ensemble) Weigh(by Combination) ([]float64, error) {
	if by == nil {
		by = Equal{}
	}
	omega := by.LogWeights(e.LogEvidence)
	if _, _, err := weights.Normalise(omega, "island"); err != nil {
		return nil, fmt.Errorf("evidence of the islands: %w", err)
	}
	logw := slices.Clone(e.LogWeights)
	first := 0
	for p := range omega {
		end := first
		for end < len(logw) && e.Island[end] == int32(p) {
			end++
		}
		if _, _, err := weights.Normalise(logw[first:end], "particle"); err != nil {
			return nil, fmt.Errorf("weights of island %d: %w", p, err)
		}
		for i := range logw[first:end] {
			logw[first+i] += omega[p]
		}
		first = end
	}
	return logw, nil
}

// check returns the first inconsistency of an ensemble that was read from a file.
func (e *Ensemble) check() error {
	j, d := e.Size(), e.Net.Dim()
	if e.Members == nil && len(e.Theta) != j*d || len(e.Island) != j {
		return fmt.Errorf("%d parameters and %d islands for %d particles of %d", len(e.Theta), len(e.Island), j, d)
	}
	sum := 0.0
	for i, l := range e.LogWeights {
		w := rng.Exp(l)
		if math.IsNaN(w) {
			return fmt.Errorf("the weight of particle %d is NaN", i)
		}
		sum += w
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf("the weights sum to %v, not 1", sum)
	}
	last := int32(-1)
	for i, p := range e.Island {
		if p < max(last, 0) || p > last+1 {
			return fmt.Errorf("particle %d is of island %d, after %d islands: want islands numbered from 0, in order", i, p, last+1)
		}
		last = p
	}
	if int(last)+1 != len(e.LogEvidence) {
		return fmt.Errorf("particles of %d islands, evidence of %d", last+1, len(e.LogEvidence))
	}
	for i, x := range e.Theta {
		if x-x != 0 {
			return fmt.Errorf("parameter %d of particle %d is %v", i%d, i/d, x)
		}
	}
	return e.checkShared()
}

// share appends the rows of ψ of an island of some particles.
func (e *Ensemble) share(p int, island Island, particles int) {
	s := e.Net.Learned()
	if s == 0 && len(island.Shared) == 0 {
		return
	}
	groups, first := len(island.Shared)/max(1, s), e.rows()
	if groups == 0 || groups*s != len(island.Shared) || particles%groups != 0 {
		panic(fmt.Sprintf("bnn: island %d has %d shared parameters for %d particles of a network that shares %d", p, len(island.Shared), particles, s))
	}
	for i := range particles {
		e.Row = append(e.Row, int32(first+i/(particles/groups)))
	}
	e.Shared = narrow(e.Shared, island.Shared)
}

// rows is the number of rows of ψ.
func (e *Ensemble) rows() int { return len(e.Shared) / max(1, e.Net.Learned()) }

// checkShared returns the first inconsistency of ψ and of its rows.
func (e *Ensemble) checkShared() error {
	if e.Net.Learned() == 0 {
		return nil
	}
	if err := checkRows(e.Row, e.Island); err != nil {
		return err
	}
	s := e.Net.Learned()
	for i, x := range e.Shared {
		if x-x != 0 {
			return fmt.Errorf("%s of row %d is %v: the parameters that particles share want finite numbers", e.Net.SharedName(i%s), i/s, x)
		}
	}
	return nil
}

// own is the values of the likelihood's own parameters in particle j, if it has any: the last numbers of θ, of ψ in the particle's row or
// of the constants.
func (e *Ensemble) own(j int) []float64 {
	n := ownParameters(e.Net)
	if n == 0 {
		return nil
	}
	last := func(values []float32) []float64 { return widen(nil, values[len(values)-n:]) }
	switch tensors := e.Net.Tensors(); tensors[len(tensors)-1].Role {
	case nn.RoleLearned:
		return last(e.Shared[:(int(e.Row[j])+1)*e.Net.Learned()])
	case nn.RoleFrozen:
		return last(e.Net.Held())
	}
	if e.Members != nil {
		return widen(nil, e.Members.own[j*n:(j+1)*n])
	}
	return last(e.Theta[:(j+1)*e.Net.Dim()])
}

// ownParameters is how many parameters the likelihood of a network has.
func ownParameters(net *nn.Net) int { return len(net.Likelihood().Parameters()) }
