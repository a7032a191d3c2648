package mcmc

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// moveCase is what tests know of a row of Moves: one entry here, and a new move is in the tests of invariance, threads and
// answers.
type moveCase struct {
	bold  Move // of steps so large that some moves are rejected, on the target of conjugate(2)
	plain Move // with as few settings as there may be
	title string
	facts
}

// facts are what a plain move answers.
type facts struct {
	Traits
	memory            [2]int // of 40 particles of 2 parameters: tuned, and scratch memory
	chain, population Move
}

var moveCases = map[string]moveCase{
	"hmc": {
		HMC{Steps: 4, Step: 0.85, Jitter: 0.1}, HMC{}, "HMC", facts{
			Traits{Needs: Needs{Gradient: true}, Costs: 1000, Varies: true, Aim: 0.9, Fewest: 500}, [2]int{7 + (1+8)*(2+4), 5 * 10 * 2},
			HMC{Length: AutoLength, Accept: 0.75, Jitter: 0.2}, HMC{Length: AutoLength, Accept: 0.9, Jitter: 0.2, Mutations: Mutations{Count: 7}},
		},
	},
	"pcn": {
		PCN{Step: 0.7}, PCN{}, "pCN",
		facts{Traits{Gaussian: true, Aim: 0.25}, [2]int{averagingNumbers, 3 * 10 * 2}, PCN{Accept: 0.25}, PCN{Accept: 0.25, Mutations: Mutations{Count: 7}}},
	},
	"nuts": {
		NUTS{Step: 0.8}, NUTS{}, "NUTS", facts{Traits{Needs: Needs{Gradient: true}, Costs: 1033, Varies: true, Selects: true, Aim: 0.8, Alone: NUTS{}.Traits().Alone}, [2]int{22, 168}, NUTS{Accept: 0.8}, NUTS{}},
	},
	"leapfrog": {
		Unadjusted{Steps: 2, Step: 0.01}, Unadjusted{Step: 0.1}, "unadjusted Langevin dynamics",
		facts{Traits{Corrected: ByWeight, Needs: Needs{Gradient: true}}, [2]int{1, 0}, Unadjusted{Step: 0.1}, Unadjusted{Steps: 3, Step: 0.1}},
	},
	"epoch": {
		Epoch{Batch: 1, Step: 0.01}, Epoch{Batch: 7, Step: 0.1}, "SGHMC epochs without noise (batches of 7)",
		facts{Traits{Corrected: ByWeight, Blind: true, Augments: true}, [2]int{0, 40 * 2}, Epoch{Batch: 7, Step: 0.1}, Epoch{Batch: 7, Step: 0.1, Order: sharedOrder}},
	},
	"sghmc": {
		SGHMC{Batch: 1, Step: 0.1, Friction: 0.5}, SGHMC{Batch: 7, Step: 0.1}, "SGHMC (batches of 7 examples)", facts{
			Traits{Corrected: ByNothing, Needs: Needs{Momentum: true}, Blind: true, Subsample: 7, Alone: SGHMC{}.Traits().Alone}, [2]int{}, SGHMC{Batch: 7, Step: 0.1, Friction: 0.1}, SGHMC{Batch: 7, Step: 0.1},
		},
	},
	"walk": {Walk{SD: 0.5}, Walk{SD: 0.1}, "a random walk", facts{Traits{Corrected: ByWeight, Blind: true, Size: "sd"}, [2]int{}, Walk{SD: 0.1}, Walk{SD: 0.1}}},
	"metropolis": {
		Metropolis{SD: 0.7}, Metropolis{SD: 0.1}, "a Metropolis walk",
		facts{Traits{Size: "sd"}, [2]int{}, Metropolis{SD: 0.1}, Metropolis{SD: 0.1}},
	},
}

func memory(m Move) (held [2]int) {
	held[0], held[1] = m.Memory(40, 2)
	return held
}

// caseOf returns what tests know of a row; it is an error if they know nothing.
func caseOf(t *testing.T, name string) (c moveCase, ok bool) {
	t.Helper()
	if c, ok = moveCases[name]; !ok {
		t.Errorf("the move %s has no case", name)
	}
	return c, ok
}

// invariantCases returns what tests know of the rows that leave their target invariant, by name.
func invariantCases(t *testing.T) map[string]moveCase {
	t.Helper()
	cases := map[string]moveCase{}
	for _, row := range Moves {
		if c, ok := caseOf(t, row.Name); ok && c.Invariant() {
			cases[row.Name] = c
		}
	}
	return cases
}

// What every move of the table answers, and what it becomes for chains and for populations.
func TestEveryMoveAnswers(t *testing.T) {
	for _, row := range Moves {
		c, ok := caseOf(t, row.Name)
		if !ok {
			continue
		}
		m := c.plain
		got := facts{m.Traits(), memory(m), m.ForChains(), m.ForPopulation(Mutations{Count: 7}, false)}
		if !reflect.DeepEqual(got, c.facts) || m.String() != c.title {
			t.Errorf("%s answers %q, %+v, want %q, %+v", row.Name, m, got, c.title, c.facts)
		}
		bare := &Target{Model: &model{d: 2}, Prior: factorPrior{d: 2}, Lambda: 1}
		if _, err := c.bold.Tuning(bare, 1); (err != nil) != m.Traits().Gaussian {
			t.Errorf("%s needs a Gaussian prior: %v; without one: %v", row.Name, m.Traits().Gaussian, err)
		}
		if name := Moves.Name(m); name != row.Name {
			t.Errorf("the table calls %s %q", row.Name, name)
		}
	}
}

// Settings that were left out depend on those that were not.
func TestMovesAreCompleted(t *testing.T) {
	fixed, repeats := Mutations{Count: 3}, Mutations{Count: 7}
	for _, c := range []struct{ move, chain, population Move }{
		{HMC{Steps: 1}, HMC{Steps: 1, Accept: 0.574}, HMC{Steps: 1, Accept: 0.574, Mutations: repeats}},
		{HMC{Steps: 5, Accept: 0.9}, HMC{Steps: 5, Accept: 0.9, Jitter: 0.2}, HMC{Steps: 5, Accept: 0.9, Mutations: repeats}},
		{HMC{Step: 0.1}, HMC{Length: AutoLength, Step: 0.1, Jitter: 0.2}, HMC{Length: AutoLength, Step: 0.1, Jitter: 0.2, Mutations: repeats}},
		{HMC{Length: 2}, HMC{Length: 2, Accept: 0.75, Jitter: 0.2}, HMC{Length: 2, Accept: 0.9, Jitter: 0.2, Mutations: repeats}},
		{HMC{Steps: 4, Mutations: fixed}, nil, HMC{Steps: 4, Accept: 0.65, Mutations: fixed}},
		{HMC{Steps: 1, Mutations: Mutations{Max: 9}}, nil, HMC{Steps: 1, Accept: 0.574, Mutations: Mutations{Max: 9}}},
		{PCN{Step: 0.3, Mutations: Mutations{Eta: 0.1}}, nil, PCN{Step: 0.3, Mutations: Mutations{Eta: 0.1, Max: 50}}},
		{PCN{Accept: 0.4}, PCN{Accept: 0.4}, PCN{Accept: 0.4, Mutations: repeats}},
		{PCN{Step: 0.3, Accept: 0.4}, PCN{Step: 0.3, Accept: 0.4}, PCN{Step: 0.3, Accept: 0.4, Mutations: repeats}},
		{Unadjusted{Steps: 1, Step: 1}, nil, Unadjusted{Steps: 1, Step: 1}},
		{Unadjusted{}, nil, Unadjusted{Steps: 3}},
		{SGHMC{Batch: 5, Step: 1, Friction: 1}, SGHMC{Batch: 5, Step: 1, Friction: 1}, SGHMC{Batch: 5, Step: 1, Friction: 1}},
	} {
		if got := c.move.ForChains(); c.chain != nil && !reflect.DeepEqual(got, c.chain) {
			t.Errorf("%+v for chains is %+v, want %+v", c.move, got, c.chain)
		}
		if got := c.move.ForPopulation(Mutations{Count: 7}, false); !reflect.DeepEqual(got, c.population) {
			t.Errorf("%+v for populations is %+v, want %+v", c.move, got, c.population)
		}
		learns := c.population
		if learns == (Unadjusted{Steps: 3}) {
			learns = Unadjusted{Steps: 3, Step: AutoStep}
		}
		if got := c.move.ForPopulation(Mutations{Count: 7}, true); !reflect.DeepEqual(got, learns) {
			t.Errorf("%+v for populations that learn is %+v, want %+v", c.move, got, learns)
		}
	}
}

// A step that is adapted aims at an acceptance, a fixed one at none.
func TestAim(t *testing.T) {
	for _, c := range []struct {
		move Move
		want float64
	}{
		{HMC{}, 0.9}, {HMC{Steps: 1}, 0.574}, {HMC{Steps: 2}, 0.65}, {HMC{Accept: 0.8}, 0.8}, {HMC{Step: 1, Accept: 0.8}, 0},
		{PCN{}, 0.25}, {PCN{Accept: 0.3}, 0.3}, {PCN{Step: 1, Accept: 0.3}, 0}, {Unadjusted{Step: 1}, 0}, {Walk{SD: 1}, 0}, {Epoch{Batch: 1, Step: 1}, 0}, {Metropolis{SD: 1}, 0}, {SGHMC{Batch: 1, Step: 1}, 0},
	} {
		if got := c.move.Traits().Aim; got != c.want {
			t.Errorf("%+v aims at %v, want %v", c.move, got, c.want)
		}
	}
}

func TestTitles(t *testing.T) {
	for want, m := range map[string]Move{
		"HMC (80 leapfrogs)":           HMC{Steps: 80},
		"HMC (1 leapfrog)":             HMC{Steps: 1},
		"HMC (length 0.7)":             HMC{Length: 0.7},
		"unadjusted Langevin dynamics": Unadjusted{Steps: 1},
		"unadjusted HMC (3 leapfrogs)": Unadjusted{Steps: 3},
		"unadjusted HMC (3 leapfrogs) by gradients of 1,000 examples": Unadjusted{Steps: 3, Gradient: &MiniBatch{1000}},
		"unadjusted Langevin dynamics by gradients of 1 example":      Unadjusted{Gradient: &MiniBatch{1}},
		"SGHMC (batches of 1 example)":                                SGHMC{Batch: 1},
		"SGHMC (batches of 1,000 examples)":                           SGHMC{Batch: 1000},
	} {
		if got := m.String(); got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
	if m := (Unadjusted{Gradient: &MiniBatch{7}}); m.Traits().Needs.Gradient || memory(m) != [2]int{1, 2 * 40 * 2} || m.Traits().Subsample != 7 {
		t.Errorf("a trajectory with gradients of its own needs %+v, %d numbers and %d examples", m.Traits().Needs, memory(m), m.Traits().Subsample)
	}
}

// What chains cannot have is told at its place: of every row, mutations and errors that a weight must correct.
func TestChainsRefuse(t *testing.T) {
	type refusal struct {
		move Move
		path string
		want string
	}
	var cases []refusal
	for _, row := range Moves {
		c, ok := caseOf(t, row.Name)
		if !ok {
			continue
		}
		if c.Corrected == ByWeight {
			cases = append(cases, refusal{c.plain, "move", "belongs to smc, whose weights correct its errors: chains need " + strings.Join(MovesWhere(true), " or ")})
			continue
		}
		cases = append(cases, refusal{c.plain, "", ""})
		for _, often := range []Mutations{{Count: 3}, {Eta: 1}} {
			if m, ok := repeated(c.plain, often); ok {
				cases = append(cases, refusal{m, "move.mutations", "belongs to smc; chains move for their epochs"})
			}
		}
	}
	for _, c := range cases {
		f := config.NewFaults()
		CheckForChains(c.move, f.In("move"))
		switch all := f.All(); {
		case c.want == "" && len(all) > 0 || c.want != "" && len(all) != 1:
			t.Errorf("%+v has faults %+v", c.move, all)
		case c.want != "" && (all[0].Path != c.path || all[0].Message != c.want):
			t.Errorf("%+v has fault %+v, want %s: %s", c.move, all[0], c.path, c.want)
		}
	}
}

// repeated returns a move whose setting Mutations is set; ok is false if it has no such setting.
func repeated(m Move, often Mutations) (out Move, ok bool) {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	v.Set(reflect.ValueOf(m))
	field := v.FieldByName("Mutations")
	if !field.IsValid() {
		return nil, false
	}
	field.Set(reflect.ValueOf(often))
	return v.Interface().(Move), true
}

// A move is repeated as often as its setting says, and once if it has no such setting or the setting is left out.
func TestRepeats(t *testing.T) {
	for _, row := range Moves {
		c, _ := caseOf(t, row.Name)
		if got := c.plain.Traits().Repeats; got != (Mutations{}) {
			t.Errorf("%s is repeated: %+v", row.Name, got)
		}
		often := Mutations{Eta: 0.1, Max: 7}
		if m, ok := repeated(c.plain, often); ok && m.Traits().Repeats != often {
			t.Errorf("%s with mutations %+v is repeated: %+v", row.Name, often, m.Traits().Repeats)
		}
	}
}

// Settings are refused at their place, with what is wanted of them.
func TestMovesAreChecked(t *testing.T) {
	for want, m := range map[string]Move{
		"steps: want at least 1, have -1":                                                                              HMC{Steps: -1},
		"step: want a number above 0, have -0.1":                                                                       HMC{Step: -0.1},
		"accept: want a number above 0 and below 1, have 1.5":                                                          HMC{Accept: 1.5},
		"jitter: want 0 or a number below 1, have 2":                                                                   HMC{Jitter: 2},
		"mutations: want below 4097, have 5000":                                                                        HMC{Mutations: Mutations{Count: 5000}},
		"mutations: want at least 1, have -2":                                                                          PCN{Mutations: Mutations{Count: -2}},
		"mutations.eta: want a number above 0, have -1":                                                                HMC{Mutations: Mutations{Eta: -1, Max: 2}},
		"mutations.max: want at least 2, have 1":                                                                       PCN{Mutations: Mutations{Eta: 0.1, Max: 1}},
		"mutations.max: want below 4097, have 5000":                                                                    PCN{Mutations: Mutations{Eta: 0.1, Max: 5000}},
		"step: want a number above 0, at most 1, have 2":                                                               PCN{Step: 2},
		"needs a step, as in {steps: 3, step: 0.002}: without accept or reject there is nothing to adapt it to":        Unadjusted{},
		"step: want a number above 0, have -3":                                                                         Unadjusted{Step: -3},
		"gradient: needs a batch, as in {batch: 500}":                                                                  Unadjusted{Step: 1, Gradient: &MiniBatch{}},
		"gradient.batch: want at least 1, have -3":                                                                     Unadjusted{Step: 1, Gradient: &MiniBatch{-3}},
		"batch: needs a batch, as in {batch: 100, step: 2e-5}":                                                         SGHMC{Step: 1},
		"batch: want at least 1, have -1":                                                                              SGHMC{Batch: -1, Step: 1},
		"step: needs a step, as in {batch: 100, step: 2e-5}: without accept or reject there is nothing to adapt it to": SGHMC{Batch: 1},
		"step: want a number above 0, have -2":                                                                         SGHMC{Batch: 1, Step: -2},
		"step: want a number above 0, have +Inf":                                                                       SGHMC{Batch: 1, Step: math.Inf(1)},
		"friction: want a number above 0, at most 1, have 1.001":                                                       SGHMC{Batch: 1, Step: 1, Friction: 1.001},
		"sd: needs a standard deviation, as in {sd: 0.1}":                                                              Walk{},
		"sd: want a number above 0, have -1":                                                                           Walk{SD: -1},
		"sd: want a number above 0, have NaN":                                                                          Metropolis{SD: math.NaN()},
		"sd: want a number above 0, have +Inf":                                                                         Metropolis{SD: math.Inf(1)},
		"friction: want a number above 0, at most 1, have -0.1":                                                        SGHMC{Batch: 1, Step: 1, Friction: -0.1},
	} {
		if err := config.Check(m); err == nil || err.Error() != want {
			t.Errorf("%+v: error %v, want %q", m, err, want)
		}
	}
	for _, row := range Moves {
		full := row.Part.ForPopulation(Mutations{}, false)
		if err := config.Check(full); err != nil && !strings.Contains(err.Error(), "needs a s") {
			t.Errorf("%s with its defaults: %v", row.Name, err)
		}
	}
}

// Moves are listed by whether they leave their target invariant; those that no weight corrects are in neither list.
func TestMovesWhere(t *testing.T) {
	for _, invariant := range []bool{true, false} {
		var want []string
		for _, name := range Moves.Names() {
			if c := moveCases[name]; c.Invariant() == invariant && !c.Biased() {
				want = append(want, name)
			}
		}
		if got := MovesWhere(invariant); !slices.Equal(got, want) {
			t.Errorf("moves that leave their target invariant (%v): %q, want %q", invariant, got, want)
		}
	}
}
