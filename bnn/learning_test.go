package bnn

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// The gradient of ψ is that of Σ_j W_j times the log-likelihoods, by central differences.
func TestLearningGradient(t *testing.T) {
	net := partlyNet(t, "a", 2, nn.Gaussian{SD: nn.Learned})
	_, set := inputs(60)
	model, err := nn.NewTraining(net, &data.Problem{Train: set}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream()
	psi, theta, weights := make([]float64, net.Learned()), make([]float64, 3*net.Dim()), []float64{0.2, 0, 0.8}
	s.Normals(psi)
	s.Normals(theta)
	rows := []int32{3, 1, 4, 15, 9, 26, 5, 35, 8}
	learning := Learning{model.At(psi)}
	sum := func(psi []float64) (sum float64) {
		ll := make([]float64, len(weights))
		if err := learning.At(psi).LogLik(t.Context(), rows, theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		for j, w := range weights {
			sum += w * ll[j]
		}
		return sum
	}
	const h = 1. / 128
	want, scale := make([]float64, len(psi)), 0.0
	for i := range psi {
		up, down := slices.Clone(psi), slices.Clone(psi)
		up[i] += h
		down[i] -= h
		want[i] = (sum(up) - sum(down)) / (2 * h)
		scale = max(scale, math.Abs(want[i]))
	}
	got := make([]float64, len(psi))
	if err := (Learning{model.At(make([]float64, len(psi)))}).LearnedGradient(t.Context(), rows, psi, theta, weights, got); err != nil {
		t.Fatal(err)
	}
	wantNear(t, "gradient", got, want, 0, 1e-3*scale)
	if name := learning.LearnedName(9); name != "b.bias[1]" || learning.Learned() != 11 {
		t.Errorf("%s, %d parameters to learn", name, learning.Learned())
	}
}

// firstLayer is what a statistician would write by hand for the first layer of y = N(B tanh(A x + a) + b, σ²) alone: B, b and σ
// are given numbers.
type firstLayer struct {
	inputs, values []float32
	b, bias        []float64
	sd             float64
}

func (*firstLayer) Dim() int        { return 4*3 + 4 }
func (m *firstLayer) Examples() int { return len(m.inputs) / 3 }
func (m *firstLayer) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	clear(ll)
	clear(grad)
	d := m.Dim()
	for j := range ll {
		own := theta[j*d:][:d]
		for i := range m.Examples() {
			x := m.inputs[3*i:][:3]
			var hidden, slope [4]float64
			for u := range hidden {
				z := own[12+u]
				for k, v := range x {
					z += own[3*u+k] * float64(v)
				}
				hidden[u] = math.Tanh(z)
			}
			for o := range 2 {
				r := float64(m.values[2*i+o]) - m.bias[o]
				for u, h := range hidden {
					r -= m.b[4*o+u] * h
				}
				ll[j] -= r*r/(2*m.sd*m.sd) + math.Log(m.sd) + math.Log(2*math.Pi)/2
				for u, h := range hidden {
					slope[u] += r / (m.sd * m.sd) * m.b[4*o+u] * (1 - h*h)
				}
			}
			if grad == nil {
				continue
			}
			for u, g := range slope {
				for k, v := range x {
					grad[j*d+3*u+k] += g * float64(v)
				}
				grad[j*d+12+u] += g
			}
		}
	}
	return nil
}

// With ψ held and a full batch, a network whose first layer is random gives what a hand-written model of that layer alone gives:
// the same particles after each move of HMC with the same keys, up to the rounding of float32 in the network.
func TestRandomFirstLayerAsHandWritten(t *testing.T) {
	net, err := nn.NewPartly([]int{3}, []nn.Layer{nn.Dense{Units: 4, Name: "first"}, nn.Tanh, nn.Dense{Units: 2}}, nn.Gaussian{SD: nn.Learned},
		func(module string) nn.Role {
			if module == "first" {
				return nn.RoleRandom
			}
			return nn.RoleLearned
		})
	if err != nil {
		t.Fatal(err)
	}
	const particles = 20
	_, set := inputs(50)
	model, err := nn.NewTraining(net, &data.Problem{Train: set}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	psi := make([]float64, net.Learned())
	s.Normals(psi)
	hand := &firstLayer{inputs: set.F32, values: set.Values, b: psi[:8], bias: psi[8:10], sd: math.Exp(psi[10])}
	prior, err := (NormalPrior{Variance: 0.5}).Prior(net.Random(), 1)
	if err != nil {
		t.Fatal(err)
	}
	move := mcmc.HMC{Steps: 5, Step: 0.12, Scale: mcmc.None}
	var ends, ratios [2][]float64
	for i, m := range []mcmc.Model{Learning{model}.At(psi), hand} {
		target := &mcmc.Target{Model: m, Prior: prior, Lambda: 1}
		p := mcmc.NewPopulation(particles, net.Dim(), move.Traits().Needs)
		for j := range particles {
			prior.Sample(rng.Key{Seed: 7, Purpose: rng.Start, Particle: j}.Stream(), p.Theta[j*p.D:][:p.D])
		}
		if err := target.Evaluate(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w mcmc.Work
		for k := range 4 {
			out, err := move.Mutate(t.Context(), &w, target, &p, tuning, mcmc.StepContext{Key: rng.Key{Seed: 7, Iteration: k}})
			if err != nil {
				t.Fatal(err)
			}
			ratios[i] = append(ratios[i], out.Probability...)
		}
		ends[i] = append(p.Theta, p.LL...)
	}
	wantNear(t, "particles and their log-likelihoods", ends[0], ends[1], 1e-4, 1e-4)
	wantNear(t, "acceptances", ratios[0], ratios[1], 0, 1e-3)
	if mean := uq.Mean(ratios[1]); !(mean > 0.2 && mean < 0.95) {
		t.Errorf("acceptance %v, the test wants some rejections", mean)
	}
}
