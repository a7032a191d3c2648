package report

import (
	"fmt"
	"io"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/ssm"
)

// WriteFilterRun writes the page of a filter's run.
func WriteFilterRun(w io.Writer, run *starling.FilterRun) error {
	model := run.Spec.Model
	names, tracker := filtering.Names(model)
	f := &Filtered{
		Title: run.Spec.Name, Method: run.Spec.Method.Title(), Names: names, IDs: []string{""}, Observed: observed(model), HeldOut: run.Metrics.Held,
		Findings: run.Findings, Config: string(run.Spec.YAML()), Version: run.Manifest.Version, Revision: run.Manifest.Revision,
	}
	if c := run.Cells; c.Columns > 0 {
		f.Cells = &Returns{float64(c.X), float64(c.Y), float64(c.Size), c.Columns, c.Counts}
	}
	scans, match, before := thinning[FilteredScan]{most: scansDrawn}, filtering.NewMatcher(model), math.NaN()
	for s, err := range run.Steps() {
		if err != nil {
			return err
		}
		if tracker && scans.n == 0 {
			f.IDs = nil
			for _, t := range s.Tracks {
				f.IDs = append(f.IDs, t.ID)
			}
		}
		truth, since := match.Next(s), float64(s.Seconds)-before
		scans.add(func() FilteredScan { return scanOf(s, truth, since) })
		before = float64(s.Seconds)
	}
	f.Scans = scans.all()
	if scans.each > 1 {
		f.Of = &Whole{Scans: scans.n, Each: scans.each, Metrics: run.Metrics}
	}
	if run.Spec.Last != "" {
		f.Last = fmt.Sprintf("The run keeps the lines of the last %s. What is drawn and counted here is of these scans, except the picture of the returns, "+
			"which is of all scans of the run. ", run.Spec.Last)
		if n := run.Metrics.Earlier; n > 0 {
			f.Last += fmt.Sprintf("Before them there were %s.", several(n, "scan"))
		}
	}
	return WriteFilter(w, f)
}

// scansDrawn is the number of scans from which on a page draws some of them.
const scansDrawn = 1 << 13

// observed is the coordinate that measurements of one number are values of.
func observed(m ssm.Model) int {
	if o, ok := m.(ssm.Observed); ok {
		return o.Observed()
	}
	return -1
}

func scanOf(s *filtering.Step, truth [][]float64, since float64) FilteredScan {
	out := FilteredScan{
		Time: float64(s.Seconds), Since: since, Returns: s.Returns, Missing: s.Missing, Truth: truth, Quantiles: floats(s.Quantiles),
		Lag: float64(s.Lag), Seconds: float64(s.Lag), Surprise: math.NaN(),
		Info: filter.Info{Joint: math.NaN(), Index: math.NaN(), Refine: math.NaN(), LogEvidence: math.NaN(), Ancestors: s.Ancestors,
			Evaluated: s.Evaluated, Skipped: s.Skipped, Seen: s.Seen.ByKind(), BySum: s.BySum.ByKind()},
	}
	if s.Time.Date() {
		out.Text = string(s.Time)
	}
	for _, t := range s.All() {
		out.Mean = append(out.Mean, floats(t.Mean))
		sd := make([]float64, len(t.Mean))
		for i := range sd {
			sd[i] = math.Sqrt(float64(t.Cov[i][i]))
		}
		out.SD = append(out.SD, sd)
		if len(t.Cov) >= 2 {
			out.Cov = append(out.Cov, [4]float64{float64(t.Cov[0][0]), float64(t.Cov[0][1]), float64(t.Cov[1][0]), float64(t.Cov[1][1])})
		}
		if t.Q05 != nil {
			out.Low, out.High = floats(t.Q05), floats(t.Q95)
		}
	}
	if s.ESS != nil {
		out.ESS = []float64{float64(*s.ESS)}
	}
	if s.Surprise != nil {
		out.Surprise = float64(*s.Surprise)
	}
	if s.RHat != nil {
		out.RHat = []float64{float64(*s.RHat)}
	}
	if s.LogEvidence != nil {
		out.LogEvidence = float64(*s.LogEvidence)
	}
	out.Nodes = s.Nodes.Info()
	if a := s.Accept.ByKind(); a != nil {
		out.Joint, out.Index, out.Refine = a.Joint, a.Index, a.Refine
	}
	return out
}

func floats(x []filtering.Number) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}
