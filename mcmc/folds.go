package mcmc

// A particle must not move by what it has taught. If all particles learn one scale, each pulls it towards its own deviation, by a
// share of order D/J, and then moves by it: the moves of a stage no longer leave its target invariant, and what they do not forget
// adds up over the stages. Variances hardly show it, but the log evidence falls: in 50 dimensions with 300 particles by a nat and
// more (docs/adr/0020-folds.md).
//
// So the parents of a stage are dealt to folds, and the scale of a fold is learned from the weighted particles of all others. Their
// children move by the scale of their parent's fold. Given the other folds it is a fixed scale, and the move leaves the target
// invariant as if the scale were known. What is left comes through common ancestors of stages before, which moves forget, and
// through the step, one number. Folds of children would be of no use: copies of one parent would stand in several.
const mostFolds = 8

// Folds is the largest number of folds of some particles: eight, so that 7/8 of them teach, or as many as particles. Halves of ten
// particles would have too few independent points.
func Folds(particles int) int { return min(particles, mostFolds) }

// folds is the number of folds of some particles. A scale that is one number for each tensor has too few of them for one particle
// to matter.
func (s Scaling) folds(particles int) int {
	if s == Diagonal || s == Dense {
		return Folds(particles)
	}
	return 1
}

// scales are those of each fold, or one for all.
type scales []scale

// plain is no scale.
var plain = scales{{}}

// of is the scale by which particle j of p moves.
func (s scales) of(p *Population, j int) scale {
	if len(s) == 1 {
		return s[0]
	}
	return s[p.Fold[j]]
}

// same makes all scales the first one.
func (s scales) same() {
	for _, other := range s[1:] {
		copy(other.sd, s[0].sd)
		copy(other.factor, s[0].factor)
	}
}

// deal deals the particles of p to folds, one after another. Copies of one particle, which moves have not parted, come into one
// fold; they have the same log-likelihood. So do the states of all chains that began at one particle.
func (s scales) deal(p *Population, chains int) {
	fold := make(map[float64]int32, p.J)
	for j, l := range p.LL {
		if chains > 0 {
			l = p.LL[j%chains]
		}
		f, dealt := fold[l]
		if !dealt {
			f = int32(len(fold) % len(s))
			fold[l] = f
		}
		p.Fold[j] = f
	}
}

// fromPopulation learns the scale of every fold from the weighted particles of the others, and reports whether they could teach
// one: not where all descend from one and may not have parted, so that their spread is no more than what the moves have made of it.
func (l learner) fromPopulation(t *Target, p *Population, weights []float64, now StepContext) bool {
	if l.kind == None {
		return true
	}
	if now.Related {
		return false
	}
	l.scales.deal(p, now.Chains)
	others, taught := make([]float64, p.J), true
	for f, s := range l.scales {
		var sum float64
		for j, w := range weights {
			if others[j] = w; len(l.scales) > 1 && int(p.Fold[j]) == f {
				others[j] = 0
			}
			sum += others[j]
		}
		for j := range others {
			others[j] /= sum
		}
		m := moments(t, p, others, l.kind)
		if !m.learn(l.kind, blocks(t), s.sd, s.factor) {
			taught = false
		}
	}
	return taught
}
