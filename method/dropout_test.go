package method

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// A descent takes its gradients with the masks of its restart and epoch, and its looks at the validation examples without.
func TestDescentsDrop(t *testing.T) {
	const batch, epochs, rate, seed = 16, 3, 0.1, 5
	net, train, validate := dropping(0.4), blobs(1, 50), blobs(2, 30)
	s := looking{Search: Search{Restarts: 2, Epochs: epochs, Batch: batch, Rate: rate, Patience: epochs}, seed: seed}
	got := s.fit(t, net, 0.5, train, validate, 2)

	training, err := nn.NewModel(net, train, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	looks, err := nn.NewModel(net, validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	p := prior(t, net, 0.5)
	for k := range 2 {
		theta, ll, grad, slope := make([]float64, net.Dim()), make([]float64, 1), make([]float64, net.Dim()), make([]float64, net.Dim())
		p.Sample(rng.Key{Seed: seed, Purpose: rng.Start, Particle: k}.Stream(), theta)
		best := math.Inf(1)
		for epoch := 1; epoch <= epochs; epoch++ {
			order := make([]int32, 50)
			rng.Key{Seed: seed, Purpose: rng.Batch, Particle: k, Iteration: epoch}.Stream().Perm(order)
			for rows := range data.Batches(order, batch) {
				if err := training.LogLikSeen(t.Context(), nn.View{Seed: seed, Restart: k, Epoch: epoch}, rows, theta, ll, grad); err != nil {
					t.Fatal(err)
				}
				p.LogDensity(theta, slope)
				for i := range theta {
					theta[i] += rate * (grad[i]/float64(len(rows)) + slope[i]/50)
				}
			}
			if err := looks.LogLik(t.Context(), nil, theta, ll, nil); err != nil {
				t.Fatal(err)
			}
			best = min(best, -ll[0]/30)
		}
		wantNear(t, "parameters", got.restarts[k].Theta, theta, 1e-12)
		wantNear(t, "best NLL", []float64{got.NLL[k]}, []float64{best}, 1e-12)
	}

	zero, plain := s.fit(t, dropping(0), 0.5, train, validate, 1), s.fit(t, mlp(t), 0.5, train, validate, 2)
	for k := range 2 {
		if !slices.Equal(zero.restarts[k].Theta, plain.restarts[k].Theta) {
			t.Errorf("restart %d: dropout of rate 0 has other bits than none", k)
		}
		if slices.Equal(got.restarts[k].Theta, plain.restarts[k].Theta) {
			t.Errorf("restart %d: dropout of rate 0.4 has the bits of none", k)
		}
	}
}

// The ensemble is the best restart with the masks of the passes, equally weighted.
func TestDropoutIsPassesOfTheBest(t *testing.T) {
	m := Dropout{Passes: 5}
	job := newJob(t, 2).provide(m)
	out := do(t, job, m)
	d := job.Net.Dim()
	theta := make([]float64, 5*d)
	for i, x := range out.Posterior.Theta {
		theta[i] = float64(x)
	}
	for pass := range 5 {
		want := slices.Clone(job.Points.Best())
		job.Net.Pass(want, job.Seed, pass)
		wantNear(t, "a pass", theta[pass*d:][:d], want, 1e-6)
		wantNear(t, "weight", []float64{out.Posterior.LogWeights[pass]}, []float64{-math.Log(5)}, 1e-12)
	}
	if out.Restarts.Size() != 8 || slices.Equal(theta[:d], theta[d:2*d]) {
		t.Errorf("%d restarts; the first two passes are equal: %v", out.Restarts.Size(), slices.Equal(theta[:d], theta[d:2*d]))
	}
}

// Passes with one mask for all examples have, example by example, the mean probabilities and the mean entropy of passes with a
// mask for each example. These are computed as likelihoods of training steps, one for each class. The 6 × (3 + 1) differences
// are within 5.5 standard errors, which one of them exceeds with probability 9e-7. An error of .03 in a probability is found.
func TestPassesAgreeWithMasksOfExamples(t *testing.T) {
	passes := 4000
	if testing.Short() {
		passes = 1000
	}
	net, set := dropping(0.3), blobs(4, 6)
	s := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
	theta := make([]float64, net.Dim())
	s.Normals(theta)
	model, err := nn.NewModel(net, set, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	var figures [2][6 * 4]moments // of passes, and of masks of examples: probabilities and entropy of each example
	add := func(to *[6 * 4]moments, probabilities []float64) {
		for i := range 6 {
			p := probabilities[3*i:][:3]
			for c, v := range append(slices.Clone(p), uq.Entropy(p)) {
				to[4*i+c].add(v)
			}
		}
	}
	of := make([]*nn.Model, 3) // the examples, as if each were of this class
	for c := range of {
		other := *set
		other.Labels = slices.Repeat([]int32{int32(c)}, 6)
		if of[c], err = nn.NewModel(net, &other, pool.New(1)); err != nil {
			t.Fatal(err)
		}
	}
	logits, ll := make([]float32, 6*3), make([]float64, 1)
	for pass := range passes {
		own := slices.Clone(theta)
		net.Pass(own, 3, pass)
		if err := model.Outputs(t.Context(), nil, own, logits); err != nil {
			t.Fatal(err)
		}
		var shared, each [6 * 3]float64
		for i := range 6 {
			sum := 0.0
			for c, z := range logits[3*i:][:3] {
				shared[3*i+c] = math.Exp(float64(z))
				sum += shared[3*i+c]
			}
			for c := range 3 {
				shared[3*i+c] /= sum
				if err := of[c].LogLikSeen(t.Context(), nn.View{Seed: 3, Epoch: 1 + pass}, []int32{int32(i)}, theta, ll, nil); err != nil {
					t.Fatal(err)
				}
				each[3*i+c] = math.Exp(ll[0])
			}
		}
		add(&figures[0], shared[:])
		add(&figures[1], each[:])
	}
	for i := range figures[0] {
		a, b := figures[0][i], figures[1][i]
		if sd := math.Sqrt(a.variance()/a.n + b.variance()/b.n); !(math.Abs(a.mean()-b.mean()) <= 5.5*sd) || sd == 0 {
			t.Errorf("example %d, figure %d: mean %v over passes, %v over masks of its own, ± %v", i/4, i%4, a.mean(), b.mean(), sd)
		}
	}
}

// moments are sums over numbers and their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *moments) mean() float64 { return m.sum / m.n }

func (m *moments) variance() float64 { return (m.squares - m.sum*m.sum/m.n) / (m.n - 1) }
