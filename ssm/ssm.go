// Package ssm holds state-space models: how a hidden state moves, and how the measurements of a scan depend on it. Package
// filter estimates the state.
//
// A state x has Dim numbers. It starts one interval before the first scan, moves by the density p(x_k | x_{k−1}) of a
// Transition, and gives each scan z_k the likelihood p(z_k | x_k) of a Likelihood. A user's own model is a type with the
// methods of Model. A model, a transition or a likelihood may have more methods, which filters find by type assertion: they are
// the small interfaces of this file.
//
// All numbers are float64, times are in seconds, and all randomness comes from the Stream that a method is given.
package ssm

import "github.com/starling-smc/starling/mcmc"

// Stream is a stream of random numbers, keyed by the caller.
type Stream = mcmc.Stream

// Pool bounds the threads that compute at the same time.
type Pool = mcmc.Pool

// Model is a state-space model. Its methods must be safe for concurrent use.
type Model interface {
	// Dim is the length of a state.
	Dim() int
	// Start sets x to a draw of the state one interval before the first scan.
	Start(s *Stream, x []float64)
	// Transition returns the law of the state after dt > 0 seconds. Steps of time need not be equal. The error says which dt the
	// model cannot take.
	Transition(dt float64) (Transition, error)
	// Bind returns the likelihood of a scan. The error says which measurement is none, and why: it is a *MeasurementError.
	Bind(scan *Scan) (Likelihood, error)
}

// Transition is the law of a state given the one before. Its methods must be safe for concurrent use.
type Transition interface {
	// Sample sets x to a draw of p(· | from). x and from do not overlap.
	Sample(s *Stream, from, x []float64)
	// LogDensity returns log p(x | from), normalised, in nats.
	LogDensity(from, x []float64) float64
}

// Likelihood is the likelihood of one scan, as a function of the state. One goroutine at a time uses it.
type Likelihood interface {
	// Len is M, the number of terms: as a rule one a measurement.
	Len() int
	// LogLik returns Σ_{i in rows} log p(z_i | x) in nats. rows nil means all of them, and what belongs to no row, as the terms
	// −μ − log M! of a Poisson model. −Inf is a state that could not have given the scan; NaN means −Inf.
	LogLik(x []float64, rows []int32) float64
}

// Scan is what the sensors delivered at one time. The order of the measurements has no meaning.
type Scan struct {
	Time    float64   // seconds
	Width   int       // numbers in a measurement
	Values  []float64 // row-major, M × Width
	Missing int       // measurements that were announced but have no value
	Parts   []Part    // measurements of which some numbers are there and others are not; of linear models alone
}

// Len is the number of measurements, M.
func (s *Scan) Len() int {
	if s.Width == 0 {
		return 0
	}
	return len(s.Values) / s.Width
}

// Row returns measurement i.
func (s *Scan) Row(i int) []float64 { return s.Values[i*s.Width : (i+1)*s.Width : (i+1)*s.Width] }

// Measured is the number of measurements, with those that lack some of their numbers.
func (s *Scan) Measured() int {
	n := s.Len()
	for i := range s.Parts {
		n += s.Parts[i].Len()
	}
	return n
}

// Part holds the measurements of a scan that lack the same of their numbers.
type Part struct {
	Columns []int     // of the numbers that are there, rising from 0; fewer than the scan's Width
	Values  []float64 // row-major, measurements × len(Columns)
}

// Len is the number of measurements.
func (p *Part) Len() int { return len(p.Values) / len(p.Columns) }

// Row returns what is there of measurement i.
func (p *Part) Row(i int) []float64 {
	w := len(p.Columns)
	return p.Values[i*w : (i+1)*w : (i+1)*w]
}

// Block is a range of a state's coordinates that move together: from From up to, but not including, To.
type Block struct{ From, To int }

// A Tracker is a Model whose state is a list of targets, each with the same coordinates: first the position, then the velocity. Targets
// start and move independently of each other: the start and the transition are products over targets.
type Tracker interface {
	Model
	Targets() int          // number of targets; target r has the coordinates r·Dim/Targets … (r+1)·Dim/Targets − 1
	Coordinates() []string // names of a target's coordinates: x, y, vx, vy
}

// Blocks returns the blocks of coordinates that a sampler moves one after another: the targets of a Tracker, else the whole state.
func Blocks(m Model) []Block {
	targets := 1
	if t, ok := m.(Tracker); ok {
		targets = t.Targets()
	}
	n := m.Dim() / targets
	blocks := make([]Block, targets)
	for r := range blocks {
		blocks[r] = Block{r * n, (r + 1) * n}
	}
	return blocks
}

// Named is a Model that names the coordinates of its state.
type Named interface {
	Coordinates() []string
}

// Observed is a Model whose measurements are single numbers about one coordinate of the state, so that both can be drawn together.
type Observed interface {
	Observed() int // the coordinate; −1: none
}

// Timed is a Model that says how long the step before its first scan is, and the step between simulated scans.
type Timed interface {
	Period() float64 // the interval, in seconds
}

// Interval is the model's interval; 1 s for a model that has none.
func Interval(m Model) float64 {
	if t, ok := m.(Timed); ok {
		return t.Period()
	}
	return 1
}

// Bounded is a Transition whose density has a known bound: samplers may draw by rejection under it.
type Bounded interface {
	// MaxLogDensity returns a number that LogDensity never exceeds, for any two states.
	MaxLogDensity() float64
}

// Gaussian is a Transition x ~ N(A·from, Q).
type Gaussian interface {
	Transition
	Gaussian() (a, q []float64) // Dim × Dim, row-major; not to be changed
}

// Confined is a Transition whose noise moves the state within a subspace alone, as a Gaussian with a singular covariance does.
type Confined interface {
	Transition
	// Nearest replaces x by a state near it that from leads to: its projection on the mean of x given from and the subspace. Differences
	// of states change linearly, and by the same map for every from.
	Nearest(from, x []float64)
}

// GaussianStart is a Model whose state starts at N(mean, cov).
type GaussianStart interface {
	Model
	StartMoments() (mean, cov []float64) // Dim; Dim × Dim, row-major
}

// Linear is a Model that a Kalman filter solves exactly: its transitions are Gaussian, it starts at N(mean, cov), and its
// measurements, each of length w, are independently z ~ N(H·x, R).
type Linear interface {
	GaussianStart
	Observation() (h, r []float64) // w × Dim; w × w
}

// Incremental is a Likelihood that remembers one state, so that it computes only what a proposal changes.
type Incremental interface {
	Likelihood
	// Set makes x the state.
	Set(x []float64)
	// Try returns the log-likelihood at x minus that at the state. x differs from the state in the block's coordinates alone.
	Try(x []float64, block Block) float64
	// Keep makes the x of the last Try the state.
	Keep()
}

// Relative is a Likelihood that knows the difference of two log-likelihoods better than the two of them: it subtracts before it
// squares. Far from all measurements the two are so large that a float64 has no digits left for their difference.
type Relative interface {
	Likelihood
	// Difference returns LogLik(x, nil) − LogLik(from, nil); from is a state that could have given the scan. NaN means −Inf.
	Difference(x, from []float64) float64
}

// Counter is a Likelihood that counts its terms: those it evaluated, and those it could leave out because the result is the same
// without them.
type Counter interface {
	Terms() (evaluated, skipped int64)
}

// Pooled is a Likelihood that shares the work of a large scan with other threads, with the same results.
type Pooled interface {
	SetPool(p *mcmc.Pool) // nil: one thread, as before the call
}

// Poisson is a Model whose scans have a random number of measurements: its terms are densities times the mean number.
type Poisson interface {
	Model
	Rate() float64               // the mean number of measurements of a scan, μ
	Thinned(share float64) Model // the model of measurements of which each is seen with this probability
}

// Finder is a Likelihood of a Tracker whose measurements come each from one target or from none. It tells whether a target has found its
// measurements, and where else it may be. Filters use it to begin a chain, and to say that one has lost a target.
type Finder interface {
	Likelihood
	// Expected is the mean number of measurements of one target.
	Expected() float64
	// Explained sets n[r] to the expected number of the scan's measurements that come from target r, if x is the state.
	Explained(x, n []float64)
	// Places returns at most so many places where measurements are densest, the densest first. A place has the values of the first
	// coordinates of a target.
	Places(most int) [][]float64
}

// Dropper is a Likelihood that leaves out measurements that its model is set to leave out.
type Dropper interface {
	Dropped() int
}

// Accuser is a Likelihood that knows why a log-likelihood is −Inf.
type Accuser interface {
	// Impossible returns the first measurement, in the order of the scan, that a state could not have given; ok is false if it could
	// have given all of them.
	Impossible(x []float64) (row int, ok bool)
}

// Simulator is a Model that draws measurements.
type Simulator interface {
	Model
	// Measure appends the measurements of a scan at state x to scan.Values and sets scan.Width.
	Measure(s *Stream, x []float64, scan *Scan)
}

// MeasurementError is an error of Bind: measurement Row of the scan is none.
type MeasurementError struct {
	Row int
	Err error
}

func (e *MeasurementError) Error() string { return e.Err.Error() }
func (e *MeasurementError) Unwrap() error { return e.Err }
