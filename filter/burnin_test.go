package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// byHand are the states of the chain of a scan after a burn-in, made decision by decision.
type byHand struct {
	x         []float64
	tuning    []float64 // when the burn-in ends
	first     []float64 // when it begins
	ancestors []map[int32]bool
	learned   []int // the steps of the burn-in in which the walk's covariances change
}

func chainByHand(t *testing.T, f *smcmc, st *State, scan *ssm.Scan) (h byHand) {
	t.Helper()
	c, err := newChain(f.plan(st.K), 0, st, scan)
	if err != nil {
		t.Fatal(err)
	}
	h.first, h.ancestors = c.walk.save(), make([]map[int32]bool, len(c.groups))
	was := slices.Clone(h.first)
	for m := range f.Burn + f.Particles {
		if m == f.Burn {
			h.tuning, c.burning = c.walk.save(), false
		}
		c.key.Particle = m
		f.Joint.joint(c)
		f.Index.index(c)
		for p := range f.blocks {
			f.Refine.refine(c, p)
		}
		if m < f.Burn {
			if now := c.walk.save(); len(now) > 1 && now[1] != was[1] {
				h.learned, was = append(h.learned, m+1), now
			}
			continue
		}
		h.x = append(h.x, c.x...)
		for g, a := range c.a {
			if h.ancestors[g] == nil {
				h.ancestors[g] = map[int32]bool{}
			}
			h.ancestors[g][a] = true
		}
	}
	if now := c.walk.save(); !slices.Equal(now, h.tuning) {
		t.Errorf("what the walk has learned is %v at the end of the burn-in, and %v at the end of the chain", h.tuning, now)
	}
	return h
}

// A filter learns in the burn-in of a scan alone, and hands that on: the next scan begins with what the walk was when the burn-in ended.
// The states that it keeps, and the ancestors that it counts, are those after the burn-in. A walk takes over the covariance of its states
// when windows of 25, 50, 100, … states end.
func TestFiltersLearnInTheBurnInAlone(t *testing.T) {
	for name, m := range ways {
		m.Particles, m.Burn, m.Repeat = 240, 120, 1
		for kind, model := range map[string]ssm.Model{"one": example1, "two": two{example1}} {
			made, err := m.On(Job{Model: model, Seed: 8})
			if err != nil {
				t.Fatal(err)
			}
			f := made.(*smcmc)
			st, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for k, scan := range measured() {
				h := chainByHand(t, f, st, scan)
				before := slices.Clone(st.Tuning)
				info, err := f.Step(t.Context(), st, scan)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(st.Tuning, h.tuning) {
					t.Fatalf("%s, %s: scan %d hands on %v, want %v, what it has at the end of the burn-in", name, kind, k+1, st.Tuning, h.tuning)
				}
				if !slices.Equal(st.X, h.x) {
					t.Fatalf("%s, %s: scan %d keeps other states than those after the burn-in", name, kind, k+1)
				}
				least := f.Particles
				for _, a := range h.ancestors {
					least = min(least, len(a))
				}
				if info.Ancestors != least {
					t.Errorf("%s, %s: scan %d counts %d ancestors, the states have %d", name, kind, k+1, info.Ancestors, least)
				}
				if m.Refine == nil || !m.Refine.learns() {
					continue
				}
				if slices.Equal(h.tuning, h.first) || k > 0 && !slices.Equal(before, h.first) {
					t.Errorf("%s, %s: scan %d begins with %v after %v, and its burn-in leads to %v", name, kind, k+1, h.first, before, h.tuning)
				}
				if !slices.Equal(h.learned, []int{25, 75}) {
					t.Errorf("%s, %s: the walk of scan %d takes over a covariance in the steps %v, want 25 and 75", name, kind, k+1, h.learned)
				}
			}
		}
	}
}

// Acceptance is that of the decisions after the burn-in: where one kind of decision alone moves the state, a block has moved as often
// between kept states as its proposals were accepted, but for the first, whose state before is not kept.
func TestAcceptanceIsOfTheKeptStates(t *testing.T) {
	for name, m := range ways {
		m.Particles, m.Burn, m.Repeat = 150, 400, 1 // a burn-in whose decisions would count for more
		if (m.Joint == nil) == (m.Refine == nil) {
			continue
		}
		f, err := m.On(Job{Model: two{example1}, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Step(t.Context(), st, measured()[0])
		if err != nil {
			t.Fatal(err)
		}
		decisions, share, changes := 2*m.Particles, info.Refine, 0
		if m.Refine == nil {
			share = info.Joint
		}
		for j := 1; j < m.Particles; j++ {
			a, b := st.Particle(j-1), st.Particle(j)
			for i := range a {
				if a[i] != b[i] {
					changes++
				}
			}
		}
		accepted := share * float64(decisions)
		if !(math.Abs(accepted-math.Round(accepted)) < 1e-9) || !(accepted >= float64(changes) && accepted <= float64(changes+2)) {
			t.Errorf("%s: %v of %d decisions were accepted, and the kept states changed %d times", name, accepted, decisions, changes)
		}
	}
}
