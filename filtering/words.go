package filtering

import (
	"fmt"

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

// Findings are diagnoses of a run.
func (m *Metrics) Findings() (list []finding.Finding) {
	if m.Few > 0 {
		list = append(list, finding.FewDraws(m.Few, m.Scans, float64(m.ESS.Min), fewDraws))
	}
	if m.Lone > 0 {
		list = append(list, finding.LoneAncestor(m.Lone, m.Scans))
	}
	if m.Apart > 0 {
		list = append(list, finding.FiltersApart(m.Apart, m.Scans, float64(m.RHat.Max), apart))
	}
	if m.Unknown > 0 {
		list = append(list, finding.ErrorsUnknown(m.Unknown, m.Scans))
	}
	if m.LeftOut > 0 {
		list = append(list, finding.ScansLeftOut(m.LeftOut))
	}
	return list
}
