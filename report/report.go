// Package report writes pages about runs. The page of a network has its scores, and says whether to trust its uncertainty and its
// sampler. The page of a filter run has the tracks of the hidden state and their uncertainty. A page is one self-contained HTML file: it
// loads nothing and runs no script. It depends on the run alone: the same run gives the same bytes.
package report

import (
	"io"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
)

// Write writes the page of a run and its evaluation.
func Write(w io.Writer, run *starling.Run, a *eval.Assessment) error {
	v, err := newView(run, a)
	if err != nil {
		return err
	}
	p := page{Kind: onRun, Title: run.Spec.Name, Lead: v.lead(), Cards: v.cards(), First: first(v.found), Summary: v.summary(), Made: made(run.Manifest.Version, run.Manifest.Revision)}
	p.Sections = append(p.Sections, v.scores())
	if v.classes() {
		p.Sections = append(p.Sections, v.calibration(), v.uncertainty(), v.examples())
	} else {
		p.Sections = append(p.Sections, v.predictions(), v.errors())
	}
	if m := a.Metrics; m.Sets != nil || m.Abstention != nil {
		p.Sections = append(p.Sections, v.decisions())
	}
	if s := v.search(); s.Figures != nil {
		p.Sections = append(p.Sections, s)
	}
	if len(v.islands) > 0 {
		p.Sections = append(p.Sections, v.sampler())
	}
	p.Sections = append(p.Sections, v.provenance())
	return p.write(w)
}

func made(version, revision string) string {
	s := "Written by starling " + version
	if revision != "" {
		s += " (" + revision + ")"
	}
	return s + ". " + alone
}
