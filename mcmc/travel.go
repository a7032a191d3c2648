package mcmc

import "github.com/starling-smc/starling/internal/rng"

// Travel tells when moves have carried particles away from where a stage began, so that copies of one particle have parted and
// the particles show their target and not their start.
//
// Coordinates are joined in at most 512 groups of neighbours. For each group the mean square of the distance from the start is
// followed, over particles and coordinates, the coordinates in units of their spread. A group has at least 500 such terms if
// there are as many: of fewer, two means at the same distance differ by more than the growth that is looked for. Variances are
// shrunk by fifty particles towards the geometric mean of the group, because a variance of few that is far too small would let
// one coordinate outweigh its group. A group has arrived after m moves if this square no longer changes:
//
//	1/growth ≤ msd(m)/msd(k) ≤ growth   for k = ⌈m/2⌉ and, because moves may lead to and fro, k = m − 1
//
// For particles whose correlation with their start is e^{−m/τ} it is 2(1 − e^{−m/τ}) in units of their variance, and its growth
// is 1 + e^{−m/2τ}: growth 1.2 means a correlation of .04. Buchholz, Chopin and Jacob (2021) follow the correlation itself, but
// between modes that moves do not cross it stays high for ever, whereas the distance saturates within each mode. Moves that are
// refused make a distance that grows with their number, and no distance at all never saturates.
//
// Particles have travelled when nine tenths of the groups have arrived; of fewer than ten groups, all.
type Travel struct {
	ends    []int       // each group ends before coordinate ends[g]
	unit    []float64   // the square of the unit of each coordinate
	squares [][]float64 // after each move, for each group
}

const (
	mostGroups  = 512
	fewestTerms = 500
	growth      = 1.2
)

// NewTravel begins where some particles are, whose coordinates have the given variances.
func NewTravel(particles int, variances []float64) *Travel {
	d, n := len(variances), float64(particles)
	t := &Travel{unit: make([]float64, d)}
	groups := max(1, min(d, mostGroups, particles*d/fewestTerms))
	begin := 0
	for g := range groups {
		end := (g + 1) * d / groups
		var common, spread float64
		for _, v := range variances[begin:end] {
			if v > 0 {
				common += rng.Log(v)
				spread++
			}
		}
		for i := begin; i < end; i++ {
			if v := variances[i]; v > 0 {
				t.unit[i] = rng.Exp((float64(n*rng.Log(v)) + float64(50*common/spread)) / (n + 50))
			}
		}
		t.ends = append(t.ends, end)
		begin = end
	}
	return t
}

// Moved records the positions after a move: away(j) gives the distance of particle j from its start, D numbers that are valid
// until the next call.
func (t *Travel) Moved(particles int, away func(j int) []float64) {
	squares := make([]float64, len(t.ends))
	for j := range particles {
		d, i := away(j), 0
		for g, end := range t.ends {
			for ; i < end; i++ {
				if t.unit[i] > 0 {
					squares[g] += float64(d[i]*d[i]) / t.unit[i]
				}
			}
		}
	}
	t.squares = append(t.squares, squares)
}

// Arrived reports whether the particles have travelled.
func (t *Travel) Arrived() bool {
	m := len(t.squares)
	if m < fewestMutations {
		return false
	}
	now, last, half := t.squares[m-1], t.squares[m-2], t.squares[(m+1)/2-1]
	arrived := 0
	for g := range now {
		if now[g] > 0 && alike(now[g], last[g]) && alike(now[g], half[g]) {
			arrived++
		}
	}
	return 10*arrived >= 9*len(now)
}

// Far reports whether the last move left the particles, in nine tenths of the groups, at a root mean square distance of at least the given
// share of their spread from where they began. The variances are those of the particles, as of NewTravel: of particles in equilibrium
// the correlation ρ with their start gives a distance of √(2(1 − ρ)) spreads.
func (t *Travel) Far(particles int, share float64) bool {
	now, far := t.squares[len(t.squares)-1], 0
	i := 0
	for g, end := range t.ends {
		terms := 0
		for ; i < end; i++ {
			if t.unit[i] > 0 {
				terms += particles
			}
		}
		if terms > 0 && now[g] >= float64(share*share)*float64(terms) {
			far++
		}
	}
	return 10*far >= 9*len(now)
}

// alike reports whether two mean squares differ by growth at most.
func alike(a, b float64) bool { return a <= growth*b && b <= growth*a }
