package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// turning is a linear model of two coordinates that turn into each other, of which one combination is measured.
type turning struct{}

var (
	turnA    = []float64{1, 0.5, -0.3, 0.8}
	turnQ    = []float64{0.4, 0.1, 0.1, 0.3}
	turnMean = []float64{1, -1}
	turnCov  = []float64{2, 0.6, 0.6, 1}
	turnH    = []float64{1, 0.2}
	turnR    = []float64{0.5}
)

func (turning) Dim() int                                    { return 2 }
func (turning) Start(*ssm.Stream, []float64)                { panic("not used") }
func (turning) Transition(float64) (ssm.Transition, error)  { return turning{}, nil }
func (turning) Sample(*ssm.Stream, []float64, []float64)    { panic("not used") }
func (turning) LogDensity([]float64, []float64) float64     { panic("not used") }
func (turning) Gaussian() (a, q []float64)                  { return turnA, turnQ }
func (turning) StartMoments() (mean, cov []float64)         { return turnMean, turnCov }
func (turning) Observation() (h, r []float64)               { return turnH, turnR }
func (turning) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return turns{z: scan.Values}, nil }

// jointLaw is the law of the states of all scans together, by conditioning the normal distribution of all coordinates on one measurement
// after another, up to a number of scans.
func jointLaw(z [][]float64, upTo int) (mean []float64, cov [][]float64) {
	mean, cov = slices.Clone(turnMean), [][]float64{turnCov[:2], turnCov[2:]}
	for range z { // the next state is A x + noise
		n := len(mean)
		last := n - 2
		grown := make([][]float64, n+2)
		for i := range n {
			grown[i] = append(slices.Clone(cov[i]), 0, 0)
		}
		for r := range 2 {
			grown[n+r] = make([]float64, n+2)
			for i := range n {
				grown[n+r][i] = turnA[2*r]*cov[last][i] + turnA[2*r+1]*cov[last+1][i]
				grown[i][n+r] = grown[n+r][i]
			}
		}
		for r := range 2 {
			for c := range 2 {
				grown[n+r][n+c] = turnA[2*c]*grown[n+r][last] + turnA[2*c+1]*grown[n+r][last+1] + turnQ[2*r+c]
			}
		}
		mean = append(mean, turnA[0]*mean[last]+turnA[1]*mean[last+1], turnA[2]*mean[last]+turnA[3]*mean[last+1])
		cov = grown
	}
	for k, values := range z[:upTo] {
		at := 2 * (k + 1) // after the state before the first scan
		for _, v := range values {
			with := make([]float64, len(mean)) // covariance of all coordinates with the measurement
			for i := range with {
				with[i] = turnH[0]*cov[i][at] + turnH[1]*cov[i][at+1]
			}
			variance := turnH[0]*with[at] + turnH[1]*with[at+1] + turnR[0]
			off := v - turnH[0]*mean[at] - turnH[1]*mean[at+1]
			for i := range mean {
				mean[i] += with[i] / variance * off
				for j := range mean {
					cov[i][j] -= with[i] * with[j] / variance
				}
			}
		}
	}
	return mean, cov
}

// Filtered and smoothed states of two coordinates have the moments of the joint normal distribution of all states, conditioned on the
// measurements: of the scans up to the state's own, and of all.
func TestSmootherOfTwoCoordinates(t *testing.T) {
	z := [][]float64{{0.3, 1.1}, {-0.5}, {}, {0.9, 0.2, 0.6}}
	var scans []*ssm.Scan
	for k, values := range z {
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: values})
	}
	compare := func(what string, k int, st *State, upTo int) {
		mean, cov := jointLaw(z, upTo)
		for r := range 2 {
			at := 2*(k+1) + r
			if !(math.Abs(st.Mean[r]-mean[at]) <= 1e-10) {
				t.Errorf("%s %d: mean %v of coordinate %d, want %v", what, k+1, st.Mean[r], r, mean[at])
			}
			for c := range 2 {
				if want := cov[at][2*(k+1)+c]; !(math.Abs(st.Cov[2*r+c]-want) <= 1e-10) {
					t.Errorf("%s %d: covariance %v of %d and %d, want %v", what, k+1, st.Cov[2*r+c], r, c, want)
				}
			}
		}
	}
	var states []*State
	filtered(t, Kalman{}, Job{Model: turning{}}, scans, func(k int, st *State, _ Info) {
		compare("filtered", k, st, k+1)
		copied := *st
		states = append(states, &copied)
	})
	smoothed, err := Smooth(turning{}, states)
	if err != nil {
		t.Fatal(err)
	}
	for k, st := range smoothed {
		compare("smoothed", k, st, len(z))
	}
}
