package smc

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Mutations says how many moves an iteration makes.
type Mutations struct {
	// Count is their number; 0: 1, unless Eta is set.
	Count int

	// Eta, if positive, makes the number adaptive (scalable-bayesian-monte-carlo, Appendix D): with
	//
	//	dist_m = (1/J) Σ_j |θ_j^m − θ_j^0|₂
	//
	// moves end at the smallest m ≥ 2 for which |dist_m − dist_{m−1}| ≤ Eta·dist_{m−1}.
	Eta float64
	Max int // largest adaptive number; 0: 50
}

func (m Mutations) limit() int {
	switch {
	case m.Eta == 0:
		return max(1, m.Count)
	case m.Max == 0:
		return 50
	}
	return m.Max
}

// enough says whether mutation m, counted from 1, is the last, after displacements dist_{m−1} and dist_m.
func (m Mutations) enough(made int, before, now float64) bool {
	if made >= m.limit() {
		return true
	}
	return m.Eta > 0 && made >= 2 && math.Abs(now-before) <= m.Eta*before
}

func (m Mutations) check() error {
	switch {
	case m.Count < 0 || m.Max < 0 || !(m.Eta >= 0):
		return fmt.Errorf("mutations: count %d, eta %v, max %d must not be negative", m.Count, m.Eta, m.Max)
	case m.Count > 0 && m.Eta > 0:
		return fmt.Errorf("mutations: a fixed count of %d and an adaptive one exclude each other", m.Count)
	case m.Eta > 0 && m.limit() < 2:
		return fmt.Errorf("mutations: an adaptive number needs a max of at least 2, not %d", m.Max)
	case m.limit() > rng.MaxMutations:
		return fmt.Errorf("mutations: %d are more than the %d that random streams can tell apart", m.limit(), rng.MaxMutations)
	}
	return nil
}

// displacement is dist_m: how far the particles are from where their ancestors stood when the iteration began.
func (s *Sampler) displacement(st *State) float64 {
	var sum float64
	for j, a := range s.ancestors {
		from := s.before.Theta[int(a)*st.D : (int(a)+1)*st.D]
		var square float64
		for i, x := range st.Theta[j*st.D : (j+1)*st.D] {
			square += float64((x - from[i]) * (x - from[i]))
		}
		sum += math.Sqrt(square)
	}
	return sum / float64(st.J)
}
