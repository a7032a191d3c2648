package filtering

import (
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// Region is a model whose measurements lie in a rectangle of the plane, mostly.
type Region interface {
	Bounds() (x0, x1, y0, y1 float64) // no rectangle if it has no area
}

// timings look for scans whose times are not what was meant, line by line, in little memory: steps of time that are 10³, 10⁶ or 10⁹ times
// what the model expects, and tracks that are wider than the model's region.
type timings struct {
	interval float64 // what the model expects between scans; 0: nothing
	side     float64 // the longer side of the model's region; 0: it has none

	scans, wide   int
	target, first string  // of the first track that is wider than the region, and its scan
	before        float64 // the time of the scan before
	steps         int     // between scans
	as            [4]int  // of them, those that are about 10³, 10⁶ or 10⁹ intervals, by the third of the exponent
}

// finer are the units of which 10³, 10⁶ and 10⁹ make a second.
var finer = [4]scans.Unit{1: scans.Milliseconds, 2: scans.Microseconds, 3: scans.Nanoseconds}

func newTimings(m ssm.Model) (d timings) {
	if t, ok := m.(ssm.Timed); ok {
		d.interval = t.Period()
	}
	if r, ok := m.(Region); ok {
		x0, x1, y0, y1 := r.Bounds()
		d.side = max(x1-x0, y1-y0, 0)
	}
	return d
}

// add looks at the next scan.
func (d *timings) add(s *Step) {
	d.scans++
	at := float64(s.Seconds)
	if v, err := strconv.ParseFloat(string(s.Time), 64); err == nil && v == at { // seconds as they were written
		if d.scans > 1 {
			d.step(at - d.before)
		}
		d.before = at
	}
	if d.side > 0 && d.widest(s) {
		d.wide++
	}
}

// step counts a step of time.
func (d *timings) step(dt float64) {
	d.steps++
	expected := d.interval
	for k := 1; k < len(d.as); k++ {
		if expected *= 1000; dt >= expected/1.5 && dt <= 1.5*expected {
			d.as[k]++
		}
	}
}

// findings are what was found. told says that the settings name the unit of times.
func (d *timings) findings(told bool) (list []finding.Finding) {
	expected := d.interval
	for k := 1; k < len(d.as); k++ {
		if expected *= 1000; d.steps > 1 && 2*d.as[k] > d.steps && expected > 0 && !told { // the median is among them
			list = append(list, finding.Of(finding.WrongUnit{Step: expected, Interval: d.interval, Unit: string(finer[k]), Name: finer[k].Name()}))
		}
	}
	if d.wide > 0 {
		list = append(list, finding.Of(finding.WiderThanRegion{Some: d.wide, Scans: d.scans, Target: d.target, First: d.first}))
	}
	return list
}

// widest reports whether the sd of a position is larger than the region.
func (d *timings) widest(s *Step) bool {
	for _, t := range s.Tracks {
		for c := range len(t.Mean) / 2 {
			if !(math.Sqrt(float64(t.Cov[c][c])) <= d.side) {
				if d.wide == 0 {
					d.target, d.first = t.ID, string(s.Time)
				}
				return true
			}
		}
	}
	return false
}
