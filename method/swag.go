package method

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
)

// pathOfSWAG is the path of the method in a config.
const pathOfSWAG = "method.swag"

// SWAG takes the snapshots of SGD at a constant rate for draws of a Gaussian (Maddox, Izmailov, Garipov, Vetrov, Wilson 2019,
// section 3.3), and draws from it:
//
//	N(mean, c·(Σ_diag + Dev Devᵀ/(K−1)))     θ = mean + √c·(Σ_diag^½ z₁ + Dev z₂/√(K−1)),   z₁ ~ N(0, I_D),  z₂ ~ N(0, I_K)
//
// mean and the diagonal Σ_diag are those of all snapshots. The columns of Dev, D×K, are the deviations of the last K from the
// running mean at that time. c is ½. Diagonal leaves Dev out, and c is 1 (section 3.2). With several members each has a Gaussian of its own,
// and all draws together are equally weighted: MultiSWAG (Wilson & Izmailov 2020).
//
// Of a partly random network the Gaussian is that of θ alone, and what networks share is the mean of the snapshots, one of each
// member.
//
// What SWAG calls a posterior depends on the rate, on the batch and on momentum: nothing relates the spread of SGD to that of
// the posterior. On linear networks the draws had by default .01 to .33 of its spread (D = 6 and 21, N = 20 to 1,000). So each trajectory
// measures its spread at the end (average.measure), and the run says how wide the draws are. No score chooses among the snapshots.
type SWAG struct {
	Averaging `yaml:",inline"`
	Rank      int     `yaml:"rank,omitempty"`     // K, the last snapshots whose deviations give the covariance between parameters; default 20, or as many as there are snapshots
	Diagonal  bool    `yaml:"diagonal,omitempty"` // leave out the covariance between parameters
	Scale     float64 `yaml:"scale"`              // c, the factor of the whole covariance; default ½, or 1 if diagonal
	Draws     int     `yaml:"draws"`              // of each member; default 10
}

var _ Method = SWAG{}

// Title names the method.
func (m SWAG) Title() string {
	kind, covariance := "SWAG", fmt.Sprintf("rank %d", m.Rank)
	if m.Diagonal {
		covariance = "diagonal"
	}
	if m.Members > 1 {
		kind = fmt.Sprintf("MultiSWAG of %d members", m.Members)
	}
	return fmt.Sprintf("%s (%s, %s, %s)", kind, covariance, numeral.Several(m.Snapshots, "snapshot"), numeral.Several(m.Draws*m.Members, "draw"))
}

// Defaults fills in defaults.
func (m *SWAG) Defaults() {
	m.complete()
	if m.Diagonal {
		fill(&m.Scale, 1)
	} else {
		fill(&m.Rank, min(20, max(2, m.Snapshots)))
		fill(&m.Scale, 0.5)
	}
	fill(&m.Draws, 10)
}

// Check refuses settings that are wrong for any SWAG.
func (m SWAG) Check(f *config.Faults) {
	m.check(f)
	f.Positive("scale", m.Scale)
	f.AtLeast("draws", m.Draws, 1)
	switch {
	case !m.Diagonal && m.Snapshots == 1:
		f.Add("snapshots", "want at least 2, or diagonal: true, have %d", m.Snapshots)
	case m.Diagonal:
		f.If(m.Rank != 0, "rank", "is for a covariance that is not diagonal: leave out rank or diagonal")
	case m.Rank < 2:
		f.Add("rank", "want at least 2, or diagonal: true, have %d", m.Rank)
	case m.Snapshots > 0 && m.Rank > m.Snapshots:
		f.Add("rank", "want at most as many as there are snapshots, %d, have %d: take more snapshots, or a lower rank", m.Snapshots, m.Rank)
	}
}

// Settle refuses a prior that an estimate moves, and another number of restarts than of members.
func (m SWAG) Settle(around Around, f *config.Faults) Method {
	m.checkWithin(around, pathOfSWAG, f)
	m.Defaults()
	return m
}

// Needs is a restart for each member.
func (m SWAG) Needs() Needs {
	n := m.needs()
	n.Partly = true
	return n
}

// Sampling is nil.
func (SWAG) Sampling() *Sampling { return nil }

// Memory estimates the memory of the trajectories and draws.
func (m SWAG) Memory(job *Job) Memory {
	memory := m.memory(job, pathOfSWAG, m.Rank, m.Draws)
	memory.Scales = append(memory.Scales, Scale{
		Field: pathOfSWAG + ".draws", Now: m.Draws, Bytes: func(n int) int64 { return m.bytes(job, m.Members, m.Rank, n) },
		Fits: func(n int) string { return numeral.Several(n, "draw") + " of each member would fit" },
	})
	return memory
}

// Phases is the trajectories.
func (m SWAG) Phases(job *Job) ([]runs.Phase, error) {
	phase := m.phase(job, m.Rank)
	for _, part := range phase.Parts {
		a := part.(*average)
		a.draws, a.random = m.Draws, job.Net.Dim()
		a.draw = func(a *average, k int) []float64 {
			gaussian, shared := a.divide(job)
			theta := make([]float64, a.random)
			m.draw(gaussian, m.stream(job, a.member, k), theta)
			if !job.Net.Partly() {
				return theta
			}
			return job.Net.Join(theta, shared)
		}
	}
	return []runs.Phase{phase}, nil
}

// stream is the noise of a member's draw.
func (m SWAG) stream(job *Job, member, draw int) *rng.Stream {
	return rng.Key{Seed: job.Seed, Purpose: rng.Draw, Iteration: draw, Particle: member}.Stream()
}

// Gather draws the networks of each member.
func (m SWAG) Gather(job *Job, phases []runs.Phase, _ []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	d := job.Net.Dim()
	all, spread := bnn.Island{Theta: make([]float64, 0, m.Members*m.Draws*d)}, 0.0
	for i, part := range phases[0].Parts {
		a := part.(*average)
		random, shared := a.divide(job)
		spread += a.Spread / float64(m.Members)
		all.Shared = append(all.Shared, shared...)
		for k := range m.Draws {
			all.Theta = all.Theta[:len(all.Theta)+d]
			m.draw(random, m.stream(job, i, k), all.Theta[len(all.Theta)-d:])
		}
	}
	e, err := bnn.Combine(job.Net, []bnn.Island{all}, bnn.Equal{})
	return e, []finding.Finding{finding.Of(finding.OfSWAG(math.Sqrt(spread)))}, err
}

// draw draws one network from the Gaussian of a trajectory.
func (m SWAG) draw(a *averaged, s *rng.Stream, theta []float64) {
	root := math.Sqrt(m.Scale)
	s.Normals(theta)
	for i, z := range theta {
		theta[i] = a.Mean[i] + float64(root*float64(math.Sqrt(variance(a.Squares[i], m.Snapshots))*z))
	}
	per := root / math.Sqrt(float64(m.Rank-1))
	for k := range m.Rank {
		z := per * s.Normal()
		for i, dev := range a.Deviations[k*len(theta) : (k+1)*len(theta)] {
			theta[i] += float64(z * dev)
		}
	}
}
