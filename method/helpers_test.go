package method

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// regression is a set of n examples of 3 features whose target is linear with noise.
func regression(n int) *data.Set {
	s := rng.Key{Seed: 11, Purpose: rng.Synthetic}.Stream()
	set := &data.Set{Name: "linear", Shape: []int{3}, F32: make([]float32, 3*n), Values: make([]float32, n), Outputs: 1}
	for i := range n {
		y := 0.5 * s.Normal()
		for k := range 3 {
			x := s.Normal()
			set.F32[3*i+k] = float32(x)
			y += float64(k-1) * x
		}
		set.Values[i] = float32(y)
	}
	return set
}

func linear(t testing.TB, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// blobs is a set of n examples of 5 features in 3 classes, and mlp a network for it.
func blobs(seed uint64, n int) *data.Set {
	s := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	set := &data.Set{Name: "blobs", Shape: []int{5}, F32: make([]float32, 5*n), Labels: make([]int32, n), Classes: 3}
	for i := range n {
		c := s.IntN(3)
		set.Labels[i] = int32(c)
		for k := range 5 {
			set.F32[5*i+k] = float32(s.Normal())
		}
		set.F32[5*i+c] += 2
	}
	return set
}

func mlp(t testing.TB) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 8}, nn.Tanh, nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// dropping is mlp with a dropout layer.
func dropping(rate float64) *nn.Net {
	net, err := nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 8}, nn.Tanh, nn.Dropout(rate), nn.Dense{Units: 3}}, nn.Categorical{})
	if err != nil {
		panic(err)
	}
	return net
}

func prior(t testing.TB, net *nn.Net, variance float64) *bnn.Normal {
	t.Helper()
	p, err := bnn.Isotropic(net.Tensors(), variance)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wantNear(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// without is a run that keeps nothing.
func without(t testing.TB) *runs.Run {
	t.Helper()
	r, err := runs.Open(nil, nil, runs.Manifest{}, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newJob is a job on 60 examples to train on, 30 to validate and 40 to test.
func newJob(t testing.TB, threads int) *Job {
	t.Helper()
	j := &Job{
		Seed: 7, Net: mlp(t), Pool: pool.New(threads), Run: without(t),
		Data: &data.Problem{Name: "blobs", Train: blobs(1, 60), Validate: blobs(2, 30), Test: blobs(3, 40)},
	}
	j.Prior = prior(t, j.Net, 0.5)
	var err error
	if j.Model, err = nn.NewTraining(j.Net, j.Data, j.Pool); err != nil {
		t.Fatal(err)
	}
	return j
}

// unheard takes faults that nobody asks for.
func unheard() *config.Faults { return config.NewFaults() }

// around are settings around a method that has what it needs.
func around(m Method) Around {
	a := Around{Prior: bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 0.5}}}
	needs := m.Needs()
	a.Init = needs.Init
	if !needs.Prior {
		a.Prior = bnn.PriorSettings{}
	}
	if needs.Search || needs.Point {
		a.Search = &Search{}
		a.Search.Complete(needs.Restarts, true, nil)
		a.Search.Epochs = 3
	}
	return a
}

// provide gives a job what a method needs.
func (j *Job) provide(m Method) *Job {
	a := around(m)
	j.Search = a.Search
	if m.Needs().Dropout {
		j.Net = dropping(0.3)
		var err error
		if j.Model, err = nn.NewTraining(j.Net, j.Data, j.Pool); err != nil {
			panic(err)
		}
	}
	if a.Init {
		j.Init = make([]float64, j.Net.Dim())
		for i := range j.Init {
			j.Init[i] = 0.3 * math.Sin(float64(i))
		}
	}
	return j
}

func do(t testing.TB, j *Job, m Method) *Outcome {
	t.Helper()
	out, err := j.Do(t.Context(), m)
	if err != nil {
		t.Fatalf("%s: %v", m.Title(), err)
	}
	return out
}

// words are what findings say, a line each.
func words(found []finding.Finding) string {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Words())
	}
	return strings.Join(lines, "\n")
}

// sentences are what a page says of findings.
func sentences(found []finding.Finding) string {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Sentence())
	}
	return strings.Join(lines, "\n")
}

// faults are the sentences of what is wrong, each with its place.
func faults(check func(*config.Faults)) (lines []string) {
	f := config.NewFaults()
	check(f)
	for _, fault := range f.All() {
		lines = append(lines, fault.Path+": "+fault.Message)
	}
	return lines
}

// packed is a part as it is saved.
func packed(t testing.TB, p runs.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// away is the largest difference of any parameter of any particle from θ.
func away(e *bnn.Ensemble, theta []float64) (far float64) {
	for i, x := range e.Theta {
		far = max(far, math.Abs(float64(x)-theta[i%len(theta)]))
	}
	return far
}

// kinds are the kinds of findings.
func kinds(found []finding.Finding) (names []string) {
	for _, f := range found {
		names = append(names, f.Kind)
	}
	return names
}

func has(found []finding.Finding, kind string) bool { return slices.Contains(kinds(found), kind) }
