package filter

import (
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// The particles of SMCMC are divided among R filters that know nothing of each other. They see the same scans, and their draws are
// independent from the first scan on: what the errors of earlier scans have left differs between them, too. With the mean m_r of
// filter r, and m the mean of all R of them, the variance of m is Σ_r (m_r − m)² / (R (R − 1)): the method of batches. Of few filters this
// is a rough estimate. student makes the standard error so much larger that the error of m, divided by it, has variance 1.
//
// The R chains of a scan begin at different draws of the prediction. So they show, too, whether a chain finds all of the posterior: by
// R-hat (Gelman and Rubin 1992), with the mean W of the variances inside of the chains, of n states each,
//
//	R-hat = √((n − 1)/n + B/W),   B = Σ_r (m_r − m)² / (R − 1).
//
// Chains that stay in different modes have an R-hat far above 1. Chains that mix have one a little above 1, because the filters'
// own errors differ: see fewestParticles.

// The usual number of filters.
const (
	mostFilters     = 8
	fewestFilters   = 4   // with fewer, the spread says nothing: Student's distribution has no variance
	fewestParticles = 250 // of a filter
)

// A filter of n particles has an error of order 1/n of the spread that all filters share, and which their spread does not show. The standard
// error of the mean of R of them is of order 1/√(nR). So the quotient of the two is of order √(R/n), and n must be large beside R. On a
// model of position and velocity the root of the mean square of (mean − exact)/MCSE was .9 and 1.0 with n = 60R, 1.2 and 1.1 with n = 10R, 1.2
// and 1.3 with n = 4R, 1.4 and 1.3 with n = 2.5R, 3.2 and 2.9 with n = R/2.5.
const sharedErrors = 4

// usualRepeat is the number of filters among which n particles are divided where nothing else is said.
func usualRepeat(n int) int {
	if r := min(mostFilters, n/fewestParticles); r >= fewestFilters {
		return r
	}
	return 1
}

// Apart is an R-hat of chains that are in different places: those that mix well have one below it, whatever their filters' own errors.
const Apart = 3

// Chains are in different places because each stays in one mode, or because they are still on their way, or get stuck on it. One that has
// moved for a short time and then hardly ever has few correlations, so that its effective sample size seems large. So where chains are in
// different places, none is worth more than twice its worse half, and a half not more than the values that it has taken.

// settled is the number of draws that a chain's mean is worth if the chains of a scan are in different places.
func (s summary) settled() float64 { return min(s.ess, float64(2*s.values)) }

// summary is what a chain's states say of one coordinate.
type summary struct {
	mean, variance float64 // the variance is divided by n − 1
	ess            float64 // independent draws that the mean is worth; 1 if the coordinate is constant
	values         int     // that it takes, one after another, in the half that has fewer
	constant       bool    // it has one value in all states
	still          bool    // and nothing moves it (still.go)
}

// summarise describes each coordinate of states of length d.
func summarise(x []float64, d int) []summary {
	n := len(x) / d
	out, series := make([]summary, d), make([]float64, n)
	for i := range out {
		s, first := &out[i], x[i] // deviations from a state lose no digits far from the origin
		s.constant = true
		for j := range series {
			series[j] = x[j*d+i]
			s.mean += (series[j] - first) / float64(n)
			s.constant = s.constant && series[j] == first
		}
		s.mean += first
		for _, v := range series {
			s.variance += float64((v-s.mean)*(v-s.mean)) / float64(n-1)
		}
		s.ess, _ = mcmc.MeanError(series)
		s.values = min(valuesOf(series[:(n+1)/2]), valuesOf(series[n/2:]))
	}
	return out
}

// compare adds to an Info what R chains, of n states each, say together: list[r][i] describes coordinate i of chain r. One chain has
// an effective sample size alone.
func (info *Info) compare(list [][]summary, n int) {
	repeat := float64(len(list))
	for i := range list[0] {
		mean, within, between, ess, still := 0.0, 0.0, 0.0, 0.0, true
		for _, s := range list {
			still = still && s[i].still && s[i].mean == list[0][i].mean
			mean += (s[i].mean - list[0][i].mean) / repeat
			within += s[i].variance / repeat
			ess += s[i].ess
		}
		mean += list[0][i].mean
		for _, s := range list {
			between += float64((s[i].mean-mean)*(s[i].mean-mean)) / (repeat - 1)
		}
		if len(list) > 1 {
			info.MCSE = append(info.MCSE, math.Sqrt(student(repeat)*between/repeat))
			rhat := math.Sqrt(float64(n-1)/float64(n) + between/within)
			info.RHat = append(info.RHat, rhat)
			if rhat > Apart {
				ess = 0
				for _, s := range list {
					ess += s[i].settled()
				}
			}
		}
		if still {
			ess = math.NaN()
		}
		info.ESS = append(info.ESS, ess)
	}
}

// valuesOf counts the values that a series takes, one after another.
func valuesOf(x []float64) int {
	n := 1
	for i, v := range x[1:] {
		if v != x[i] {
			n++
		}
	}
	return n
}
