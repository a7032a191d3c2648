package method

import (
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/rng"
)

// start is a place where particles or chains begin.
type start struct {
	name    string
	words   string                                          // that end a title; empty: none
	drawn   bool                                            // draws of the prior: weights from such a start estimate an evidence
	tempers bool                                            // adaptive tempering leads the draws to the first target
	init    bool                                            // it needs a trained network, model.init
	each    bool                                            // it needs a restart for every particle
	best    bool                                            // it needs the best restart
	at      func(job *Job, island, particles int) []float64 // networks of an island's particles, whole; nil: draws of the prior
}

// alone reports whether the start needs no network that was trained before.
func (s start) alone() bool { return !s.init && !s.each && !s.best }

// needs returns what a sampler that begins at the start needs for a number of particles, over all islands.
func (s start) needs(particles int) Needs {
	n := Needs{Prior: true, Posterior: true, Partly: true, Init: s.init, Search: s.best || s.each}
	if s.each {
		n.Restarts = particles
	}
	return n
}

// begin returns where the particles of an island begin, nil for draws of the prior, and ψ, which they have in common; no ψ where
// nothing is learned. ψ is that of the first particle or, where networks that nobody has trained are drawn beside one that is given, of that.
func (s start) begin(job *Job, island, particles int) (theta, psi []float64) {
	if s.at == nil {
		return nil, job.shared(island)
	}
	theta, psi = job.divide(s.at(job, island, particles))
	if s.alone() && job.whole() != nil {
		return theta, job.shared(island)
	}
	return theta, psi[:job.Net.Learned()]
}

// whole returns the network that a posterior may be anchored at: the best restart or, without a search, model.init; nil if there
// is neither.
func (j *Job) whole() []float64 {
	if j.Points != nil {
		return j.Points.Best()
	}
	return j.Init
}

// anchor returns the estimate that the prior is moved to, θ of whole.
func (j *Job) anchor() []float64 {
	theta, _ := j.divide(j.whole())
	return theta
}

// divide returns θ and ψ of whole networks, one or more; no ψ where nothing is learned.
func (j *Job) divide(whole []float64) (theta, psi []float64) {
	if !j.Net.Partly() {
		return whole, nil
	}
	for one := range slices.Chunk(whole, j.Net.Parameters()) {
		random, shared := j.Net.Split(one)
		theta, psi = append(theta, random...), append(psi, shared...)
	}
	return theta, psi
}

// shared returns ψ of an island whose particles begin at draws of the prior: of the network that whole returns or, if there is none,
// a draw; nil where nothing is learned.
func (j *Job) shared(island int) []float64 {
	if j.Net.Learned() == 0 {
		return nil
	}
	if _, psi := j.divide(j.whole()); psi != nil {
		return psi
	}
	return bnn.DrawShared(j.Net, rng.Key{Seed: j.Seed, Purpose: rng.Start, Island: island, Mutation: 1}.Stream()) // 0 are those of restarts
}

// starts is a list of starts.
type starts []start

func (t starts) names() (names []string) {
	for _, s := range t {
		names = append(names, s.name)
	}
	return names
}

// find returns the start of that name, or the zero value for an unknown name, which Check refuses.
func (t starts) find(name string) start {
	for _, s := range t {
		if s.name == name {
			return s
		}
	}
	return start{}
}

// atInit puts every particle at model.init.
func atInit(job *Job, _, particles int) []float64 { return slices.Repeat(job.Init, particles) }

// atBest puts every particle at the best restart.
func atBest(job *Job, _, particles int) []float64 { return slices.Repeat(job.Points.Best(), particles) }

// atRestarts gives every particle a restart of its own.
func atRestarts(job *Job, island, particles int) []float64 {
	return job.Points.starts(island*particles, particles)
}
