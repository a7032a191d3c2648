package bnn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// partlyNet has a frozen layer on 3 inputs, then the layers a and b. The layer of the given name is random, the other is learned.
func partlyNet(t testing.TB, random string, outputs int, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.NewPartly([]int{3}, []nn.Layer{
		nn.Dense{Units: 3, Name: "frozen"}, nn.Tanh, nn.Dense{Units: 4, Name: "a"}, nn.Tanh, nn.Dense{Units: outputs, Name: "b"},
	}, lik, func(module string) nn.Role {
		switch module {
		case random:
			return nn.RoleRandom
		case "frozen":
			return nn.RoleFrozen
		}
		return nn.RoleLearned
	})
	if err != nil {
		t.Fatal(err)
	}
	return valued(t, net)
}

// valued is the network with values of its constants, 1/8, 2/8 …
func valued(t testing.TB, net *nn.Net) *nn.Net {
	t.Helper()
	whole := make([]float64, net.Parameters())
	for i := range whole {
		whole[i] = float64(i+1) / 8
	}
	net, err := net.Holding(whole)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// partlyRandom draws an ensemble of two islands: one of particles that share ψ, the other of two times with ψ of their own. One
// particle of each is dead.
func partlyRandom(t testing.TB, net *nn.Net, particles int) *Ensemble {
	t.Helper()
	s := rng.Key{Seed: 8, Purpose: rng.Synthetic}.Stream()
	islands := make([]Island, 2)
	for p := range islands {
		islands[p] = Island{
			Theta: make([]float64, particles*net.Dim()), Shared: make([]float64, (p+1)*net.Learned()),
			LogWeights: make([]float64, particles), LogEvidence: float64(p),
		}
		s.Normals(islands[p].Theta)
		s.Normals(islands[p].Shared)
		s.Normals(islands[p].LogWeights)
		islands[p].LogWeights[1] = math.Inf(-1)
	}
	e, err := Combine(net, islands, Evidence{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// joined is the same ensemble of whole networks.
func joined(e *Ensemble) *Ensemble {
	whole := &Ensemble{Net: e.Net.Whole(), LogWeights: e.LogWeights, Island: e.Island, LogEvidence: e.LogEvidence}
	d, s := e.Net.Dim(), e.Net.Learned()
	for j := range e.Size() {
		one := e.Net.Join(widen(nil, e.Theta[j*d:(j+1)*d]), widen(nil, e.Shared[int(e.Row[j])*s:][:s]))
		whole.Theta = narrow(whole.Theta, one)
	}
	return whole
}

// inputs draws n examples of 3 inputs, with a label and two target values each.
func inputs(n int) (classes, values *data.Set) {
	s := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream()
	set := data.Set{Name: "random", Shape: []int{3}, F32: make([]float32, 3*n)}
	for i := range set.F32 {
		set.F32[i] = float32(s.Normal())
	}
	labelled, valued := set, set
	labelled.Labels, labelled.Classes = make([]int32, n), 2
	valued.Values, valued.Outputs = make([]float32, 2*n), 2
	for i := range n {
		labelled.Labels[i] = int32(s.IntN(2))
		valued.Values[2*i], valued.Values[2*i+1] = float32(s.Normal()), float32(s.Normal())
	}
	return &labelled, &valued
}

// An ensemble whose particles share ψ predicts, and is scored, as the same networks where nothing is shared: the same bits, by any
// number of threads and for more examples than one pass takes.
func TestSharedPredictsAsWhole(t *testing.T) {
	const particles = 40 // more than one pass of whole networks, 20 of each row of the second island
	classes, values := inputs(300)
	for _, random := range []string{"a", "b"} {
		e := partlyRandom(t, partlyNet(t, random, 2, nn.Categorical{}), particles)
		whole := joined(e)
		weightings := [][]float64{slices.Repeat([]float64{math.Inf(-1)}, e.Size()), e.LogWeights}
		weightings[0][particles+particles/2] = 0 // the first of the last row
		for _, threads := range []int{1, 3} {
			var got [2]string
			for i, e := range []*Ensemble{e, whole} {
				scored, err := e.EvaluateClasses(t.Context(), classes, []data.Group{{Name: "same", Set: classes}}, weightings, nil, false, pool.New(threads))
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range scored {
					got[i] += fmt.Sprintln(*v.Test, *v.Groups[0], v.NLL)
				}
			}
			if got[0] != got[1] {
				t.Errorf("classes, random layer %s, %d threads: other predictions than of whole networks", random, threads)
			}
		}
		for _, lik := range []nn.Likelihood{nn.Gaussian{SD: 0.5}, nn.Gaussian{SD: nn.Learned}} {
			e := partlyRandom(t, partlyNet(t, random, 2, lik), particles)
			var got [2]string
			for i, e := range []*Ensemble{e, joined(e)} {
				scored, err := e.EvaluateRegression(t.Context(), values, nil, []float64{0.05, 0.95}, weightings, pool.New(2))
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range scored {
					got[i] += fmt.Sprintln(v.Regression, v.LogDensity, v.CRPS, v.PIT)
				}
				each := make([]string, values.Len())
				err = e.Particles(t.Context(), values, pool.New(2), func(i int, values [][]float64) { each[i] = fmt.Sprint(values) })
				if err != nil {
					t.Fatal(err)
				}
				got[i] += fmt.Sprint(each)
			}
			if got[0] != got[1] {
				t.Errorf("%+v, random layer %s: other predictions than of whole networks", lik, random)
			}
		}
	}
}

// More outputs than are in memory at the same time: the network is evaluated for some examples after others.
func TestSharedPredictsByBlocks(t *testing.T) {
	set, _ := inputs(300)
	e := partlyRandom(t, partlyNet(t, "b", 64, nn.Categorical{}), 200)
	if _, block := e.pass(400, 300); block != 256 {
		t.Fatalf("blocks of %d examples, the test wants two blocks", block)
	}
	if fmt.Sprint(*predict(t, e, set, 2)) != fmt.Sprint(*predict(t, joined(e), set, 2)) {
		t.Error("other predictions than of whole networks")
	}
}

// The noise that particles share is that of their row.
func TestSharedNoise(t *testing.T) {
	net := partlyNet(t, "a", 2, nn.Gaussian{SD: nn.Learned})
	islands := []Island{
		{Theta: make([]float64, 2*net.Dim()), Shared: make([]float64, net.Learned())},
		{Theta: make([]float64, 2*net.Dim()), Shared: make([]float64, 2*net.Learned())},
	}
	for i := range 3 {
		islands[min(i, 1)].Shared[max(0, i-1)*net.Learned()+net.Learned()-1] = math.Log(float64(2 + i))
	}
	e := combine(t, net, islands, Equal{})
	_, set := inputs(1)
	for j, want := range []float64{2, 2, 3, 4} {
		alone := slices.Repeat([]float64{math.Inf(-1)}, 4)
		alone[j] = 0
		scored, err := e.EvaluateRegression(t.Context(), set, nil, nil, [][]float64{alone}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, "noise", scored[0].Aleatoric, []float64{want, want}, 1e-6, 0)
	}
}

// Where all that is shared is frozen, there are no rows, and the likelihood has no parameter.
func TestSharedFrozen(t *testing.T) {
	net, err := nn.NewPartly([]int{3}, []nn.Layer{nn.Dense{Units: 2, Name: "a"}, nn.Dense{Units: 2}}, nn.Gaussian{SD: 3}, func(module string) nn.Role {
		return map[string]nn.Role{"a": nn.RoleFrozen}[module]
	})
	if err != nil {
		t.Fatal(err)
	}
	_, set := inputs(2)
	e := partlyRandom(t, valued(t, net), 4)
	if e.Row != nil || len(e.Shared) > 0 {
		t.Errorf("rows %v of %v", e.Row, e.Shared)
	}
	v, err := e.PredictRegression(t.Context(), set, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, "noise", v.Aleatoric, []float64{3, 3, 3, 3}, 1e-12, 0)
}

// A pass has particles of one row. What they share is computed once a pass: many particles are in it, as far as memory goes.
func TestSharedPasses(t *testing.T) {
	set, _ := inputs(1)
	net := partlyNet(t, "b", 2, nn.Categorical{})
	model, err := nn.NewModel(net, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &Ensemble{Net: net, Row: []int32{0, 0, 0, 1, 1, 2, 2}, Shared: make([]float32, 3*net.Learned())}
	got := ""
	for _, group := range e.passes(model, []int{0, 2, 3, 4, 6}, 2) {
		got += fmt.Sprint(group)
	}
	for _, group := range e.passes(model, []int{0, 1, 2, 5}, 2) {
		got += fmt.Sprint(group)
		if group[0] == 2 {
			break
		}
	}
	if got != "[0 2][3 4][6][0 1][2]" {
		t.Errorf("passes %s", got)
	}
	for _, c := range []struct{ particles, examples, most, block int }{
		{3, 100, 16, 100}, {1000, 100, 1000, 100}, {1000, 10_000, 1000, 2048}, {10_000, 10_000, 8192, 256},
	} {
		if most, block := e.pass(c.particles, c.examples); most != c.most || block != c.block {
			t.Errorf("%d particles and %d examples: passes of %d for %d examples, want %d for %d", c.particles, c.examples, most, block, c.most, c.block)
		}
	}
	whole := &Ensemble{Net: net.Whole()}
	if most, block := whole.pass(1000, 10_000); most != together || block != 10_000 {
		t.Errorf("whole networks: passes of %d for %d examples", most, block)
	}
}

// Combine wants ψ where particles share it, in rows of their groups, and none where they do not.
func TestCombineShared(t *testing.T) {
	net := partlyNet(t, "a", 2, nn.Categorical{})
	if e := partlyRandom(t, net, 4); !slices.Equal(e.Row, []int32{0, 0, 0, 0, 1, 1, 2, 2}) || len(e.Shared) != 3*net.Learned() || e.check() != nil {
		t.Errorf("rows %v, %d shared parameters, %v", e.Row, len(e.Shared), e.check())
	}
	d, s := net.Dim(), net.Learned()
	for name, c := range map[string]struct {
		net    *nn.Net
		island Island
	}{
		"no ψ":         {net, Island{Theta: make([]float64, d)}},
		"a part of it": {net, Island{Theta: make([]float64, d), Shared: make([]float64, s-1)}},
		"3 of 2":       {net, Island{Theta: make([]float64, 2*d), Shared: make([]float64, 3*s)}},
		"whole":        {net.Whole(), Island{Theta: make([]float64, net.Parameters()), Shared: make([]float64, s)}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Combine(c.net, []Island{c.island}, nil)
		}()
	}
}
