package method

import "slices"

// start is a place where particles or chains begin.
type start struct {
	name  string
	drawn bool                                            // draws of the prior: weights from such a start estimate an evidence
	init  bool                                            // it needs a trained network, model.init
	each  bool                                            // it needs a restart for every particle
	best  bool                                            // it needs the best restart
	at    func(job *Job, island, particles int) []float64 // networks of an island's particles, whole; nil: draws of the prior
}

// needs returns what a sampler that begins at the start needs for a number of particles, over all islands.
func (s start) needs(particles int) Needs {
	n := Needs{Prior: true, Posterior: true, Partly: true, Init: s.init, Search: s.best || s.each}
	if s.each {
		n.Restarts = particles
	}
	return n
}

// place returns where the particles of an island begin; nil: at draws of the prior.
func (s start) place(job *Job, island, particles int) []float64 {
	if s.at == nil {
		return nil
	}
	return job.split(s.at(job, island, particles))
}

// shared returns φ of an island, which its particles have in common; nil where every parameter is random.
func (s start) shared(job *Job, island int) []float64 {
	if s.at == nil {
		return job.shared(island)
	}
	_, phi := job.divide(s.at(job, island, 1))
	return phi
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
	return job.Points.at(island*particles, particles)
}
