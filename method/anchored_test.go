package method

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// posteriors are methods whose draws are of the posterior, with every kind of move that reads the prior in a way of its own.
func posteriors() map[string]Method {
	return map[string]Method{
		"vi":         VI{Epochs: 100, Rate: 0.005, Draws: 40},
		"svgd":       SVGD{Particles: 12, Epochs: 40, Batch: 30, Rate: 0.001},
		"hmc":        MCMC{Chains: 4, Start: "prior", Epochs: 200, Keep: 40, Move: mcmc.HMC{Steps: 5}},
		"nuts":       MCMC{Chains: 4, Start: "prior", Epochs: 300, Keep: 40, Move: mcmc.NUTS{}},
		"pcn":        MCMC{Chains: 4, Start: "prior", Epochs: 200, Keep: 40, Move: mcmc.PCN{}},
		"sghmc":      MCMC{Chains: 4, Start: "prior", Epochs: 200, Keep: 40, Move: mcmc.SGHMC{Batch: 30, Step: 0.0002}},
		"metropolis": MCMC{Chains: 4, Start: "prior", Epochs: 200, Keep: 40, Move: mcmc.Metropolis{SD: 0.01}},
		"tempering":  SMC{Particles: 30, Move: mcmc.HMC{Steps: 3, Mutations: mcmc.Mutations{Count: 3}}},
		"smc-pcn":    SMC{Particles: 30, Move: mcmc.PCN{Mutations: mcmc.Mutations{Count: 3}}},
		"batches":    SMC{Particles: 30, Start: FromPrior{}, Path: smc.Schedule[smc.Full]{Iterations: 6}, Move: mcmc.Unadjusted{Steps: 2, Step: 0.01}},
		"epoch":      SMC{Particles: 30, Start: FromPrior{}, Path: smc.Schedule[smc.Full]{Iterations: 6}, Move: mcmc.Epoch{Batch: 30, Step: 0.005}},
	}
}

// Every posterior of a prior that is anchored at a network, with s = .002, is near that network: its sd is at most .032, the root of s
// times the prior's variance, and the data hardly move its mean: the mean of |mean − anchor| over parameters is .002 to .013. The anchor's own
// parameters have a mean size of .38. So a method that takes another centre than the anchor, in a density, in a draw or in a
// divergence, is far away, and so is one that takes the anchor's numbers in another order. Of a partly random network the centre is θ of the anchor alone.
func TestPosteriorsAreAtTheirAnchor(t *testing.T) {
	const s, variance = 0.002, 0.5
	for name, m := range posteriors() {
		m = m.Settle(around(m), unheard())
		for _, part := range []string{"all", "last"} {
			role := roles[part]
			job := partly(t, 2, role)
			job.Init = make([]float64, job.Net.Parameters())
			for i := range job.Init {
				job.Init[i] = 0.6 * math.Sin(float64(i*i))
			}
			job.About.Anchor = &bnn.Anchor{S: s}
			anchor, size, off, spread := job.anchor(), 0.0, 0.0, 0.0
			e := do(t, job, m).Posterior
			d := float64(len(anchor))
			for i, a := range anchor {
				mean, square := 0.0, 0.0
				for j, l := range e.LogWeights {
					mean += math.Exp(l) * float64(e.Theta[j*e.Net.Dim()+i])
				}
				for j, l := range e.LogWeights {
					square += math.Exp(l) * math.Pow(float64(e.Theta[j*e.Net.Dim()+i])-mean, 2)
				}
				size, off, spread = size+math.Abs(a)/d, off+math.Abs(mean-a)/d, spread+square/d
			}
			t.Logf("%s, %s random: %.4f of %.3f, sd %.4f", name, part, off, size, math.Sqrt(spread))
			if !(off <= 0.1*size) || !(math.Sqrt(spread) <= 1.2*math.Sqrt(s*variance)) {
				t.Errorf("%s, %s random: the posterior's mean is %.4f from the anchor, whose parameters have a size of %.3f; its sd is %.4f, the prior's %.4f",
					name, part, off, size, math.Sqrt(spread), math.Sqrt(s*variance))
			}
		}
	}
}

// With orthogonal inputs VI finds the exact posterior of a linear model for a prior that is centred anywhere:
//
//	1/σ² = Σx²/τ² + 1/s²        m = σ² (Σ x y/τ² + μ/s²)
//
// As in TestVIConjugate the errors of m are about .02 σ over seeds; the bound is six of them. The prior's centre moves m by 1 to 8 σ.
func TestVIOfAnAnchoredPrior(t *testing.T) {
	const n, noise = 16, 0.5
	s := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
	var x, y []float32
	for i := range n {
		row := []float64{0.3, 0.2 * (float64(i%2)*2 - 1), 0.1 * (float64(i/2%2)*2 - 1)}
		y = append(y, float32(0.7*row[0]-0.2*row[1]+row[2]+noise*s.Normal()))
		for _, value := range row {
			x = append(x, float32(value))
		}
	}
	job := table(t, linear(t, nn.Gaussian{SD: noise}), x, y, 0.3)
	centre := []float64{1.5, -2, 3}
	anchored, err := (&bnn.Anchor{S: 0.2}).Apply(job.Prior, centre)
	if err != nil {
		t.Fatal(err)
	}
	job.Prior = anchored
	v := approximated(t, job, VI{Epochs: 6000, Batch: n})
	if begun := v.first[:3]; slices.Equal(begun, centre) || !(math.Abs(begun[2]-3) < 6*math.Sqrt(0.06)) {
		t.Errorf("VI begins at %v for a prior around %v", begun, centre)
	}
	at := settle(t, v, nil)
	for k, mu := range centre {
		squares, products := 0.0, 0.0
		for i := range n {
			squares += float64(x[3*i+k]) * float64(x[3*i+k])
			products += float64(x[3*i+k]) * float64(y[i])
		}
		sigma := 1 / math.Sqrt(squares/(noise*noise)+1/0.06)
		m := sigma * sigma * (products/(noise*noise) + mu/0.06)
		if got := softplus(at[3+k]); !(math.Abs(at[k]-m) <= 0.12*sigma) || !(math.Abs(math.Log(got/sigma)) <= 0.07) {
			t.Errorf("parameter %d: %v ± %v, want %v ± %v: %v and %v", k, at[k], got, m, sigma, (at[k]-m)/sigma, math.Log(got/sigma))
		}
		if without := sigma * sigma * products / (noise * noise); !(math.Abs(m-without) > sigma) {
			t.Errorf("parameter %d: the centre moves m by %v σ: the test has no power", k, (m-without)/sigma)
		}
	}
}
