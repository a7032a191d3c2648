package method

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// pathOfMCMC is the path of the method in a config.
const pathOfMCMC = "method.mcmc"

// MCMC is independent chains on the posterior: the sampler's loop with one particle, or with as many as share a step, a fixed target and no resampling. It is S-HMC,
// Algorithm 3 of Scalable Bayesian Monte Carlo (SBMC; scalable-bayesian-monte-carlo, section 3.3), and with the move sghmc S-SGHMC. An adapted step size is frozen after the first half of a chain; states are kept
// in the second half.
type MCMC struct {
	Chains int `yaml:"chains"` // number of chains; default 8

	// Together is the number of chains of an island, which learn one step and one scale in their warm-up, by their mean acceptance and from the
	// states of all. A chain of a few dozen moves finds no step alone. chains must be a multiple of it. Default 1: each chain learns for itself.
	Together int `yaml:"together,omitempty,nonzero"`

	Start  string    `yaml:"start"`                // map: chain c at restart c (default); prior: at a draw; init: at model.init (default where it is given and map is not)
	Epochs int       `yaml:"epochs"`               // full-batch gradients of a chain; default 1600
	Keep   int       `yaml:"keep" words:"last=-1"` // states of all chains together, evenly over their second halves, or last, the last of each; default 10 a chain, or all if fewer
	Move   mcmc.Move `yaml:"move"`                 // how a chain moves; default: hmc

	// Temperature is T of a cold posterior, above 0 and at most 1: likelihood and prior both to the power 1/T. Default 1, the posterior. (T of
	// weight: bootstrap is that of weights alone, and decide.temperature corrects predictions.)
	Temperature float64 `yaml:"temperature,omitempty,nonzero"`

	Trace Trace `yaml:"trace,omitempty"`

	Learning `yaml:",inline"`

	own bool // each island has a prior of its own (Way)
}

// Trace says how often a chain or an island leaves a line in the trace. At each line it is scored on the validation examples, and
// may be saved. No state depends on it.
type Trace struct {
	// Every is the number of moves between two lines of trace.jsonl or, on a path in epochs, of epochs. By default 1 for a chain of fewer
	// than 10,000 moves; for longer ones so many that a line stands for at least 100 leapfrogs and a chain has at most 10,000 lines: else
	// lines would take more time than short moves, and fill the disk.
	Every int `yaml:"every,omitempty,nonzero"`
}

// Check notes impossible settings.
func (t Trace) Check(f *config.Faults) {
	f.If(t.Every < 0, "every", "want at least 1, have %d", t.Every)
}

// often is the number of moves of a chain from which a line of the trace has several by default, and then the largest number
// of lines.
const often = 10000

// leapfrogs is the least number of leapfrogs of a line that has several moves by default.
const leapfrogs = 100

// fewLeapfrogs is what a move is taken to cost that varies: few, so that its chains have lines enough.
const fewLeapfrogs = 5

// every is the number of moves of a line of the trace.
func (m MCMC) every() int {
	moves := m.moves()
	if m.Move.Traits().Varies {
		moves = ceil(m.Epochs, fewLeapfrogs)
	}
	switch {
	case m.Trace.Every > 0:
		return m.Trace.Every
	case moves < often:
		return 1
	default:
		return max(ceil(leapfrogs, m.Move.Traits().Evaluations()), ceil(moves, often))
	}
}

// ceil is n/by rounded up, for n of at least 1.
func ceil(n, by int) int { return (n-1)/by + 1 }

// chainStarts lists the places where chains can begin.
var chainStarts = starts{{name: "map", each: true, at: atRestarts}, {name: "prior", drawn: true}, {name: "init", init: true, at: atInit}}

// KeepLast keeps the final state of each chain; "last" in a config.
const KeepLast = -1

var _ Method = MCMC{}

// Title describes the chains.
func (m MCMC) Title() string {
	together := ""
	if m.together() > 1 {
		together = fmt.Sprintf(", in islands of %d that share a step", m.together())
	}
	return fmt.Sprintf("%s of %v, %s epochs each%s%s", numeral.Several(m.Chains, "chain"), m.Move, numeral.Count(m.Epochs), together, coldly(m.Temperature))
}

// Settle fills in defaults. It refuses missing starts, and more states than moves.
func (m MCMC) Settle(around Around, f *config.Faults) Method {
	m.checkWithin(around, f)
	fill(&m.Chains, 8)
	if around.Init && around.Search == nil {
		fill(&m.Start, "init")
	}
	fill(&m.Start, "map")
	fill(&m.Epochs, 1600)
	if m.Move == nil {
		m.Move = mcmc.HMC{}
	}
	m.Move = m.Move.ForChains()
	if m.Keep == 0 {
		m.Keep = m.Chains * min(10, m.late())
	}
	fill(&m.Keep, KeepLast)
	m.Learning.complete(around)
	return m
}

// Defaults fills in defaults without the settings around the method. It serves a surplus method in a config, whose faults are
// reported too.
func (m *MCMC) Defaults() { *m = m.Settle(Around{}, config.NewFaults()).(MCMC) }

// moves is the number of moves of a chain. Where the cost of a move varies, it is a bound.
func (m MCMC) moves() int {
	if m.Move.Traits().Varies {
		return m.Epochs
	}
	return m.Epochs / m.Move.Traits().Evaluations()
}

// late is the number of moves in the second half of a chain: the largest number of states that it can keep. Where the cost of a
// move varies, a chain keeps the states of all its moves if they turn out to be fewer than it should keep.
func (m MCMC) late() int { return m.moves() / 2 }

// Check refuses settings that are wrong for any chains.
func (m MCMC) Check(f *config.Faults) {
	f.Within("chains", m.Chains, 1, rng.MaxIslands)
	f.AtLeast("together", m.together(), 1)
	f.OneOf("start", m.Start, chainStarts.names()...)
	f.AtLeast("epochs", m.Epochs, 1)
	checkTemperature(m.Temperature, f)
	f.If(m.Keep < KeepLast, "keep", "want a number of states or last, have %d", m.Keep)
	if f.If(m.Move == nil, "move", "want one of %s", strings.Join(mcmc.Moves.Names(), ", ")); m.Move != nil {
		mcmc.CheckForChains(m.Move, f.In("move."+mcmc.Moves.Name(m.Move)))
		f.If(m.together() > 1 && m.Move.Traits().Alone != "", "together", "%v moves each chain alone, so that chains share nothing: take hmc, or leave together out", m.Move)
	}
}

func (m MCMC) checkWithin(around Around, f *config.Faults) {
	start := chainStarts.find(m.Start)
	f.If(start.init && !around.Init, pathOfMCMC+".start", "init is the network of model.init, which is not given")
	if start.drawn && around.Init && !around.Partly && around.Search == nil && !around.Prior.Moved() {
		f.Conflict([]string{pathOfMCMC + ".start", "model.init"}, "%s draws the starts of all chains and does not use model.init: want start: init, or no model.init", start.name)
	}
	if m.Chains > 0 && m.together() > 0 && m.Chains%m.together() != 0 {
		f.Conflict([]string{pathOfMCMC + ".together", pathOfMCMC + ".chains"}, "%d chains are no multiple of the %d that share a step: want islands of equal size, as in chains: %d",
			m.Chains, m.together(), (m.Chains/m.together()+1)*m.together())
	}
	if m.together() > 1 && start.each && around.Partly {
		f.Conflict([]string{pathOfMCMC + ".together", pathOfMCMC + ".start", "model.random"},
			"chains of an island share the layers that are not random, and %s gives each chain a restart of its own: leave together out, or take start: prior or init", start.name)
	}
	m.Learning.checkWithin(around, pathOfMCMC, f)
	checkCold(m.Temperature, smc.Fixed{}, m.Learn, around, pathOfMCMC, f)
	checkMove(m.Move, around, pathOfMCMC, f)
	if p := around.Search; p != nil && p.Restarts < m.Needs().Restarts {
		f.Conflict([]string{pathOfMCMC + ".chains", "map.restarts", pathOfMCMC + ".start"},
			"%d chains start from %d MAP restarts, one each: want map.restarts of at least %d, or start: prior", m.Chains, p.Restarts, m.Chains)
	}
	if m.Epochs > 0 && m.Move != nil && m.Epochs < m.Move.Traits().Fewest {
		f.Conflict([]string{pathOfMCMC + ".epochs", pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move) + ".length"},
			"a chain that finds the length of its trajectories needs at least %d epochs, have %d: take as many, or fix the leapfrogs: move: {hmc: {steps: 20}}",
			m.Move.Traits().Fewest, m.Epochs)
	}
	if m.Epochs > 0 && m.Move != nil && m.moves() == 0 {
		f.Conflict([]string{pathOfMCMC + ".epochs", pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move) + ".steps", pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move) + ".length"},
			"a chain has %d epochs, and one move of %v takes %d: take more epochs, or shorter trajectories", m.Epochs, m.Move, m.Move.Traits().Evaluations())
		return
	}
	if m.Epochs > 0 && m.Move != nil && m.Trace.Every > m.moves() {
		f.Conflict([]string{pathOfMCMC + ".trace.every", pathOfMCMC + ".epochs", pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move) + ".steps"},
			"a line of the trace has %d moves, but %d epochs make only %d of %v: want at most as many, or leave trace out",
			m.Trace.Every, m.Epochs, m.moves(), m.Move)
	}
	if m.Keep == KeepLast && m.Move != nil && m.Move.Traits().Selects {
		f.Conflict([]string{pathOfMCMC + ".keep", pathOfMCMC + ".move"},
			"the last state of %v is no draw of the posterior, as the budget ends more often after some states than after others: keep a number of states", m.Move)
	}
	if m.Keep <= 0 || m.Chains < 1 {
		return
	}
	if m.Keep%m.Chains != 0 {
		f.Conflict([]string{pathOfMCMC + ".keep", pathOfMCMC + ".chains"}, "%d states are not a multiple of %d chains", m.Keep, m.Chains)
	} else if m.Epochs > 0 && m.Move != nil && m.late() < m.Keep/m.Chains {
		f.Conflict([]string{pathOfMCMC + ".keep", pathOfMCMC + ".chains", pathOfMCMC + ".epochs", pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move) + ".steps"},
			"%d states of %d chains, but the second half of %d epochs has only %d moves: keep at most %d, or last",
			m.Keep, m.Chains, m.Epochs, m.late(), m.late()*m.Chains)
	}
}

// SettleWith refuses scales that are too large, and mini-batches of more examples than there are.
func (m MCMC) SettleWith(_ Around, s Sizes, f *config.Faults) Method {
	f = f.In(pathOfMCMC + ".move." + mcmc.Moves.Name(m.Move))
	mcmc.CheckWith(m.Move, s.Examples, s.Parameters, f)
	n := m.Move.Traits().Subsample
	f.If(n > s.Examples, "batch", "want at most the %d training examples, have %d", s.Examples, n)
	return m
}

// Needs is a restart for each chain that starts from one.
func (m MCMC) Needs() Needs {
	n := chainStarts.find(m.Start).needs(m.Chains)
	n.Islands = max(1, m.islands())
	n.Frozen = m.Learn == nil && !chainStarts.find(m.Start).each
	n.Augments = m.Move != nil && m.Move.Traits().Augments
	return n
}

// drawn reports whether the chains begin at draws of the prior.
func (m MCMC) drawn() bool { return chainStarts.find(m.Start).drawn }

// Sampling describes the chains.
func (m MCMC) Sampling() *Sampling {
	path, unit := m.path(), "chain"
	if m.together() > 1 {
		unit = "island"
	}
	return &Sampling{
		Unit: unit, Islands: m.islands(), Particles: m.together(), Path: path, Whole: path, Move: m.Move, Step: stepOf(pathOfMCMC, m.Move), at: pathOfMCMC,
		Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Never{}}, Combine: bnn.Equal{}, Start: m.Start,
		chains: true, budget: m.Epochs, temperature: m.Temperature, apart: m.own, every: m.every(), words: m.words,
	}
}

// together is the number of chains of an island.
func (m MCMC) together() int { return cmp.Or(m.Together, 1) }

// islands is the number of islands: one for each chain, or for as many as share a step.
func (m MCMC) islands() int { return m.Chains / max(1, m.together()) }

// apart is the same, with a prior for each island.
func (m MCMC) apart() Method {
	m.own = true
	return m
}

// path is the posterior. For moves by mini-batches, whose layers that are not random learn after each of them, it is one
// mini-batch after another.
func (m MCMC) path() smc.Path {
	if n := m.Move.Traits().Subsample; m.Learn != nil && m.Move.Traits().Biased() && n > 0 {
		return smc.Schedule[smc.Constant]{Epochs: m.Epochs, Rule: smc.Constant{Batch: n}}
	}
	path, _ := smc.Cooled(smc.Fixed{Epochs: m.Epochs}, m.Temperature)
	return path
}

// words describes the progress of chains.
func (m MCMC) words(f figures) (long, short string) {
	epochs := numeral.Count(int(f.epochs))
	if m.Move.Traits().Biased() {
		return epochs + " epochs", epochs + " ep"
	}
	return fmt.Sprintf("%s epochs  accepted %.2f  step %.2g", epochs, f.acceptance, f.step),
		fmt.Sprintf("%s ep  acc %.2f  step %.2g", epochs, f.acceptance, f.step)
}

// kept returns the number of states that a chain keeps before its end.
func (m MCMC) kept() int { return max(0, m.Keep) / max(1, m.Chains) }

// keeper keeps these states, or the last one.
func (m MCMC) keeper() smc.Keeper {
	if n := m.kept(); n > 0 {
		return smc.Spread{States: n * m.together()}
	}
	return nil
}

// Memory estimates the memory of the chains.
func (m MCMC) Memory(job *Job) Memory {
	s := m.Sampling()
	held, together := m.kept()*m.together(), m.together()
	if m.Move.Traits().Varies {
		held *= 2 // until every other one is dropped
	}
	bytes := func(chains int) int64 { return s.bytes(job, ceil(chains, together), together, held) }
	return Memory{Bytes: bytes(m.Chains), Scales: []Scale{{
		Field: pathOfMCMC + ".chains", Now: m.Chains, Bytes: bytes, Takes: func(n int) bool { return n >= together },
		Fits: func(n int) string { return fmt.Sprintf("%d chains would fit", n/together*together) },
	}}}
}

// Phases is the chains.
func (m MCMC) Phases(job *Job) ([]runs.Phase, error) {
	s := m.Sampling()
	phase, err := s.islands(job, chainStarts.find(m.Start), func(int) *smc.Sampler {
		one := &smc.Sampler{Path: s.Path, Move: m.Move, Keep: m.keeper(), Resample: s.Resample, Particles: m.together(), Learn: m.Learn}
		if m.Learn != nil {
			one.Weighting = smc.Unweighted{} // ψ moves by equal weights
		}
		return one
	})
	return []runs.Phase{phase}, err
}

// Gather joins the chains, equally weighted, and reports where they ended.
func (m MCMC) Gather(job *Job, phases []runs.Phase, trace []TraceLine) (*bnn.Ensemble, []finding.Finding, error) {
	s := m.Sampling()
	e, found, err := s.gather(job, phases, bnn.Equal{})
	if err != nil {
		return nil, nil, err
	}
	return e, append(found, s.Findings(trace, e, job.Data.Train.Len())...), nil
}
