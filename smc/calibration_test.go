package smc

import (
	"context"
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Calibration by simulation (Talts et al. 2018, arXiv:1804.06788; Modrák et al. 2023, arXiv:2211.02383). θ is drawn from the
// prior and data from the model at θ. Then θ is one more draw from the posterior of these data: among L independent draws of a
// sampler that is right, the rank of any quantity of θ and the data is uniform on 0…L. The quantities are the log-likelihood of the
// data, which shows a sampler that forgets them, and predictions.

// simulated is a model of which data can be drawn.
type simulated struct {
	prior   normal
	observe func(theta []float64, stream *rng.Stream) mcmc.Model // at given parameters, other data
	predict []func(theta []float64) float64
	number  int // of replicates
}

// ranked is L, the number of draws among which a rank is found.
const ranked = 19

// posteriors are the samplers, with their defaults. Each returns at least L draws, which are nearly independent: chains make
// several moves for each state that they keep, and copies of a particle part under tempering before they count.
//
// L particles are thinned out of 3L, since the particles of a population depend on each other through their ancestors. If all
// together were worth only L independent draws, two indicators of lying below a value would have a correlation of 1/L − 1/3L = .035,
// and the ranks 0 and L would come up in 12.9 % of the cases in place of 10 %. The test finds 7.5 points more among 600.
func posteriors() map[string]func(model mcmc.Model, prior normal, seed uint64) *Sampler {
	chain := func(move mcmc.Move, epochs int) func(mcmc.Model, normal, uint64) *Sampler {
		return func(model mcmc.Model, prior normal, seed uint64) *Sampler {
			return &Sampler{Model: model, Prior: prior, Path: Fixed{Epochs: epochs}, Move: move.ForChains(), Particles: 1, Keep: Spread{States: ranked}, Seed: seed}
		}
	}
	return map[string]func(mcmc.Model, normal, uint64) *Sampler{
		"smc": func(model mcmc.Model, prior normal, seed uint64) *Sampler {
			return &Sampler{Model: model, Prior: prior, Path: Tempering{}, Move: mcmc.HMC{}, Particles: 3 * ranked, Seed: seed}
		},
		"chains": chain(mcmc.HMC{}, 1000),
		"nuts":   chain(mcmc.NUTS{}, 3000),
	}
}

// calibrated are the models: a logistic regression of 20 examples, a linear one of 40 with 20 coefficients, and a network of two hidden units
// with known noise.
func calibrated(t *testing.T) map[string]simulated {
	x := make([][]float64, 20)
	stream := rng.Key{Purpose: rng.Synthetic}.Stream()
	for i := range x {
		x[i] = []float64{1, stream.Normal(), 2 * stream.Normal()}
	}
	line := func(row []float64) func([]float64) float64 {
		return func(theta []float64) (z float64) {
			for i, v := range row {
				z += v * theta[i]
			}
			return z
		}
	}

	wide := make([][]float64, 40)
	for i := range wide {
		wide[i] = make([]float64, 20)
		stream.Normals(wide[i])
	}

	const sd = 0.8
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 2}, nn.Tanh, nn.Dense{Units: 1}}, nn.Gaussian{SD: sd})
	if err != nil {
		t.Fatal(err)
	}
	inputs := make([]float32, 10)
	for i := range inputs {
		inputs[i] = -2 + 4*float32(i)/9
	}
	output := func(x float64) func([]float64) float64 {
		return func(w []float64) float64 {
			return w[6] + w[4]*math.Tanh(w[0]*x+w[2]) + w[5]*math.Tanh(w[1]*x+w[3])
		}
	}
	workers := nn.NewPool(1)
	return map[string]simulated{
		"logistic": {
			prior: normal{d: 3, sd: 1.5},
			observe: func(theta []float64, stream *rng.Stream) mcmc.Model {
				y := make([]float64, len(x))
				for i, row := range x {
					if stream.Float64() < 1/(1+math.Exp(-line(row)(theta))) {
						y[i] = 1
					}
				}
				return logistic(x, y)
			},
			predict: []func([]float64) float64{line([]float64{1, 1, 0}), line([]float64{1, -1, 2})},
			number:  600,
		},
		"linear": {
			prior: normal{d: 20, sd: 1},
			observe: func(theta []float64, stream *rng.Stream) mcmc.Model {
				y := make([]float64, len(wide))
				for i, row := range wide {
					y[i] = line(row)(theta) + stream.Normal()
				}
				return regression(wide, y, 1, 1)
			},
			predict: []func([]float64) float64{line(wide[0]), func(theta []float64) float64 { return theta[7] }},
			number:  200,
		},
		"network": {
			prior: normal{d: 7, sd: 1},
			observe: func(theta []float64, stream *rng.Stream) mcmc.Model {
				y := make([]float32, len(inputs))
				for i, x := range inputs {
					y[i] = float32(output(float64(x))(theta) + sd*stream.Normal())
				}
				model, err := nn.NewModel(net, &data.Set{Name: "simulated", Shape: []int{1}, F32: inputs, Values: y, Outputs: 1}, workers)
				if err != nil {
					t.Fatal(err)
				}
				return model
			},
			predict: []func([]float64) float64{output(-1), output(3)},
			number:  300,
		},
	}
}

// quantities are the log-likelihood and the predictions of parameter vectors, vector by vector.
func (m simulated) quantities(t *testing.T, model mcmc.Model, theta []float64) [][]float64 {
	t.Helper()
	d := m.prior.d
	values := [][]float64{make([]float64, len(theta)/d)}
	if err := model.LogLik(context.Background(), nil, theta, values[0], nil); err != nil {
		t.Fatal(err)
	}
	for _, f := range m.predict {
		predicted := make([]float64, len(theta)/d)
		for j := range predicted {
			predicted[j] = f(theta[j*d : (j+1)*d])
		}
		values = append(values, predicted)
	}
	return values
}

// The ranks of every quantity, model and sampler are uniform. A right sampler fails once in 10⁶ runs of the whole test
// (notUniform), if its draws are independent. A share of the ranks that is wrong by 6.1 standard deviations is found: for 600
// replicates .075 at a share of .1, and .125 at the middle; for 300 .106 and .176. The usual test has a quarter of the replicates, and finds
// twice these errors. A sampler whose moves are right but do not reach the posterior fails here, and not where chains start from exact
// draws.
func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole test looks at samplers of one thread, whose bits are the same everywhere")
	}
	models, samplers, share := calibrated(t), posteriors(), 4
	if testkit.Long(t, 1) {
		share = 1
	}
	for name, m := range models {
		for title, sampler := range samplers {
			t.Run(name+"/"+title, func(t *testing.T) {
				t.Parallel()
				number := m.number / share
				ranks := make([][]int, 1+len(m.predict))
				truth := make([]float64, m.prior.d)
				for i := range number {
					stream := rng.Key{Seed: 1, Purpose: rng.Synthetic, Particle: i}.Stream()
					m.prior.Sample(stream, truth)
					model := m.observe(truth, stream)
					st, _ := run(t, sampler(model, m.prior, uint64(i)))
					kept := st.Ensemble()
					theta, logw := kept.Theta, kept.LogW
					for _, w := range logw {
						if w != logw[0] {
							t.Fatalf("weights %v differ", logw)
						}
					}
					want, got := m.quantities(t, model, truth), m.quantities(t, model, theta)
					for q := range ranks {
						n, rank := len(got[q]), 0
						if n < ranked {
							t.Fatalf("%d states kept, want at least %d", n, ranked)
						}
						for k := range ranked {
							if got[q][(k+1)*n/ranked-1] < want[q][0] {
								rank++
							}
						}
						ranks[q] = append(ranks[q], rank)
					}
				}
				for q, r := range ranks {
					if fault := notUniform(r, len(models)*len(samplers)*len(ranks)); fault != "" {
						t.Errorf("quantity %d: %s", q, fault)
					}
				}
			})
		}
	}
}
