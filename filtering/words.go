package filtering

import (
	"fmt"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
)

// Words describe the last scan for a line of progress, in a long form and a short one.
func Words(l runs.TraceLine) (long, short string, err error) {
	s, err := stepOf(l)
	if err != nil {
		return "", "", err
	}
	short = "scan " + numeral.Count(l.K)
	long = fmt.Sprintf("%s at %s, %s, %s s a scan", short, s.Time, numeral.Several(s.Returns, "return"), numeral.Significant(float64(s.Lag)))
	if s.ESS != nil {
		long += ", ESS " + numeral.Fixed(float64(*s.ESS), 0)
	}
	return long, short, nil
}

// Findings are diagnoses of a run by a method.
func (m *Metrics) Findings(by filter.Method) (list []finding.Finding) {
	if m.Few > 0 {
		list = append(list, finding.Of(finding.FewDraws{Some: m.Few, Scans: m.Scans, Least: float64(m.ESS.Min), Enough: fewDraws, Sampler: by.Sampler()}))
	}
	if m.Lone > 0 {
		list = append(list, finding.Of(finding.LoneAncestor{Some: m.Lone, Scans: m.Scans, Sampler: by.Sampler()}))
	}
	list = append(list, m.Doubts.findings(m.Scans)...)
	if m.Apart > 0 {
		list = append(list, finding.Of(finding.FiltersApart{Some: m.Apart, Scans: m.Scans, Worst: float64(m.RHat.Max), Limit: apart, Sampler: by.Sampler()}))
	}
	if m.simpler != "" && m.Joint != nil && m.Joint.Min >= nearlyNormal {
		list = append(list, finding.Of(finding.NearlyNormal{Scans: m.Scans, Least: float64(m.Joint.Min), Method: m.simpler, Compared: m.Against != nil}))
	}
	if share := m.BySum.least(); share > nearlyAll {
		list = append(list, finding.Of(finding.IdleSubsampling{Share: share}))
	}
	list = append(list, m.Nodes.findings(m.Scans)...)
	if s := m.Still; s != nil {
		list = append(list, finding.Of(finding.StillCoordinates{Coordinates: finding.FirstOf(s.Coordinates), In: s.Scans, Scans: m.Scans}))
	}
	if m.Unknown > 0 {
		list = append(list, finding.Of(finding.ErrorsUnknown{Some: m.Unknown, Scans: m.Scans}))
	}
	if m.Partial > 0 {
		list = append(list, finding.Of(finding.PartialMeasurements{Count: m.Partial, Used: m.linear}))
	}
	if all := m.Earlier + m.Scans; m.LeftOut > all {
		list = append(list, finding.Of(finding.MostScansLeftOut{Count: m.LeftOut, Scans: all + m.LeftOut}))
	} else if m.LeftOut > 0 {
		list = append(list, finding.Of(finding.ScansLeftOut{Count: m.LeftOut}))
	}
	return list
}

// Timings are findings about the times of the scans. told says that the settings name the unit of times. Metrics that were read back
// have none.
func (m *Metrics) Timings(told bool) []finding.Finding { return m.timings.findings(told) }
