package smc

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Info holds the diagnostics of one iteration. Its JSON is the sampler's part of a trace line.
type Info struct {
	Island   int     `json:"-"`
	K        int     `json:"-"` // iterations made, this one included
	Progress float64 `json:"-"` // 0…1, on the path

	Epochs        float64        `json:"epochs"`         // passes of the moves over all examples so far, for each particle
	Examples      int            `json:"examples"`       // in the target, including annealed ones
	Annealed      int            `json:"annealed"`       // of them, with power 1 in smooth data annealing (N/(m+|A|) with scale)
	Lambda        float64        `json:"temperature"`    // λ of the target: 1 for chains; on a path of batches N/n; in sda the power β of the newest block, there times N/(m+|A|) with scale
	ESS           float64        `json:"ess"`            // effective sample size before resampling; with Momentum, of the weights of earlier iterations
	LogWeightVar  numeral.Number `json:"log_weight_var"` // variance of these log-weights, nats²: (1/n) Σ (log w_j − mean)² over the n particles alive
	Dead          int            `json:"dead"`           // particles of weight 0 before resampling
	Resampled     bool           `json:"resampled"`
	Ancestors     int            `json:"ancestors"`      // distinct first ancestors of the particles alive
	Parents       int            `json:"parents"`        // distinct parents in this resampling; J without
	Mutations     int            `json:"mutations"`      // moves made
	Acceptance    numeral.Number `json:"acceptance"`     // mean acceptance probability; NaN where moves have none (mcmc.ByNothing)
	Displacement  numeral.Number `json:"displacement"`   // how far all moves of the iteration together carried the particles: root mean square, relative to their spread (for a single particle: its length)
	Stuck         bool           `json:"stuck"`          // the moves did not carry the particles: few were accepted (below .1), or the limit on moves was reached before the particles had travelled; in either case they were carried by less than half of their spread
	ScaleKept     bool           `json:"scale_kept"`     // the particles could teach no scale, so the last one was kept
	Step          float64        `json:"step"`           // step size of the last move: h, b of pCN, or η of SGHMC
	Leapfrogs     int            `json:"leapfrogs"`      // S of the last move; 0 where it has none
	EnergySD      float64        `json:"energy_sd"`      // standard deviation of ΔH over particles and mutations, where finite; 0 where moves have none
	Divergent     int            `json:"divergent"`      // proposals whose energy was NaN or infinite
	LogZ          numeral.Number `json:"log_evidence"`   // so far; 0 for chains
	LogLikelihood numeral.Number `json:"log_likelihood"` // mean over the particles alive, of the examples that are not annealed in, at power 1, not scaled
	Gradients     int            `json:"gradients"`      // evaluations of value and gradient so far, in examples, over all particles
	Values        int            `json:"values"`         // evaluations of the value alone, likewise

	LogZSD     *numeral.Number `json:"log_evidence_error,omitempty"` // that log_evidence has over runs, as Genealogy estimates it from this one; nil where it cannot
	LadderBias *numeral.Number `json:"ladder_bias,omitempty"`        // by how much the adaptation of the ladder has moved log_evidence, an estimate; nil on other paths, and for too few particles

	Chains []ChainInfo `json:"chains,omitempty"` // each of several chains that share a step, whose means the fields above have; empty for one chain, and for populations

	Loss *numeral.Number `json:"-"` // by Sampler.Judge; nil where the iteration was not judged
}

// ChainInfo is what an Info has of one of several chains.
type ChainInfo struct {
	Acceptance    numeral.Number `json:"acceptance"`
	Displacement  numeral.Number `json:"displacement"` // relative to the chain's length
	LogLikelihood numeral.Number `json:"log_likelihood"`
}

// Of is the Info of chain c alone, if there are several; its evaluations are an equal share.
func (i Info) Of(c int) Info {
	n, one := len(i.Chains), i.Chains[c]
	i.Island = i.Island*n + c
	i.Acceptance, i.Displacement, i.LogLikelihood = one.Acceptance, one.Displacement, one.LogLikelihood
	i.Gradients, i.Values, i.Chains = i.Gradients/n, i.Values/n, nil
	return i
}

// known is x, nil if it is NaN.
func known(x float64) *numeral.Number {
	if math.IsNaN(x) {
		return nil
	}
	n := numeral.Number(x)
	return &n
}

// logVariance returns the variance of the log-weights of the particles alive, each counted once; 0 if only one is alive.
func logVariance(logw []float64) float64 {
	var s spread
	for _, l := range logw {
		s.add(l)
	}
	return s.variance()
}

// dead counts the log-weights that are −Inf.
func dead(logw []float64) (n int) {
	for _, l := range logw {
		if math.IsInf(l, -1) {
			n++
		}
	}
	return n
}

// spread is the variance of the finite numbers of a stream (Welford 1962).
type spread struct{ n, mean, square float64 }

func (s *spread) add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	s.n++
	d := x - s.mean
	s.mean += d / s.n
	s.square += float64(d * (x - s.mean))
}

func (s *spread) variance() float64 { return s.square / max(1, s.n) }

func (s *spread) sd() float64 { return math.Sqrt(s.variance()) }
