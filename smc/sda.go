package smc

import "math"

// SDA is smooth data annealing (data-annealing-smc, eqs. 19–30): examples come in block by block of one order, and a
// block's power β rises from First to 1 before the next one comes,
//
//	log π(θ) = Σ_{i<m} log p(y_i|x_i, θ) + β Σ_{i ∈ A} log p(y_i|x_i, θ) + log p(θ),
//
// m examples settled, A the block that comes in. After each iteration, with the weights W and the sums
// Ω = −Σ_{i<m} log p_i and Ω̂ = −Σ_{i∈A} log p_i that the moves left behind,
//
//	β ← min(1, β + |ΔS / (Var_W Ω̂ + Cov_W(Ω, Ω̂))|),
//
// so that the entropy falls by about ΔS; the covariance is absent while nothing has settled (eq. 22), and β = 1 if the
// sum is 0 or not finite. An iteration is made at β = 1; then the block settles. Without further examples β stays 1.
//
// The rule is approximate: it lacks a factor β and the prior (section 5, A9). With Exact, ΔS is divided by what the
// derivative of the entropy is,
//
//	−dS/dβ = β Var_W Ω̂ + Cov_W(Ω, Ω̂) − Cov_W(log p(θ), Ω̂).
type SDA struct {
	Iterations int     // K
	Batch      int     // C, examples of the first block; 0: as BatchSizes says
	Grow       int     // κ, of every other; 0: likewise
	First      float64 // β of a block when it comes in; 0: .1
	Entropy    float64 // ΔS, nats an iteration; 0: 1
	Exact      bool    // use the derivative of the entropy
}

// Start is the first block at the first β.
func (s SDA) Start(n int) (Stage, bool) {
	batch, _ := BatchSizes(s.Batch, s.Grow)
	return Stage{Lambda: s.first(), Rows: Rows{0, min(batch, n)}}, true
}

// Next raises β, or settles the block and takes the next.
func (s SDA) Next(st *State) (Stage, error) {
	stage := st.Stage
	stage.Warm = false
	switch {
	case st.K == st.Warmed:
	case stage.Lambda < 1:
		stage.Lambda = s.raise(st)
	case stage.Rows.To < st.Examples:
		_, grow := BatchSizes(s.Batch, s.Grow)
		settled := stage.Rows.To
		stage = Stage{Lambda: s.first(), Settled: settled, Rows: Rows{settled, settled + min(grow, st.Examples-settled)}}
	}
	return stage, nil
}

// Done is true after K iterations.
func (s SDA) Done(st *State) bool { return st.K-st.Warmed >= s.Iterations }

// Progress is the share of the iterations that are made.
func (s SDA) Progress(st *State) float64 { return float64(st.K-st.Warmed) / float64(s.Iterations) }

// Budget is 0.
func (SDA) Budget(*State) int { return 0 }

// Settles is true.
func (SDA) Settles() bool { return true }

func (s SDA) check() error {
	var f faults
	f.sizes(s.Iterations, s.Batch, s.Grow)
	f.add(!(s.First >= 0 && s.First <= 1), "path: want a first power of a block between 0 and 1, have %v", s.First)
	f.add(!(s.Entropy >= 0), "path: want an entropy of at least 0 nats an iteration, have %v", s.Entropy)
	return f.err()
}

func (s SDA) first() float64 {
	if s.First == 0 {
		return 0.1
	}
	return s.First
}

// raise is the next β.
func (s SDA) raise(st *State) float64 {
	w := make([]float64, st.J)
	weights(st.LogW, w)
	variance, covariance := moments(w, st.LL, st.LL), 0.0
	if st.Settled > 0 {
		covariance = moments(w, st.SettledLL, st.LL)
	}
	fall := variance + covariance
	if s.Exact { // Ω̂ = −LL turns the sign of the prior's covariance
		fall = float64(st.Lambda*variance) + covariance + moments(w, st.LP, st.LL)
	}
	step := s.Entropy
	if step == 0 {
		step = 1
	}
	if step = math.Abs(step / fall); fall == 0 || math.IsNaN(step) || math.IsInf(fall, 0) {
		return 1
	}
	return min(1, st.Lambda+step)
}

// moments is the covariance of x and y under normalised weights, by two passes: values of 10⁵ nats would leave nothing
// of their difference in one. Particles of weight 0 do not count, whatever their values.
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
