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
	fixed bool // the path is a fixed ladder, and not adaptive tempering
	move  move
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
	path := "by ESS"
	if c.fixed {
		path = "fixed ladder"
	}
	return fmt.Sprintf("D=%d J=%d %s, %s", c.d, c.particles, path, c.move.name)
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
				all = append(all, cell{size, fixed, m})
			}
		}
	}
	return all
}

// pilotSeed is the seed of runs from which others take a ladder, or what they do not learn themselves.
const pilotSeed = 1 << 40

// ladder is the one that adaptive tempering finds with the exact covariance and a seed of its own.
func (c cell) ladder(ctx context.Context, p problem) (ladder smc.Ladder, err error) {
	c.move = move{kernel: mcmc.HMC{}, exact: true}
	_, err = finish(ctx, c.sampler(p, smc.Tempering{}, nil, pilotSeed), func(st *smc.State, _ smc.Info) error {
		ladder.Temperatures = append(ladder.Temperatures, st.Lambda)
		return nil
	})
	return ladder, err
}

// pilot is what another run learns on a path, or nil where the cell asks for nothing of it.
func (c cell) pilot(ctx context.Context, p problem, path smc.Targets) (*course, error) {
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
func (c cell) sampler(p problem, path smc.Targets, pilot *course, seed uint64) *smc.Sampler {
	kernel := c.move.kernel.ForPopulation(mcmc.UntilTravelled, false)
	s := &smc.Sampler{Model: p, Prior: unit(c.d), Path: path, Move: kernel, Particles: c.particles, Seed: seed}
	switch {
	case c.move.exact:
		s.Move = exact{kernel.(mcmc.HMC), p}
	case pilot != nil:
		s.Move = &freezing{Move: kernel, frozen: c.move.frozen, pilot: pilot, stage: -1}
	}
	return s
}
