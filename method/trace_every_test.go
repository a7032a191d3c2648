package method

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// A line for every n moves changes no state, kept ones included; its numbers are those of its moves together. A line ends with the
// warm-up, so that none has moves of both halves.
func TestSparseTrace(t *testing.T) {
	for _, epochs := range []int{38, 36} { // in either half 19 moves; 18, of which both last lines have 2
		testSparseTrace(t, epochs)
	}
}

func testSparseTrace(t *testing.T, epochs int) {
	const every = 4
	m := chains(2, epochs, 0)
	m.Keep, m.Move = 18, mcmc.HMC{Steps: 1, Accept: 0.574}
	dense := do(t, newJob(t, 1), m)
	m.Trace.Every = every
	sparse := do(t, newJob(t, 2), m)
	if !slices.Equal(dense.Posterior.Theta, sparse.Posterior.Theta) {
		t.Error("the states depend on how often there are lines")
	}
	all, some := byIsland(dense.Trace), byIsland(sparse.Trace)
	for c, lines := range some {
		if want := 2 * ((epochs/2 + every - 1) / every); len(lines) != want || len(all[c]) != epochs {
			t.Fatalf("%d lines and %d of all moves, want %d", len(lines), len(all[c]), want)
		}
		begin := 0
		for i, l := range lines {
			end := min(begin+every, epochs)
			if begin < epochs/2 {
				end = min(end, epochs/2)
			}
			moves := all[c][begin:end]
			begin = end
			last, accepted, divergent := moves[len(moves)-1], 0.0, 0
			for _, one := range moves {
				accepted += float64(one.Acceptance) / float64(len(moves))
				divergent += one.Divergent
			}
			if l.K != i+1 || l.Mutations != len(moves) || !(math.Abs(float64(l.Acceptance)-accepted) <= 1e-12) || l.Divergent != divergent ||
				l.Epochs != last.Epochs || l.Step != last.Step || l.LogLikelihood != last.LogLikelihood || l.Gradients != last.Gradients ||
				l.Progress != last.Progress || *l.ValNLL != *last.ValNLL {
				t.Errorf("chain %d: line %+v of moves that end with %+v, accepted %v", c, l, last, accepted)
			}
			if far := distance(moves); !(float64(l.Displacement) <= far*math.Sqrt(every)*(1+1e-3)) || (l.Displacement == 0) != (far == 0) || len(moves) > 1 && l.EnergySD == 0 {
				t.Errorf("chain %d: displacement %v of moves of %v together, energies that differ by %v", c, l.Displacement, far, l.EnergySD)
			}
		}
	}
}

// The lines that there are by default: one a move below 10,000 moves, then at most one a hundred leapfrogs, and 10,000.
func TestLinesByDefault(t *testing.T) {
	for _, c := range []struct{ epochs, steps, set, want int }{
		{9999, 1, 0, 1}, {10000, 1, 0, 100}, {200000, 1, 0, 100}, {1800000, 1, 0, 180}, {799999, 80, 0, 1}, {800000, 80, 0, 2},
		{90000, 3, 0, 34}, {math.MaxInt, 1, 0, math.MaxInt/10000 + 1}, {200000, 1, 7, 7}, {20, 1, 20, 20}, {49995, 0, 0, 1}, {500000, 0, 0, 10},
	} {
		m := MCMC{Epochs: c.epochs, Move: mcmc.HMC{Steps: c.steps}, Trace: Trace{c.set}} // 0 steps: by length
		if got := m.every(); got != c.want || m.Sampling().every != got {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A chain that is stopped within the moves of a line is as it was before them, and goes on to the same bytes.
func TestSparseChainIsStopped(t *testing.T) {
	m := chains(1, 30, 0)
	m.Keep, m.Trace.Every = 10, 8
	part := func() *island {
		phases, err := m.Phases(newJob(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		return phases[0].Parts[0].(*island)
	}
	want, p := part(), part()
	for !want.Done() {
		if _, err := want.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := packed(t, p)
	for after := range 8 { // gradients
		ctx := &ending{t.Context(), after}
		if _, err := p.Step(ctx); err == nil || p.K() != 1 || string(packed(t, p)) != string(before) {
			t.Errorf("stopped after %d gradients: %v, step %d", after, err, p.K())
		}
	}
	for !p.Done() {
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if string(packed(t, p)) != string(packed(t, want)) || p.K() != 4 {
		t.Errorf("stopped and gone on: other bytes, after %d steps", p.K())
	}
}

// ending is a context that ends when its error was asked for so many times.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A line of an island's trace may have several iterations, and the last line fewer: what is told of the run are iterations.
func TestIterationsOfLines(t *testing.T) {
	path := smc.Schedule[smc.Constant]{Epochs: 5, Rule: smc.Constant{Batch: 20}}
	for _, c := range []struct {
		path               smc.Path
		every, lines, want int
	}{
		{path, 0, 5, 15}, {path, 2, 3, 15}, {path, 2, 2, 12},
		{smc.Schedule[smc.Full]{Iterations: 7}, 0, 7, 7}, {smc.Schedule[smc.Full]{Iterations: 7}, 3, 3, 7}, {smc.Tempering{}, 0, 9, 9},
	} {
		s := SMC{Path: c.path, Trace: IslandTrace{Trace: Trace{c.every}}}.Settle(Around{}, unheard()).Sampling()
		if got := s.iterations(c.lines, 60); got != c.want {
			t.Errorf("%v, %d lines of %d: %d iterations, want %d", c.path, c.lines, c.every, got, c.want)
		}
	}
}
