package method

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// A cold posterior of a linear model with orthogonal inputs has independent components
//
//	1/σ² = (Σx²/τ² + 1/v)/T        m = σ² Σ x y/(τ² T),
//
// where the mean is that of the posterior for any T. Here prior and likelihood are as precise as each other: with T on the likelihood alone
// the variance would be 1.6 times as large, and m nearer to 0. The bounds are 6 standard errors for 2,000 draws that are taken for 1,000
// independent ones: .19 σ for a mean, and .27 for the logarithm of a variance.
func TestColdPosterior(t *testing.T) {
	const n, noise, temperature = 16, 0.5, 0.25
	const variance = noise * noise / n // inputs are ±1: Σx²/τ² = 1/v
	s := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
	var x, y []float32
	for i := range n {
		row := []float64{1, float64(i%2)*2 - 1, float64(i/2%2)*2 - 1}
		y = append(y, float32(0.7*row[0]-0.2*row[1]+row[2]+noise*s.Normal()))
		for _, value := range row {
			x = append(x, float32(value))
		}
	}
	for name, m := range map[string]Method{
		"chains":          MCMC{Chains: 20, Start: "prior", Epochs: 3000, Keep: 2000, Temperature: temperature},
		"chains together": MCMC{Chains: 20, Together: 5, Start: "prior", Epochs: 3000, Keep: 2000, Temperature: temperature},
		"pCN":             MCMC{Chains: 20, Start: "prior", Epochs: 3000, Keep: 2000, Move: mcmc.PCN{}, Temperature: temperature},
		"tempering":       SMC{Particles: 400, Islands: 5, Temperature: temperature},
		"waste-free":      SMC{Particles: 2000, WasteFree: 200, Islands: 1, Temperature: temperature},
	} {
		m = m.Settle(around(m), unheard())
		job := table(t, linear(t, nn.Gaussian{SD: noise}), x, y, variance)
		out := do(t, job, m)
		for k := range 3 {
			products := 0.0
			for i := range n {
				products += float64(x[3*i+k]) * float64(y[i])
			}
			sigma2 := temperature * variance / 2
			want := sigma2 * products / (noise * noise * temperature)
			mean, square := 0.0, 0.0
			for j, l := range out.Posterior.LogWeights {
				mean += math.Exp(l) * float64(out.Posterior.Theta[3*j+k])
			}
			for j, l := range out.Posterior.LogWeights {
				square += math.Exp(l) * math.Pow(float64(out.Posterior.Theta[3*j+k])-mean, 2)
			}
			if !(math.Abs(mean-want) <= 0.19*math.Sqrt(sigma2)) || !(math.Abs(math.Log(square/sigma2)) <= 0.27) {
				t.Errorf("%s: parameter %d is %v, variance %v, want %v, %v", name, k, mean, square, want, sigma2)
			}
		}
		for _, z := range out.Posterior.LogEvidence {
			if z != 0 {
				t.Errorf("%s: a log evidence of %v", name, z)
			}
		}
		for _, l := range out.Trace {
			if l.LogZ != 0 || l.LogZSD != nil || l.LadderBias != nil {
				t.Fatalf("%s: the trace has a log evidence: %+v", name, l.Info)
			}
			if l.Progress == 1 && !(math.Abs(l.Lambda-1/temperature) < 1e-12) {
				t.Errorf("%s ends at the power %v", name, l.Lambda)
			}
		}
		if w := words(out.Findings); m.Sampling().Comparable || strings.Contains(w, "evidence") {
			t.Errorf("%s: evidences are compared: %s", name, w)
		}
		if !strings.Contains(m.Title(), "of the cold posterior (T = 0.25)") {
			t.Errorf("%s has the title %q", name, m.Title())
		}
	}
}

// T = 1 is the posterior: bit for bit the run without a temperature, with its log evidence.
func TestTemperatureOne(t *testing.T) {
	for name, of := range map[string]func(temperature float64) Method{
		"mcmc": func(temperature float64) Method {
			return MCMC{Chains: 2, Start: "prior", Epochs: 200, Keep: 8, Move: mcmc.HMC{Steps: 2}, Temperature: temperature}
		},
		"smc": func(temperature float64) Method { return SMC{Particles: 10, Islands: 2, Temperature: temperature} },
	} {
		var all [2]*Outcome
		for i, temperature := range []float64{0, 1} {
			m := of(temperature)
			m = m.Settle(around(m), unheard())
			all[i] = do(t, newJob(t, 1), m)
		}
		for j, x := range all[0].Posterior.Theta {
			if all[1].Posterior.Theta[j] != x {
				t.Fatalf("%s: T = 1 gives other draws", name)
			}
		}
		if z := all[1].Posterior.LogEvidence[0]; z != all[0].Posterior.LogEvidence[0] || name == "smc" && z == 0 {
			t.Errorf("%s: log evidence %v at T = 1, else %v", name, z, all[0].Posterior.LogEvidence[0])
		}
	}
}

// What no cold posterior can have is refused, with the mend.
func TestBadTemperatures(t *testing.T) {
	learned := around(SMC{})
	learned.Prior = bnn.PriorSettings{Family: bnn.LearnedPrior{Shape: 1, Rate: 1}}
	partly := around(SMC{})
	partly.Partly = true
	usual := around(SMC{})
	for _, c := range []struct {
		m      Method
		around Around
		want   string
	}{
		{SMC{Temperature: -0.5}, usual, "temperature: want a number above 0, at most 1, have -0.5"},
		{SMC{Temperature: 1.5}, usual, "temperature: want a number above 0, at most 1, have 1.5"},
		{SMC{Temperature: math.NaN()}, usual, "temperature: want a number above 0, at most 1, have NaN"},
		{MCMC{Temperature: 2}, usual, "temperature: want a number above 0, at most 1, have 2"},
		{MCMC{Temperature: -1}, usual, "temperature: want a number above 0, at most 1, have -1"},
		{SMC{Temperature: 0.5, Path: smc.Schedule[smc.Full]{Iterations: 3}}, usual, "take path tempering, or leave temperature out"},
		{SMC{Temperature: 0.5, Path: smc.Ladder{Temperatures: []float64{0.5, 1}}}, usual, "take path tempering, or leave temperature out"},
		{SMC{Temperature: 0.5}, learned, "take no temperature, or a variance"},
		{MCMC{Temperature: 0.5}, learned, "take no temperature, or a variance"},
		{MCMC{Temperature: 0.5, Learning: Learning{smc.By[nn.Adam]{Rate: 0.1}}}, partly, "a cold posterior has none: leave one of the two out"},
		{SMC{Temperature: 0.5, Pilot: true}, usual, "a cold posterior has none: leave pilot out"},
		{SMC{Temperature: 0.5, Combine: bnn.Evidence{}}, usual, "a cold posterior has none: want combine: equal"},
	} {
		said := faults(func(f *config.Faults) {
			m := c.m.Settle(c.around, config.NewFaults())
			m.Settle(c.around, f)
			if check, ok := m.(config.Checker); ok {
				check.Check(f)
			}
		})
		if !strings.Contains(strings.Join(said, "\n"), c.want) {
			t.Errorf("%+v: %q, want %s", c.m, said, c.want)
		}
	}
}
