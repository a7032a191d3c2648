package nn

import "github.com/starling-smc/starling/internal/config"

// Optimiser moves a parameter vector down the gradient of a loss. It acts on slices and knows nothing of networks. Its state is a
// Moments, plain data that can be saved and restored. The arithmetic is the same on every platform: only + − × ÷ and √, never
// fused.
type Optimiser interface {
	// String is the optimiser's title, as in "SGD with momentum 0.9".
	String() string

	// Step changes theta in place by one step of this rate along grad, the gradient of the loss at theta, and advances m.
	// It panics if grad, or a vector already in m, has another length than theta.
	Step(m *Moments, theta, grad []float64, rate float64)

	// Usual is a rate that suits the optimiser, where the loss is a mean over examples.
	Usual() float64

	// Decays reports whether a step shrinks the parameters, as a normal prior of mean 0 does. A loss for it has no term of a prior, so
	// that nothing counts twice.
	Decays() bool
}

// Optimisers lists the optimisers by their names in a config.
var Optimisers = config.Table[Optimiser]{
	{Name: "sgd", Part: SGD{}},
	{Name: "adam", Part: Adam{}},
	{Name: "adamw", Part: AdamW{}},
}

// Moments is the state of an optimiser between steps. The zero value is the start; the first step makes the vectors that
// the method uses.
type Moments struct {
	Steps  int       // number of steps so far
	First  []float64 // momentum of SGD, running mean of the gradient of Adam
	Second []float64 // running mean of the squared gradient of Adam
}

// Copy makes m a deep copy of from, in the memory of m where that is large enough.
func (m *Moments) Copy(from *Moments) {
	m.Steps = from.Steps
	m.First = append(m.First[:0], from.First...)
	m.Second = append(m.Second[:0], from.Second...)
}

// moment returns a vector of Moments, which the first step makes.
func moment(v *[]float64, n int) []float64 {
	if len(*v) == 0 {
		*v = make([]float64, n)
	}
	checkLength(n, *v)
	return *v
}

func checkLength(n int, v []float64) {
	if len(v) != n {
		panic("nn: parameters, gradient and moments differ in length")
	}
}
