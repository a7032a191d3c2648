package paper

import "math"

// Errors are what stands behind ± in a table.
type Errors int

const (
	ofRuns         Errors = iota // the standard deviation of a run
	ofMeans                      // the standard error of a mean over seeds, of which each has a split of its own
	ofMeansByCount               // the same with a variance of 1/R in place of 1/(R − 1), as Liang et al. have it (scalable-bayesian-monte-carlo, A13)
)

// over is what the standard deviation over n runs, of variance 1/(n − 1), is divided by.
func (e Errors) over(n int) float64 {
	switch e {
	case ofMeans:
		return math.Sqrt(float64(n))
	case ofMeansByCount:
		return float64(n) / math.Sqrt(float64(n-1))
	}
	return 1
}

func (e Errors) String() string {
	switch e {
	case ofMeans:
		return "mean ± standard error of the mean over the seeds run, each with a split of its own"
	case ofMeansByCount:
		return "mean ± standard error of the mean over the R seeds run, with a variance of 1/R"
	}
	return "mean ± standard deviation over the seeds run"
}

// Misprint is something that a paper's tables contradict: a mark, and what is wrong.
type Misprint struct{ Mark, Says string }
