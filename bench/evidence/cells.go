package main

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// cell is a row of the table.
type cell struct {
	size
	set    string // the data of a logistic regression (logistic.go), in place of a linear one of this size; "": none
	chains int    // whose states are the particles of a waste-free sampler; 0: all particles move
	fixed  bool   // the path is a fixed ladder, and not adaptive tempering
	move   move
}

// size is that of a problem, and the particles.
type size struct{ d, rows, particles int }

// sizes are those of the cells. The last one has fewer rows than coefficients.
var sizes = []size{
	{5, 10, 10}, {5, 10, 50}, {5, 10, 300}, {20, 40, 10}, {20, 40, 50}, {20, 40, 300},
	{50, 100, 10}, {50, 100, 50}, {50, 100, 300}, {50, 100, 2000}, {63, 60, 800},
}

// String is the cell's name.
func (c cell) String() string {
	data, path, move := c.set, "by ESS", c.move.name
	if c.set == "" {
		data = fmt.Sprintf("D=%d", c.d)
	}
	if c.fixed {
		path = "fixed ladder"
	}
	switch {
	case c.chains > 0:
		move += fmt.Sprintf(": %d moves of %d chains", c.particles/c.chains-1, c.chains)
	case c.move.count > 0:
		move += fmt.Sprintf(": %d moves", c.move.count)
	case c.set != "":
		move += ": moves until travelled"
	}
	return fmt.Sprintf("%s J=%d %s, %s", data, c.particles, path, move)
}

// word is one that a pattern must have to ask for the cell, besides that it matches; "": none.
func (c cell) word() string {
	switch {
	case c.move.frozen != (frozen{}):
		return "frozen"
	case c.chains > 0 || c.move.count > 0 || c.set != "":
		return "moves"
	}
	return ""
}

func (c cell) runs() int {
	if c.particles >= 800 || c.d >= 50 && c.move.slow {
		return 40
	}
	return 200
}

// move is a way to move, as the defaults have it but for what it names.
type move struct {
	name   string
	kernel mcmc.Move
	exact  bool   // with the exact covariance
	slow   bool   // it takes longest, and has fewer cells and runs
	count  int    // moves of an iteration; 0: as many as the particles need to travel, or as chains have room for
	frozen frozen // what is not learned from the particles that move
}

// moves are the columns of the table. The scale of hmc is dense by default, at these sizes.
func moves(d int) []move {
	hmc := mcmc.HMC{}
	return []move{
		{name: "hmc", kernel: hmc},
		{name: "hmc: exact covariance", kernel: hmc, exact: true},
		{name: "hmc: diagonal", kernel: mcmc.HMC{Scale: mcmc.Diagonal}},
		{name: "hmc: tensor", kernel: mcmc.HMC{Scale: mcmc.Tensor}},
		{name: "pcn", kernel: mcmc.PCN{}, slow: true},
		{name: "metropolis", kernel: mcmc.Metropolis{SD: 1 / float64(d)}, slow: true}, // about 2.4/√D posterior standard deviations

		{name: "hmc: scale frozen", kernel: hmc, frozen: frozen{scale: true}},
		{name: "hmc: step frozen", kernel: hmc, frozen: frozen{step: true}},
		{name: "hmc: number of moves frozen", kernel: hmc, frozen: frozen{moves: true}},
		{name: "hmc: all frozen", kernel: hmc, frozen: frozen{scale: true, step: true, moves: true}},
		{name: "pcn: b frozen", kernel: mcmc.PCN{}, frozen: frozen{step: true}},
		{name: "pcn: number of moves frozen", kernel: mcmc.PCN{}, frozen: frozen{moves: true}},
		{name: "pcn: all frozen", kernel: mcmc.PCN{}, frozen: frozen{step: true, moves: true}},
	}
}

// cells are all of them.
func cells() (all []cell) {
	for _, size := range sizes {
		for _, fixed := range []bool{true, false} {
			for _, m := range moves(size.d) {
				wide := size.rows < size.d // for one comparison, by ESS
				if m.frozen != (frozen{}) && !fixed || m.slow && size.particles > 300 || m.name == "hmc: tensor" && size.d != 20 || wide && fixed {
					continue
				}
				all = append(all, cell{size: size, fixed: fixed, move: m})
			}
		}
	}
	return append(all, beside()...)
}

// beside are waste-free samplers, and others of the same move that compute about as many gradients: a population of m particles that make k
// moves each, and m chains of k moves, of which all m(k + 1) states are particles. Then stands what preset pima has, by its move and by the default
// one, beside waste-free samplers of as many particles and of as many gradients.
func beside() (all []cell) {
	hmc := mcmc.HMC{}
	preset := mcmc.HMC{Steps: 5, Step: 0.1}
	add := func(data cell, particles, chains, moves int, kernels ...mcmc.Move) {
		data.particles, data.chains = particles, chains
		for _, kernel := range kernels {
			data.move = move{name: "hmc", kernel: kernel, count: moves}
			if kernel == preset {
				data.move.name = "hmc of 5 leapfrogs of .1"
			}
			all = append(all, data)
		}
	}
	pima := cell{set: "pima"}
	for _, data := range []cell{{size: size{d: 20, rows: 40}}, pima, {set: "wine-red"}} {
		for _, s := range []struct{ m, k int }{{50, 10}, {100, 5}} {
			add(data, s.m, 0, s.k, hmc)
			add(data, s.m*(s.k+1), s.m, 0, hmc)
		}
		for _, s := range []struct{ m, k int }{{250, 2}, {500, 1}} {
			add(data, s.m, 0, s.k, hmc)
		}
	}
	add(pima, 1000, 0, 0, hmc)
	add(pima, 1000, 0, 10, preset)
	add(pima, 1000, 100, 0, hmc, preset)
	add(pima, 1000, 20, 0, hmc, preset)
	add(pima, 4500, 100, 0, hmc)
	add(pima, 11000, 1000, 0, preset)
	add(pima, 10100, 100, 0, preset)
	return all
}

// posterior is what the cell samples.
func (c cell) posterior(ctx context.Context, dir string) (posterior, error) {
	if c.set != "" {
		return logisticPosterior(ctx, c.set, dir)
	}
	return regression(c.d, c.rows, 1).posterior(), nil
}

// pilotSeed is the seed of runs from which others take a ladder, or what they do not learn themselves.
const pilotSeed = 1 << 40

// ladder is the one that adaptive tempering finds with the exact covariance and a seed of its own.
func (c cell) ladder(ctx context.Context, p posterior) (ladder smc.Ladder, err error) {
	c.move = move{kernel: mcmc.HMC{}, exact: true}
	_, err = finish(ctx, c.sampler(p, smc.Tempering{}, nil, pilotSeed), func(st *smc.State, _ smc.Info) error {
		ladder.Temperatures = append(ladder.Temperatures, st.Lambda)
		return nil
	})
	return ladder, err
}

// pilot is what another run learns on a path, or nil where the cell asks for nothing of it.
func (c cell) pilot(ctx context.Context, p posterior, path smc.Targets) (*course, error) {
	if c.move.frozen == (frozen{}) {
		return nil, nil
	}
	c.move.frozen = frozen{}
	s := c.sampler(p, path, nil, pilotSeed+1)
	learned := new(course)
	s.Move = learning{s.Move.(mcmc.Move), learned}
	_, err := finish(ctx, s, func(_ *smc.State, info smc.Info) error {
		learned.moves = append(learned.moves, info.Mutations)
		return nil
	})
	return learned, err
}

// sampler is one run of the cell.
func (c cell) sampler(p posterior, path smc.Targets, pilot *course, seed uint64) *smc.Sampler {
	repeats := mcmc.UntilTravelled
	if c.move.count > 0 || c.chains > 0 {
		repeats = mcmc.Mutations{Count: c.move.count}
	}
	kernel := c.move.kernel.ForPopulation(repeats, false)
	s := &smc.Sampler{Model: p.model, Prior: p.prior, Path: path, Move: kernel, Particles: c.particles, WasteFree: c.chains, Seed: seed}
	if c.set != "" { // as preset pima has it
		s.Resample = smc.Resampler{Scheme: smc.Systematic{}, When: smc.Always{}}
	}
	switch {
	case c.move.exact:
		s.Move = exact{kernel.(mcmc.HMC), p.model.(problem)}
	case pilot != nil:
		s.Move = &freezing{Move: kernel, frozen: c.move.frozen, pilot: pilot, stage: -1}
	}
	return s
}
