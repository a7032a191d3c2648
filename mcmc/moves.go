package mcmc

import (
	"strings"

	"github.com/starling-smc/starling/internal/config"
)

// Moves lists the moves that a config can name.
var Moves = config.Table[Move]{
	{Name: "hmc", Part: HMC{}},
	{Name: "pcn", Part: PCN{}},
	{Name: "nuts", Part: NUTS{}},
	{Name: "leapfrog", Part: Unadjusted{}},
	{Name: "epoch", Part: Epoch{}},
	{Name: "sghmc", Part: SGHMC{}},
	{Name: "walk", Part: Walk{}},
	{Name: "metropolis", Part: Metropolis{}},
}

// MovesWhere lists the names of the moves that leave their target invariant, or of those whose errors a weight corrects.
func MovesWhere(invariant bool) (names []string) {
	return MovesWith(func(t Traits) bool { return t.Invariant() == invariant && !t.Biased() })
}

// MovesWith lists the names of the moves with some traits.
func MovesWith(some func(Traits) bool) (names []string) {
	for _, row := range Moves {
		if some(row.Part.Traits()) {
			names = append(names, row.Name)
		}
	}
	return names
}

// Shortest is the least number of evaluations that a chain's move can be expected to take on a model of D parameters: 1 where it varies and is
// no Forecaster.
func Shortest(m Move, d int) int {
	t := m.Traits()
	if !t.Varies {
		return t.Evaluations()
	}
	if m, ok := m.(Forecaster); ok {
		return m.Shortest(d)
	}
	return 1
}

// Sized is a Move with settings that suit some models alone.
type Sized interface {
	// CheckWith notes the settings that a model of N examples and D parameters cannot have.
	CheckWith(examples, d int, f *config.Faults)
}

// CheckWith calls the method of a Sized move. Other moves suit every model.
func CheckWith(m Move, examples, d int, f *config.Faults) {
	if m, ok := m.(Sized); ok {
		m.CheckWith(examples, d, f)
	}
}

// CheckForPopulation refuses moves, and settings of moves, that populations cannot have. learns: parameters that the particles share are
// learned while they move.
func CheckForPopulation(m Move, learns bool, f *config.Faults) {
	t := m.Traits()
	f.If(t.Alone != "", "", "%s", t.Alone)
	f.If(t.Learns != "" && !learns, "step", "%s", t.Learns)
}

// CheckForChains refuses moves, and settings of moves, that chains cannot have: they move until their budget is spent, have no weights, and
// have one particle each.
func CheckForChains(m Move, f *config.Faults) {
	t := m.Traits()
	f.If(t.Repeats != Mutations{}, "mutations", "belongs to smc; chains move for their epochs")
	f.If(t.Corrected == ByWeight, "", "belongs to smc, whose weights correct its errors: chains need %s", strings.Join(MovesWhere(true), " or "))
	f.If(t.Together, "", "moves the particles of a population apart: a chain has one")
}
