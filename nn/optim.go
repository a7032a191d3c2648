package nn

import (
	"cmp"
	"math"
)

// Point optimisers take steps of gradient descent on a loss over a flat parameter vector θ. They act on slices and know
// nothing of networks. Their state is a Moments, plain data that can be saved and restored. The arithmetic is the same on
// every platform: only + − × ÷ and √, never fused.

// Optimiser moves a parameter vector down the gradient of a loss.
type Optimiser interface {
	// Step changes theta in place by one step along grad, the gradient of the loss at theta, and advances m.
	// It panics if grad, or a vector already in m, has another length than theta.
	Step(m *Moments, theta, grad []float64)
}

// Moments is the state of an optimiser between steps. The zero value is the start; the first step makes the vectors that
// the method uses.
type Moments struct {
	Steps  int       // number of steps so far; the argument of the rate's schedule
	First  []float64 // momentum of SGD, running mean of the gradient of Adam
	Second []float64 // running mean of the squared gradient of Adam
}

// SGD is gradient descent with heavy-ball momentum, as PyTorch's torch.optim.SGD without dampening:
//
//	u ← μ u + g        θ ← θ − η u        (θ ← θ − η g for μ = 0)
type SGD struct {
	Rate     Schedule // η
	Momentum float64  // μ, default 0
}

// Adam is Kingma & Ba (2015), algorithm 1, in PyTorch's order of operations:
//
//	m ← β₁ m + (1−β₁) g      v ← β₂ v + (1−β₂) g²
//	θ ← θ − η/(1−β₁ᵗ) · m / (√v / √(1−β₂ᵗ) + ε)
type Adam struct {
	Rate    Schedule // η
	Beta1   float64  // 0: 0.9
	Beta2   float64  // 0: 0.999
	Epsilon float64  // 0: 1e-8
}

// AdamW is Adam with decoupled weight decay (Loshchilov & Hutter 2019): θ ← θ − η·Decay·θ before Adam's step.
type AdamW struct {
	Adam
	Decay float64 // 0: 0.01, as in PyTorch
}

var (
	_ Optimiser = SGD{}
	_ Optimiser = Adam{}
	_ Optimiser = AdamW{}
)

// Step implements Optimiser.
func (o SGD) Step(m *Moments, theta, grad []float64) {
	checkLength(len(theta), grad)
	rate := o.Rate(m.Steps)
	m.Steps++
	if o.Momentum == 0 {
		for i, g := range grad {
			theta[i] -= float64(rate * g)
		}
		return
	}
	u := moment(&m.First, len(theta))
	for i, g := range grad {
		u[i] = float64(o.Momentum*u[i]) + g
		theta[i] -= float64(rate * u[i])
	}
}

// Step implements Optimiser.
func (o Adam) Step(m *Moments, theta, grad []float64) { o.step(m, theta, grad, 0) }

// Step implements Optimiser.
func (o AdamW) Step(m *Moments, theta, grad []float64) {
	o.Adam.step(m, theta, grad, cmp.Or(o.Decay, 0.01))
}

func (o Adam) step(m *Moments, theta, grad []float64, decay float64) {
	checkLength(len(theta), grad)
	b1, b2, eps := cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999), cmp.Or(o.Epsilon, 1e-8)
	mean, square := moment(&m.First, len(theta)), moment(&m.Second, len(theta))
	rate := o.Rate(m.Steps)
	m.Steps++
	shrink := 1 - float64(rate*decay)
	step := rate / (1 - power(b1, m.Steps))
	root := math.Sqrt(1 - power(b2, m.Steps))
	for i, g := range grad {
		mean[i] = float64(b1*mean[i]) + float64((1-b1)*g)
		square[i] = float64(b2*square[i]) + float64((1-b2)*float64(g*g))
		theta[i] = float64(shrink*theta[i]) - float64(step*(mean[i]/(math.Sqrt(square[i])/root+eps)))
	}
}

// Schedule gives the rate of each step, counted from 0.
type Schedule func(step int) float64

// Constant returns the schedule of a constant rate.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// StepDecay multiplies the rate by factor after every `every` steps (PyTorch's StepLR): rate·factor^⌊step/every⌋.
// It panics if every is not positive.
func StepDecay(rate, factor float64, every int) Schedule {
	if every <= 0 {
		panic("nn: StepDecay needs a positive number of steps")
	}
	return func(step int) float64 { return rate * power(factor, step/every) }
}

// EarlyStop watches a validation loss and keeps the best parameters. It is plain data: set Patience and leave the rest
// zero.
type EarlyStop struct {
	Patience int // number of checks in a row without a new best after which Observe says stop; 0: never

	Checks int       // number made so far
	BestAt int       // the check with the best loss, counted from 1; 0: Start, or none yet
	Best   float64   // the lowest loss, if there is one
	Theta  []float64 // a copy of the parameters of the best; nil: none yet
}

// Start records the loss at theta before the first check: later losses must be lower to be the best. A NaN is ignored.
func (e *EarlyStop) Start(loss float64, theta []float64) {
	if loss == loss {
		e.Best, e.Theta = loss, append(e.Theta[:0], theta...)
	}
}

// Observe records the loss at theta and reports whether to stop. Of equal losses the first is the best; a NaN is
// never better.
func (e *EarlyStop) Observe(loss float64, theta []float64) (stop bool) {
	e.Checks++
	if e.BestAt == 0 && len(e.Theta) == 0 && loss == loss || loss < e.Best {
		e.Best, e.BestAt = loss, e.Checks
		e.Theta = append(e.Theta[:0], theta...)
	}
	return e.Patience > 0 && e.Checks-e.BestAt >= e.Patience
}

// power is x^n by squaring; math.Pow differs by platform.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

func moment(v *[]float64, n int) []float64 {
	if *v == nil {
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
