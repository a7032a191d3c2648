package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/numeral"
)

// Filtered is a filter run: what was estimated at each scan. NaN stands for a number that is missing.
type Filtered struct {
	Title  string
	Method string   // in words: "sequential MCMC, 4,000 samples a scan"
	IDs    []string // names of the tracks; a single empty name: the model is no tracker
	Names  []string // coordinates of a track, its position in the plane first; or of the state of a model that is no tracker
	Scans  []FilteredScan
	Of     *Whole   // the whole run, of whose scans Scans has some; nil: Scans has all
	Last   string   // which scans of a longer run these are, as a sentence; empty: all
	Cells  *Returns // where the returns of all scans lie; nil: not in a plane

	Observed int // of a model that is no tracker: the coordinate that the measurements are values of; −1: none

	HeldOut *filtering.Held // scores of measurements that the filter did not see; nil: none

	Findings          []starling.Finding
	Facts             []Fact // of the run, as its seed
	Config            string // as it was resolved; empty: none
	Version, Revision string // of starling
}

// Whole is a run of so many scans that a page draws some of them: one of each Each that follow one another, chosen at random, beside the first
// and the last.
type Whole struct {
	Scans, Each int
	Metrics     *filtering.Metrics // of all of them
}

// FilteredScan is one scan and its estimate.
type FilteredScan struct {
	Time      float64 // seconds
	Since     float64 // seconds since the scan before; NaN of the first
	Text      string  // the time as the input wrote it, if that was no number
	Returns   int     // measurements that have a value
	Missing   int     // measurements that have none
	Mean, SD  [][]float64
	Cov       [][4]float64 // of tracks: the covariance matrices of position
	Low, High []float64    // of a model that is no tracker: the 5 % and 95 % quantiles of each coordinate; nil: unknown
	Truth     [][]float64  // the true coordinates of each track; nil: unknown. So is a track whose row is nil
	Quantiles []float64    // 5, 25, 50, 75 and 95 % of the scan's measurements, if these are single numbers
	Seconds   float64      // that the filter worked on the scan
	Lag       float64      // seconds from the arrival of the scan to its estimate
	Surprise  float64      // share of the predicted scans that are no more likely
	filter.Info
}

// Returns counts the returns of a run in the squares of a grid.
type Returns struct {
	X, Y, Size float64 // the grid's lower left corner, and the side of a square
	Columns    int
	Counts     []int // row by row, the lowest row first
}

// Fact is a name and a value.
type Fact struct{ Name, Value string }

func (f *Filtered) check() error {
	tracks, width := len(f.IDs), len(f.Names)
	switch {
	case tracks == 0 || width == 0:
		return fmt.Errorf("report: %d tracks with %d coordinates; want one of each at least", tracks, width)
	case len(f.Scans) == 0:
		return fmt.Errorf("report: a filter run without scans has no page")
	case f.Observed >= width:
		return fmt.Errorf("report: the measurements are of coordinate %d of %d", f.Observed, width)
	case f.Cells != nil && (f.Cells.Columns < 1 || len(f.Cells.Counts)%f.Cells.Columns != 0):
		return fmt.Errorf("report: %d counts in rows of %d cells", len(f.Cells.Counts), f.Cells.Columns)
	}
	for k, s := range f.Scans {
		fits := func(rows [][]float64, gaps bool) bool {
			for _, r := range rows {
				if len(r) != width && (r != nil || !gaps) {
					return false
				}
			}
			return len(rows) == tracks || rows == nil && gaps
		}
		quantiles := func(q []float64) bool { return q == nil || len(q) == width && tracks == 1 }
		switch {
		case !fits(s.Mean, false), !fits(s.SD, false), !fits(s.Truth, true), !quantiles(s.Low), !quantiles(s.High), (s.Low == nil) != (s.High == nil):
			return fmt.Errorf("report: the estimate of scan %d is not of %d tracks with %d coordinates", k, tracks, width)
		case f.inPlane() && len(s.Cov) != tracks:
			return fmt.Errorf("report: scan %d has %d covariance matrices for %d tracks", k, len(s.Cov), tracks)
		case s.Quantiles != nil && len(s.Quantiles) != 5:
			return fmt.Errorf("report: scan %d has %d quantiles of its measurements, want 5", k, len(s.Quantiles))
		}
	}
	return nil
}

// inPlane reports whether there are tracks that can be drawn on a map.
func (f *Filtered) inPlane() bool { return f.IDs[0] != "" && len(f.Names) >= 2 }

// estimate and known return the estimated and the true coordinates of a track; nil: unknown.
func (s *FilteredScan) estimate(track int) []float64 { return s.Mean[track] }

func (s *FilteredScan) known(track int) []float64 {
	if s.Truth == nil {
		return nil
	}
	return s.Truth[track]
}

// offset returns truth minus mean of one coordinate; NaN without truth.
func (s *FilteredScan) offset(track, coordinate int) float64 {
	if s.Truth == nil || s.Truth[track] == nil {
		return math.NaN()
	}
	return s.Truth[track][coordinate] - s.Mean[track][coordinate]
}

// distance is the error of a track's position.
func (s *FilteredScan) distance(track int) float64 {
	return math.Hypot(s.offset(track, 0), s.offset(track, 1))
}

// spread is the standard deviation of a track's position that belongs to distance: the root of the sum of both variances.
func (s *FilteredScan) spread(track int) float64 { return math.Hypot(s.SD[track][0], s.SD[track][1]) }

// inside returns whether the truth lies in the ellipse that holds 95 % of the estimated distribution, as 1 or 0; NaN without truth.
func (s *FilteredScan) inside(track int) float64 {
	const chi2 = 5.991464547107979 // the 95 % quantile of χ² with two degrees of freedom
	dx, dy, c := s.offset(track, 0), s.offset(track, 1), s.Cov[track]
	squared := (float64(c[3]*dx*dx) - float64(2*c[1]*dx*dy) + float64(c[0]*dy*dy)) / (float64(c[0]*c[3]) - float64(c[1]*c[1]))
	switch {
	case math.IsNaN(squared):
		return math.NaN()
	case squared <= chi2:
		return 1
	}
	return 0
}

// between returns whether the truth of a coordinate lies between the quantiles, as 1 or 0; NaN without truth or quantiles.
func (s *FilteredScan) between(coordinate int) float64 {
	if s.Truth == nil || s.Truth[0] == nil || s.Low == nil {
		return math.NaN()
	}
	if x := s.Truth[0][coordinate]; s.Low[coordinate] <= x && x <= s.High[coordinate] {
		return 1
	}
	return 0
}

// smallestESS is the effective sample size of the coordinate whose mean is known worst; NaN without a sample.
// A coordinate that stands still has none.
func (s *FilteredScan) smallestESS() float64 {
	return numeral.Quantile(slices.DeleteFunc(slices.Clone(s.ESS), math.IsNaN), 0)
}

func (s *FilteredScan) largestRHat() float64 { return numeral.Quantile(s.RHat, 1) }

func logEvidence(s *FilteredScan) float64 { return s.LogEvidence }
func seconds(s *FilteredScan) float64     { return s.Seconds }
