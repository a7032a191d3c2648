// Package filter estimates the hidden state of a state-space model (package ssm), scan by scan.
//
//	SMCMC       smcmc.go      sequential MCMC: a chain a scan, without weights; its decisions are in joint.go, index*.go, refine*.go
//	Kalman      kalman.go     the exact answer for linear Gaussian models; smoother.go looks back
//	Bootstrap   bootstrap.go  particles drawn from the prediction, weighted by the likelihood
//	Laplace     laplace.go    one normal law a scan, about the mode of the posterior
//	Auxiliary   auxiliary.go  particles chosen by how well they predict the scan before they are moved
//	EP          ep.go         sequential MCMC by several nodes, each of which has some of a scan's measurements (site.go, exchange.go, shares.go)
//
// The table Methods lists them. A method is a plain value whose fields are its settings. On makes a Filter of it, for one model
// and one seed:
//
//	f, err := filter.SMCMC{Particles: 4000, Burn: 125, Index: filter.ExactIndex{}, Refine: filter.Walk{SD: filter.Adapted}}.On(filter.Job{Model: m, Seed: 1})
//	state, err := f.Init(ctx)
//	for … {
//		info, err := f.Step(ctx, state, scan)
//		mean, cov := state.Moments()
//	}
//
// A State is plain data that can be saved after every scan. The model, the settings, the
// seed and the scans decide what a filter computes; threads do not change it.
package filter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// Filter estimates the state of a model. The steps of one State are made one after another.
type Filter interface {
	// Init returns the state one interval before the first scan.
	Init(ctx context.Context) (*State, error)
	// Step takes the state to the time of the scan, and the scan's measurements into account. After an error the state is as it
	// was. A *TimeError says that the scan's time does not come after the last one's, or that the model has no transition to it;
	// an *ssm.MeasurementError that a measurement is none; an *ImpossibleError that no predicted state can have given the scan.
	Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error)
}

// Job is what a filter works on.
type Job struct {
	Model ssm.Model
	Seed  uint64
	Node  int        // of several filters that share the measurements; below 2²⁴
	Pool  *mcmc.Pool // nil: one thread for each CPU

	Hosted Hosted // which nodes of an EP are in this process; the zero value: all of them
}

// Method is a way to filter. It is a plain value whose fields are its settings.
type Method interface {
	// Title describes the method in words: "sequential MCMC, 4,000 samples a scan".
	Title() string
	// On returns the filter of a job. The error says what does not fit: settings, or a model that the method cannot filter.
	On(job Job) (Filter, error)
	// Suits says why the method cannot filter a model; nil if it can.
	Suits(m ssm.Model) error
	// Samples reports whether the states are particles.
	Samples() bool
	// Bytes estimates the memory that a filter of states of dim numbers takes, without the likelihood's.
	Bytes(dim int) int64
	// Evidence reports whether the method estimates the evidence of the scans.
	Evidence() bool
	// Findings are what a reader must know of the settings, whatever the scans are.
	Findings() []finding.Finding
	// Sampler says which of the settings that a finding may advise are on already.
	Sampler() finding.Sampler
	// Filters is the number of filters whose states are joined.
	Filters() int
	// Numbers is how many numbers of nodes the filter of a job draws by: Job.Node and those that follow it.
	Numbers() int
}

// Settling is a Method of which some defaults depend on the model.
type Settling interface {
	Method
	// SettleFor fills in these defaults.
	SettleFor(m ssm.Model) Method
}

// Info is what a step found. It is only looked at: nothing of it goes into the next step.
type Info struct {
	// Acceptance of each kind of decision of SMCMC, over all steps of the chain after the burn-in; NaN: there is no such decision.
	Joint, Index, Refine float64

	// ESS has for each coordinate how many independent draws the sampling of this scan is worth for the mean; NaN: the coordinate stands
	// still, with one value in all particles, because nothing moves it; nil: the state is no sample.
	ESS []float64
	// MCSE has for each coordinate the Monte Carlo standard error of the mean, with what the sampling of earlier scans has left in
	// it: the error, divided by it, has a variance of about 1. NaN: unknown; nil: the method has none, or gives none.
	MCSE []float64
	// RHat has for each coordinate of SMCMC the R-hat of the filters' chains, which begin at different states; nil: one chain.
	RHat []float64

	Ancestors int // distinct states of the scan before, from which the present ones come; of several filters the mean; 0: the state is no sample
	// Explained has for each target of SMCMC, and of Laplace, the expected number of the scan's measurements that come from it, in the filter where they
	// are fewest; Lost says that they are far fewer than its rate. nil: the model does not tell (ssm.Finder), or the scan has no measurements.
	Explained []float64
	Lost      []bool

	// Seen has, of each kind of decision by decide: subsample, the share of the measurements that a decision looks at, S/M: all, where
	// the sum over them decides. BySum has the share of the decisions by that sum. nil: there is no such decision.
	Seen, BySum *ByKind

	Nodes         *Nodes   // of EP with several nodes; the acceptance above is then that of the last pass
	Passes        int      // over the measurements, for the Taylor series that decide: subsample and joint: guided need
	PassTerms     int64    // of the terms that were evaluated, those of these passes
	Residuals     int64    // and those of measurements that decisions have looked at one by one
	Evaluated     int64    // terms of the likelihood that were evaluated
	Skipped       int64    // terms that could be left out, because the result is the same without them
	Repairs       int      // of curvatures with an eigenvalue below 0, which counts as 0
	LogEvidence   float64  // log p(z_k | z_1:k−1), in nats; NaN if the method estimates none
	LogEvidenceSE float64  // its Monte Carlo standard error; NaN: unknown, or the method has none
	Surprise      *float64 // share of the scans that were predicted that are no more likely, where the method knows it exactly; nil: Surprise estimates it
	Resampled     bool
	Dropped       int // measurements that the model leaves out (ssm.Dropper)
}

// TimeError is the error for a scan whose time does not come after the last one's, or is none to which the model can go from there.
type TimeError struct {
	Last, Time float64 // seconds
	Err        error   // the model's; nil: the time does not come after the last one's
}

func (e *TimeError) Unwrap() error { return e.Err }

func (e *TimeError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("from the scan at %v s to the one at %v s: %v", e.Last, e.Time, e.Err)
	case e.Time == e.Last:
		return fmt.Sprintf("two scans have the time %v s: merge their measurements into one scan", e.Time)
	}
	return fmt.Sprintf("the scan's time %v s is before that of the scan before it, %v s: sort the scans by time", e.Time, e.Last)
}

// ImpossibleError is the error for a scan that none of the predicted states can have given.
type ImpossibleError struct {
	Row int // a measurement that is impossible at the last of them; −1: unknown
	Err error
}

func (e *ImpossibleError) Error() string { return e.Err.Error() }
func (e *ImpossibleError) Unwrap() error { return e.Err }

// transition returns the transition from the state to the time of the scan.
func (st *State) transition(m ssm.Model, scan *ssm.Scan) (ssm.Transition, error) {
	dt := ssm.Interval(m)
	switch {
	case math.IsNaN(scan.Time) || math.IsInf(scan.Time, 0):
		return nil, &TimeError{st.Time, scan.Time, fmt.Errorf("the scan's time is %v", scan.Time)}
	case st.K > 0 && !(scan.Time > st.Time):
		return nil, &TimeError{st.Time, scan.Time, nil}
	case st.K > 0:
		dt = scan.Time - st.Time
	}
	tr, err := m.Transition(dt)
	if err == nil && tr == nil {
		err = fmt.Errorf("the model's Transition(%v) is nil, without an error: want a transition, or an error that says which step the model cannot take", dt)
	}
	if err != nil {
		if st.K > 0 {
			err = &TimeError{st.Time, scan.Time, err}
		}
		return nil, err
	}
	return tr, nil
}

// fits returns an error for a state that is not one of a filter with n particles, weighted or not.
func (st *State) fits(m ssm.Model, n int, weighted bool) error {
	if st.Dim != m.Dim() || st.N() != n || weighted != (st.LogW != nil) {
		return fmt.Errorf("the state has %d particles of %d numbers, weighted: %v; this filter's have %d of %d, weighted: %v: begin with its own Init",
			st.N(), st.Dim, st.LogW != nil, n, m.Dim(), weighted)
	}
	return nil
}

// refused returns the first fault that a method's settings have.
func refused(name string, m config.Checker) error {
	faults := config.NewFaults()
	m.Check(faults)
	if all := faults.All(); len(all) > 0 {
		return fmt.Errorf("%s: %s", name, strings.TrimPrefix(all[0].Path+": "+all[0].Message, ": "))
	}
	return nil
}

// mostNumbers is the largest length of a state: a million numbers a particle are more than any filter can make use of.
const mostNumbers = 1 << 20

// check returns an error for a job without a model, with one whose states cannot be made, or of nodes that the method does not have.
func (j Job) check() error {
	if j.Hosted != (Hosted{}) {
		return errors.New("only EP of two nodes or more has nodes in several processes")
	}
	if j.Model == nil {
		return errors.New("the model is nil: want a state-space model")
	}
	if d := j.Model.Dim(); d < 1 || d > mostNumbers {
		return fmt.Errorf("the model says that its states have %d numbers (Dim): want 1 to %d", d, mostNumbers)
	}
	return nil
}

// given returns an error for a step that is asked for with nil.
func given(ctx context.Context, st *State, scan *ssm.Scan) error {
	switch {
	case ctx == nil:
		return errors.New("the context is nil: want context.Background()")
	case st == nil:
		return errors.New("the state is nil: begin with the filter's Init")
	case scan == nil:
		return errors.New("the scan is nil: a scan without measurements is &ssm.Scan{Time: t}")
	}
	return nil
}

// noAcceptance is the Info of a method without decisions.
func noAcceptance() Info {
	return Info{Joint: math.NaN(), Index: math.NaN(), Refine: math.NaN(), LogEvidence: math.NaN(), LogEvidenceSE: math.NaN()}
}
