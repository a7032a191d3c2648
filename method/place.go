package method

import (
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Place is where the particles of an island begin.
type Place interface {
	start() start
}

// Places lists the places by their names in a config: draws of the prior, networks that were trained before, and each start of descents that
// is the draw of a network that nobody has trained.
var Places = func() config.Table[Place] {
	all := config.Table[Place]{
		{Name: "prior", Part: FromPrior{}},
		{Name: "tempered", Part: FromTempered{}},
		{Name: "map", Part: FromMAP{}},
		{Name: "sgd", Part: FromRestarts{}},
		{Name: "init", Part: FromInit{}},
	}
	for _, row := range bnn.Starts {
		if row.Part.Untrained() {
			all = append(all, config.Row[Place]{Name: row.Name, Part: FromUntrained{By: row.Part}})
		}
	}
	return all
}()

// FromPrior begins at draws of the prior, which the likelihood of the first batch weights.
type FromPrior struct{}

func (FromPrior) start() start { return start{drawn: true} }

// FromTempered begins at draws of the prior that adaptive tempering leads to the first batch.
type FromTempered struct{}

func (FromTempered) start() start { return start{drawn: true, tempers: true} }

// FromMAP begins at the best MAP restart, all particles alike.
type FromMAP struct{}

func (FromMAP) start() start { return start{best: true, at: atBest} }

// FromRestarts begins at MAP restarts, each particle at one of its own.
type FromRestarts struct{}

func (FromRestarts) start() start { return start{each: true, at: atRestarts} }

// FromInit begins at model.init, all particles alike.
type FromInit struct{}

func (FromInit) start() start { return start{init: true, at: atInit} }

// FromUntrained begins at draws of networks that nobody has trained, as libraries draw them. They are no draws of the prior, so the weights of
// the first particles are unknown, and with them the evidence. Islands never share a draw.
type FromUntrained struct {
	By     bnn.Start `yaml:"-"`
	Shared bool      `yaml:"shared,omitempty"` // true: all particles of an island begin at one draw; default false: each at a draw of its own
}

// Check notes a start that is missing, which only a Go program can leave out.
func (p FromUntrained) Check(f *config.Faults) {
	f.If(p.By == nil, "", "has no start to draw by: want By, as in method.FromUntrained{By: bnn.JAX{}}")
}

func (p FromUntrained) start() start {
	words := ", begun by " + bnn.Starts.Name(p.By)
	if p.Shared {
		words += " at one draw"
	}
	return start{words: words, at: p.at}
}

// at draws whole networks, each from a stream of its own. What particles share is that of the first.
func (p FromUntrained) at(job *Job, island, particles int) []float64 {
	net := job.Net.Whole()
	draws := particles
	if p.Shared {
		draws = 1
	}
	all := make([]float64, draws*net.Dim())
	for j, one := range slices.Collect(slices.Chunk(all, net.Dim())) {
		key := rng.Key{Seed: job.Seed, Purpose: rng.Start, Island: island, Particle: j, Mutation: 3} // 0 to 2 are those of restarts, of ψ, and of spec
		p.By.Draw(net.Random(), nil, key.Stream(), one)
	}
	return slices.Repeat(all, particles/draws)
}
