package bnn

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// TestParticlesOfARegression: every output of every particle, also of one without weight, is what the particle predicts alone.
func TestParticlesOfARegression(t *testing.T) {
	e, set := regression(t, nn.Learned, 6, 70)
	seen := make([]int, set.Len())
	want := make([][]float64, e.Size())
	for j := range want {
		v, err := alone(e, j).PredictRegression(t.Context(), set, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[j] = v.Mean
	}
	err := e.Particles(t.Context(), set, pool.New(2), func(i int, values [][]float64) {
		seen[i]++
		if len(values) != 2 || len(values[0]) != e.Size() || len(values[1]) != e.Size() {
			t.Fatalf("%d numbers of %d particles", len(values), len(values[0]))
		}
		for v, of := range values {
			for j, x := range of {
				if x != want[j][2*i+v] {
					t.Errorf("output %d of particle %d for example %d is %v, want %v", v, j, i, x, want[j][2*i+v])
				}
			}
		}
	})
	if err != nil || slices.Min(seen) != 1 || slices.Max(seen) != 1 {
		t.Errorf("examples are visited %v times, %v", seen, err)
	}
}

// alone is an ensemble of particle j.
func alone(e *Ensemble, j int) *Ensemble {
	d := e.Net.Dim()
	return &Ensemble{Net: e.Net, Theta: e.Theta[j*d : (j+1)*d], LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0}}
}

// TestParticlesOfClasses: the probability that each particle has for the answer of all together.
func TestParticlesOfClasses(t *testing.T) {
	e, set := random(t, 6, 70)
	whole := predict(t, e, set, 1)
	var want [][]float64
	for j := range e.Size() {
		want = append(want, predict(t, alone(e, j), set, 1).Probs)
	}
	k := whole.Classes
	err := e.Particles(t.Context(), set, pool.New(2), func(i int, values [][]float64) {
		answer := uq.Argmax(whole.Probs[i*k : (i+1)*k])
		for j, p := range values[0] {
			if !(math.Abs(p-want[j][i*k+answer]) <= 1e-15) || len(values) != 1 {
				t.Errorf("particle %d for example %d: %v, want %v", j, i, p, want[j][i*k+answer])
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	set.Shape = []int{1}
	if err := e.Particles(t.Context(), set, nil, func(int, [][]float64) {}); err == nil {
		t.Error("inputs of another shape pass")
	}
}

// TestParticlesByBlocks: more outputs than are in memory at the same time come in blocks, without a seam. Particle j of the network
// y = w x has the weight j.
func TestParticlesByBlocks(t *testing.T) {
	const particles, examples = 40_000, 130
	e := &Ensemble{Net: oneWeight(t), Theta: make([]float32, particles), LogWeights: make([]float64, particles)}
	for j := range e.Theta {
		e.Theta[j] = float32(j)
	}
	set := indicators(examples)
	set.Shape = []int{1}
	set.F32, set.U8 = make([]float32, examples), nil
	for i := range set.F32 {
		set.F32[i] = float32(i)
	}
	if n := atATime(particles, 1, examples); n != 64 {
		t.Fatalf("%d examples at a time, want 64", n)
	}
	if got := ParticlesBytes(particles, 1, examples); got != 4*64*particles {
		t.Errorf("%d bytes", got)
	}
	if got := ParticlesBytes(10, 3, examples); got != 4*examples*10*3 {
		t.Errorf("%d bytes for few particles", got)
	}
	err := e.Particles(t.Context(), set, pool.New(2), func(i int, values [][]float64) {
		for j, x := range values[0] {
			if x != float64(float32(i)*float32(j)) {
				t.Fatalf("particle %d for example %d: %v", j, i, x)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}
