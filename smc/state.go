package smc

import (
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/mcmc"
)

// State is all that a run needs to go on, and nothing else: plain data. The same State, stepped by a Sampler with the
// same settings, gives the same bytes, on any machine and with any number of threads.
type State struct {
	mcmc.Population // particles and what has been evaluated where they stand

	K      int       // iterations made
	Warmed int       // of them, those that led to the path's first target
	Stage            // the present target
	LogW   []float64 // J, log-weights, normalised
	LogZ   float64   // log-evidence so far; 0 for chains
	Roots  []int32   // J, the first ancestor of every particle, at k = 0
	Tuning []float64 // what the move adapts

	Examples  int // N of the model
	Spent     int // examples that moves evaluated for each particle: N times the epochs
	Gradients int // evaluations of value and gradient in examples, over all particles, the first included
	Values    int // evaluations of the value alone, likewise

	Kept   []float64 // states kept along the way, n×D: all particles of one time, then all of the next
	KeptLL []float64 // n, their log-likelihoods
}

// Ensemble returns the parameter vectors, row-major n×D, and normalised log-weights (nil: equal) that stand for the
// posterior at the end of a run: the states kept along the way if there are any, else the particles. They lie in st.
func (st *State) Ensemble() (theta, logw []float64) {
	if st.Kept != nil {
		return st.Kept, nil
	}
	return st.Theta, st.LogW
}

// Epochs is the number of passes over all examples that the moves of each particle have made.
func (st *State) Epochs() float64 { return float64(st.Spent) / float64(max(1, st.Examples)) }

// copy makes st equal to s, deeply but for the states kept, which are only ever appended to.
func (st *State) copy(s *State) {
	p, logw, roots, tuning := st.Population, st.LogW, st.Roots, st.Tuning
	if !p.Like(&s.Population) {
		p = s.Population.Blank()
	}
	p.Copy(&s.Population)
	*st = *s
	st.Population = p
	st.LogW = append(logw[:0], s.LogW...)
	st.Roots = append(roots[:0], s.Roots...)
	st.Tuning = append(tuning[:0], s.Tuning...)
}

const stateKind = "smc.State/4"

// MarshalBinary packs the state into a container of internal/ckpt. It never fails.
func (st *State) MarshalBinary() ([]byte, error) { return st.encoder().Encode(), nil }

// WriteTo writes what MarshalBinary returns. Errors are those of w.
func (st *State) WriteTo(w io.Writer) (int64, error) { return st.encoder().WriteTo(w) }

func (st *State) encoder() *ckpt.Encoder {
	e := ckpt.NewEncoder(stateKind)
	e.Ints("counts", st.J, st.D, st.K, st.Warmed, st.Examples, st.Spent, st.Gradients, st.Values)
	warm := 0
	if st.Warm {
		warm = 1
	}
	e.Ints("rows", st.Rows.From, st.Rows.To, st.Settled, warm)
	e.Float64s("scalars", []float64{st.Lambda, st.Mu, st.LogZ})
	for _, a := range st.arrays() {
		e.Float64s(a.name, *a.data)
	}
	e.Int32s("roots", st.Roots)
	return e
}

// UnmarshalBinary is the inverse of MarshalBinary. It refuses damaged bytes and shapes that do not fit each other.
func (st *State) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, stateKind)
	if err != nil {
		return err
	}
	var s State
	d.Ints("counts", &s.J, &s.D, &s.K, &s.Warmed, &s.Examples, &s.Spent, &s.Gradients, &s.Values)
	var warm int
	d.Ints("rows", &s.Rows.From, &s.Rows.To, &s.Settled, &warm)
	s.Warm = warm != 0
	if scalars := d.Float64s("scalars"); len(scalars) == 3 {
		s.Lambda, s.Mu, s.LogZ = scalars[0], scalars[1], scalars[2]
	} else {
		d.Fail("%d scalars, not 3", len(scalars))
	}
	for _, a := range s.arrays() {
		*a.data = d.Float64s(a.name)
	}
	s.Roots = d.Int32s("roots")
	if err := d.Err(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	*st = s
	return nil
}

type array struct {
	name string
	data *[]float64
}

func (st *State) arrays() []array {
	return []array{
		{"theta", &st.Theta}, {"ll", &st.LL}, {"grad_ll", &st.GradLL}, {"lp", &st.LP},
		{"settled_ll", &st.SettledLL}, {"settled_grad", &st.SettledGrad},
		{"logw", &st.LogW}, {"tuning", &st.Tuning}, {"kept", &st.Kept}, {"kept_ll", &st.KeptLL},
	}
}

// check finds shapes that do not fit each other.
func (st *State) check() error {
	j, d := st.J, st.D
	if j < 1 || d < 1 || len(st.Theta)/d != j || len(st.Theta)%d != 0 {
		return fmt.Errorf("state of %d particles of %d parameters holds %d numbers", j, d, len(st.Theta))
	}
	for _, a := range []struct {
		name string
		got  int
		ok   bool
	}{
		{"log-likelihoods", len(st.LL), len(st.LL) == j},
		{"gradients of the likelihood", len(st.GradLL), len(st.GradLL) == 0 || len(st.GradLL) == len(st.Theta)},
		{"log-priors", len(st.LP), len(st.LP) == j},
		{"log-likelihoods of settled examples", len(st.SettledLL), len(st.SettledLL) == 0 || len(st.SettledLL) == j},
		{"gradients of settled examples", len(st.SettledGrad), len(st.SettledGrad) == 0 || len(st.SettledLL) == j && len(st.SettledGrad) == len(st.GradLL)},
		{"log-weights", len(st.LogW), len(st.LogW) == j},
		{"tuned numbers", len(st.Tuning), len(st.Tuning) == 1},
		{"first ancestors", len(st.Roots), len(st.Roots) == j},
		{"states kept", len(st.Kept), len(st.Kept)%d == 0 && len(st.Kept)/d == len(st.KeptLL)},
	} {
		if !a.ok {
			return fmt.Errorf("state of %d particles of %d parameters has %d %s", j, d, a.got, a.name)
		}
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"iterations", st.K}, {"iterations to the first target", st.Warmed}, {"examples of the model", st.Examples},
		{"examples evaluated for each particle", st.Spent}, {"gradients evaluated", st.Gradients}, {"values evaluated", st.Values},
	} {
		if c.n < 0 {
			return fmt.Errorf("state counts %d %s", c.n, c.name)
		}
	}
	switch {
	case st.Warmed > st.K:
		return fmt.Errorf("state counts %d iterations to the first target, of %d iterations in all", st.Warmed, st.K)
	case st.Settled < 0 || st.Settled > st.Rows.From || st.Rows.From > st.Rows.To:
		return fmt.Errorf("state has %d examples settled and a batch from %d to %d: want 0 ≤ settled ≤ from ≤ to",
			st.Settled, st.Rows.From, st.Rows.To)
	case st.Settled > 0 && st.SettledLL == nil:
		return fmt.Errorf("state has %d examples settled, but no log-likelihoods of them", st.Settled)
	}
	for _, r := range st.Roots {
		if r < 0 || int(r) >= j {
			return fmt.Errorf("state of %d particles has first ancestor %d", j, r)
		}
	}
	return nil
}
