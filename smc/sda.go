package smc

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
)

// SDA is smooth data annealing (data-annealing-smc, eqs. 19–30): blocks of examples are added one after another in one order,
// and a block's power β rises from First to 1 before the next block is added,
//
//	log π(θ) = Σ_{i<m} log p(y_i|x_i, θ) + β Σ_{i ∈ A} log p(y_i|x_i, θ) + log p(θ),
//
// m examples annealed in, A the newest block. With Scale both sums are multiplied by c = N/(m + |A|), as the batches of
// Schedule are; else c = 1. After each iteration, with the weights W and the sums Ω = −Σ_{i<m} log p_i and Ω̂ = −Σ_{i∈A} log
// p_i at the particles' positions,
//
//	β ← min(1, β + |ΔS / (c² (Var_W Ω̂ + Cov_W(Ω, Ω̂)))|),
//
// so that the entropy falls by about ΔS; the covariance is absent while nothing is annealed in (eq. 22), and β = 1 if
// the sum is 0 or not finite. When β reaches 1 the block is annealed in, and the next one is added at once, without an iteration at β = 1
// between them (section 5, A11): a population that has collapsed, whose variances are 0, takes a block an iteration. Without further
// examples β stays 1.
//
// The rule is approximate: it lacks a factor β and the prior (section 5, A9). With Exact, ΔS is divided by what the
// derivative of the entropy is,
//
//	−dS/dβ = c² (β Var_W Ω̂ + Cov_W(Ω, Ω̂)) − c Cov_W(log p(θ), Ω̂).
//
// Eqs. 21 and 23 are printed without a scale, eq. 13 and the gradients of all schemes with one (section 5, A5). The scale
// changes the result of a run of given length. Without it, the first blocks have little influence compared with the prior,
// and particles stay apart. With it, weights collapse at first, variances vanish and blocks are added as fast as possible;
// later, as the scale falls and more particles survive, blocks are added more slowly.
type SDA struct {
	Iterations int     `yaml:"iterations"`      // K, the steps of the path; default 200
	Batch      int     `yaml:"batch"`           // C, examples of the first block; 0: 500
	Grow       int     `yaml:"grow"`            // κ, examples of every later block; 0: C
	First      float64 `yaml:"first"`           // the power β of a block when it is added, above 0 and at most 1; 0: .1
	Entropy    float64 `yaml:"entropy"`         // ΔS, the nats by which the entropy falls in an iteration; 0: 1
	Exact      bool    `yaml:"exact,omitempty"` // use the derivative of the entropy
	Scale      bool    `yaml:"scale,omitempty"` // scale the likelihood of the examples so far to all N
}

func (SDA) String() string { return "smooth data annealing" }

// Defaults sets all but Exact and Scale.
func (s *SDA) Defaults() {
	s.Iterations = cmp.Or(s.Iterations, 200)
	s.Batch, s.Grow = BatchSizes(s.Batch, s.Grow)
	s.First, s.Entropy = s.rises()
}

// Check notes impossible settings.
func (s SDA) Check(f *config.Faults) {
	f.Within("iterations", s.Iterations, 1, rng.MaxIterations)
	checkSize(f, "batch", s.Batch)
	checkSize(f, "grow", s.Grow)
	f.If(!(s.First >= 0 && s.First <= 1), "first", "want a number above 0, at most 1, have %v", s.First)
	f.If(!(s.Entropy >= 0), "entropy", "want a number above 0, have %v", s.Entropy)
}

// Start is the first block at the first β.
func (s SDA) Start(n int) (Stage, bool) {
	batch, _ := BatchSizes(s.Batch, s.Grow)
	return s.block(0, min(batch, n), n), true
}

// block returns the stage in which the examples at positions from to to−1 are the newest block and those before are annealed
// in.
func (s SDA) block(from, to, n int) Stage {
	stage := Stage{Mu: 1, Annealed: from, Rows: Rows{from, to}}
	if s.Scale {
		stage.Mu = float64(n) / float64(to)
	}
	first, _ := s.rises()
	stage.Lambda = float64(first * stage.Mu)
	return stage
}

// Next raises β. Where it reaches 1, and at once if blocks come in at 1, the next block takes its place.
func (s SDA) Next(st *State) (Stage, error) {
	stage := st.Stage
	if st.K == 0 {
		return stage, nil
	}
	if stage.Lambda < stage.Mu {
		stage.Lambda = float64(s.raise(st) * stage.Mu)
	}
	if annealed := stage.Rows.To; stage.Lambda == stage.Mu && annealed < st.Examples {
		_, grow := BatchSizes(s.Batch, s.Grow)
		stage = s.block(annealed, annealed+min(grow, st.Examples-annealed), st.Examples)
	}
	return stage, nil
}

// Done is true after K iterations.
func (s SDA) Done(st *State) bool { return st.K >= s.Iterations }

// Progress is the share of the iterations that are made.
func (s SDA) Progress(st *State) float64 { return float64(st.K) / float64(s.Iterations) }

// Count is the number of iterations made, of how many.
func (s SDA) Count(st *State) (made, all int) { return st.K, s.Iterations }

// Traits say of the evidence only whether likelihoods are scaled: the trace shows whether the last target holds all examples at power 1.
func (s SDA) Traits() PathTraits {
	t := PathTraits{
		AnnealsIn: true, Batches: true, Gradual: true,
		Evidence: Evidence{Scaled: s.Scale, Unsure: "may end before all examples are annealed in"},
	}
	if !s.Scale {
		t.Caption = "Of the iteration's own target: all blocks so far, the newest one with its likelihood raised to its power."
	}
	return t
}

// Curves is the number of examples, β, and the number of blocks. β cannot be told from a scaled power without n.
func (s SDA) Curves(n int) []Curve {
	blocks := Curve{
		ID: "blocks", Title: "Number of blocks", Axis: "blocks added so far", Whole: true, Zero: true, Step: true,
		Of:      func(info Info) float64 { return float64(s.Blocks(info.Annealed)) },
		Caption: "The newest block has the power β, the others have power 1.",
	}
	first, entropy := s.rises()
	if s.Scale && n == 0 {
		return []Curve{batchSize, blocks}
	}
	return []Curve{batchSize, {
		ID: "power", Title: "Power of the newest block", Axis: "β", Decimals: 2, Share: true, Step: true,
		Of: func(info Info) float64 { return s.Traits().Power(info, n) },
		Caption: fmt.Sprintf("The power rises so that an iteration lowers the entropy by about %.12g (nats). When it reaches 1 the block is annealed in, and "+
			"the next block is added at once, with power %.12g. Where one particle has all the weight, that is in every iteration.", entropy, first),
	}, blocks}
}

// Work counts iterations.
func (SDA) Work(info Info, _ float64, _ int) (done, all float64) { return info.Progress, 1 }

// Blocks is the number of blocks added so far when the given number of examples are annealed in.
func (s SDA) Blocks(annealed int) int {
	first, grow := BatchSizes(s.Batch, s.Grow)
	if annealed == 0 {
		return 1
	}
	return 2 + int(math.Ceil(float64(annealed-first)/float64(grow)))
}

// rises returns the β at which a block begins, and ΔS.
func (s SDA) rises() (first, entropy float64) { return cmp.Or(s.First, 0.1), cmp.Or(s.Entropy, 1) }

// raise returns the next β.
func (s SDA) raise(st *State) float64 {
	w := make([]float64, st.J)
	weights.Exp(st.LogW, w)
	variance, covariance := moments(w, st.LL, st.LL), 0.0
	if st.Annealed > 0 {
		covariance = moments(w, st.AnnealedLL, st.LL)
	}
	beta := st.Lambda / st.Mu
	if s.Exact {
		variance = float64(beta * variance)
	}
	fall := float64(float64(st.Mu*st.Mu) * (variance + covariance))
	if s.Exact { // Ω̂ = −LL turns the sign of the prior's covariance
		fall += float64(st.Mu * moments(w, st.LP, st.LL))
	}
	_, entropy := s.rises()
	step := math.Abs(entropy / fall)
	if fall == 0 || math.IsNaN(step) || math.IsInf(fall, 0) {
		return 1
	}
	return min(1, beta+step)
}

// moments returns the covariance of x and y under normalised weights. It takes two passes, because with values of 10⁵ nats a
// single pass would lose all digits to cancellation. Particles of weight 0 are left out, whatever their values.
func moments(w, x, y []float64) float64 {
	var meanX, meanY, sum float64
	for j, v := range w {
		if v > 0 {
			meanX += float64(v * x[j])
			meanY += float64(v * y[j])
		}
	}
	for j, v := range w {
		if v > 0 {
			sum += float64(float64(v*(x[j]-meanX)) * (y[j] - meanY))
		}
	}
	return sum
}
