package method

// How many particles an island of tempering has, where a config does not say. The evidence and the widths of the posterior need hundreds;
// ten are what a large network can afford. What can be afforded is a matter of gradients: a path takes 60 to 10,000 evaluations of every
// particle on all examples, more for posteriors that are narrow in some directions and wide in others.

const (
	fewParticles  = 10
	manyParticles = 400 // of an island
	allParticles  = 800 // of all islands: scores of a mixture of normals take the square of their number
	roundTo       = 10
	operations    = 5e7 // of one evaluation of an island's particles on all examples
)

// particlesFor is the number of particles of each island, if the log-likelihood and gradient of one on all examples take so many
// operations. It is rounded down.
func particlesFor(each float64, islands int) int {
	afford := min(operations/each, manyParticles, allParticles/float64(islands))
	return max(fewParticles, int(afford)/roundTo*roundTo)
}
