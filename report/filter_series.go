package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/visible"
)

// tracking is a filter run with values that several parts of the page need.
type tracking struct {
	*Filtered
	plane, truth bool
	time         []float64 // of the scans, in units
	unit         string    // the label of the axis of time
}

func newTracking(f *Filtered) *tracking {
	v := &tracking{Filtered: f, plane: f.inPlane()}
	first, last := f.Scans[0], f.Scans[len(f.Scans)-1]
	per, unit := 1.0, "seconds"
	for _, u := range []struct {
		seconds float64
		name    string
	}{{60, "minutes"}, {3600, "hours"}, {86400, "days"}} {
		if last.Time-first.Time > 5*u.seconds && (u.seconds > 60 || last.Time-first.Time > 1800) {
			per, unit = u.seconds, u.name
		}
	}
	v.unit = "time, " + unit
	if first.Text != "" {
		v.unit = unit + " after the first scan"
	}
	for _, s := range f.Scans {
		v.time = append(v.time, s.Time/per)
		for _, t := range s.Truth {
			v.truth = v.truth || t != nil
		}
	}
	return v
}

// each returns a value of every scan.
func (v *tracking) each(of func(s *FilteredScan) float64) []float64 {
	x := make([]float64, len(v.Scans))
	for k := range v.Scans {
		x[k] = of(&v.Scans[k])
	}
	return x
}

// ofTracks returns a value of every track at every scan.
func (v *tracking) ofTracks(of func(s *FilteredScan, track int) float64) (all []float64) {
	for r := range v.IDs {
		all = append(all, v.each(func(s *FilteredScan) float64 { return of(s, r) })...)
	}
	return all
}

// counts returns a count of every scan; NaN if all are 0, so that nothing is drawn.
func (v *tracking) counts(of func(s *FilteredScan) int64) []float64 {
	n := v.each(func(s *FilteredScan) float64 { return float64(of(s)) })
	if slices.Max(n) > 0 {
		return n
	}
	return v.each(func(*FilteredScan) float64 { return math.NaN() })
}

// quantiles returns the five quantiles of the measurements over the scans; nil: there are none.
func (v *tracking) quantiles() [][]float64 {
	z, some := make([][]float64, 5), false
	for q := range z {
		z[q] = v.each(func(s *FilteredScan) float64 {
			if s.Quantiles == nil {
				return math.NaN()
			}
			some = true
			return s.Quantiles[q]
		})
	}
	if !some {
		return nil
	}
	return z
}

// kinds lists a share of the kinds of decisions that have one.
func (v *tracking) kinds(of func(s *FilteredScan) *filter.ByKind) (all []series) {
	each := func(share func(k *filter.ByKind) float64) []float64 {
		return v.each(func(s *FilteredScan) float64 {
			if k := of(s); k != nil {
				return share(k)
			}
			return math.NaN()
		})
	}
	for _, s := range []series{
		{"joint draws", "s0", each(func(k *filter.ByKind) float64 { return k.Joint })},
		{"draws of the ancestor", "s1", each(func(k *filter.ByKind) float64 { return k.Index })},
		{"refining steps", "s2", each(func(k *filter.ByKind) float64 { return k.Refine })},
	} {
		if finiteAny(s.y) {
			all = append(all, s)
		}
	}
	return all
}

// accepted is the acceptance of each kind.
func accepted(s *FilteredScan) *filter.ByKind {
	return &filter.ByKind{Joint: s.Joint, Index: s.Index, Refine: s.Refine}
}

// series is a quantity over the scans.
type series struct {
	name, class string
	y           []float64
}

// over draws quantities over time; nil if no scan has any of them. A quantity that no scan has is left out.
func (v *tracking) over(id, title string, axis chart.Axis, write func(float64) string, all ...series) *figure {
	c := chart.Chart{ID: id, Title: title + " over the scans", X: chart.Axis{Label: v.unit}, Y: axis}
	f := &figure{Title: title, Data: curveTable(title, "")}
	for _, s := range all {
		if !finiteAny(s.y) {
			continue
		}
		c.Marks = append(c.Marks, v.line(s.class, s.y))
		f.Legend = append(f.Legend, lineKey(s.class, s.name))
		f.Data.add(s.name, summarise(s.y, write)...)
		c.Desc += fmt.Sprintf("%s: median %s. ", s.name, write(numeral.Median(s.y)))
	}
	if c.Marks == nil {
		return nil
	}
	if len(all) == 1 {
		f.Legend = nil
	}
	f.Charts = []template.HTML{c.SVG()}
	return f
}

// area is a band over the scans.
func (v *tracking) area(class string, low, high []float64) chart.Band {
	rows := evenly(len(v.Scans), pointsOne)
	return chart.Band{X: pick(v.time, rows), Low: pick(low, rows), High: pick(high, rows), Class: class}
}

// line is a line over the scans.
func (v *tracking) line(class string, y []float64) chart.Line {
	x, y := chart.Thin(v.time, y, pointsOne)
	return chart.Line{X: x, Y: y, Class: class}
}

// rms is the root mean square of the finite values; NaN without any.
func rms(values []float64) float64 {
	return math.Sqrt(mean(values, func(v float64) float64 { return float64(v * v) }))
}

// mean is the mean of a function of the finite values; NaN without any.
func mean(values []float64, of func(float64) float64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if v-v == 0 {
			sum += of(v)
			n++
		}
	}
	return sum / n
}

// share is the share of ones among zeros and ones.
func share(values []float64) float64 { return mean(values, func(v float64) float64 { return v }) }

// evenly returns at most most of the numbers 0 … n−1, evenly spaced, with both ends.
func evenly(n, most int) (rows []int) {
	if n <= most {
		most = n
	}
	for i := range most {
		rows = append(rows, i*(n-1)/max(most-1, 1))
	}
	return rows
}

func finiteAny(values []float64) bool { return !math.IsNaN(numeral.Median(values)) }

// plain writes a number without needless zeros: 12.5 and 86,400.
func plain(v float64) string {
	s := fixed(v, 3)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// axisName shortens a name that would not fit beside an axis. Control characters in it take more room on the page.
func axisName(name string) string {
	const fits = 16
	if r := []rune(visible.Text(name)); len(r) > fits {
		return string(r[:fits-1]) + "…"
	}
	return name
}
