package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-smc/starling"
)

// provenance lists everything that is needed to repeat a run: seed, versions, data and config.
func (v *view) provenance() section {
	m := &v.run.Manifest
	version := m.Version
	if m.Revision != "" {
		version += ", revision " + m.Revision
	}
	s := section{ID: "provenance", Title: "How to repeat the run", Code: string(v.run.Spec.YAML())}
	s.Facts = []card{
		{"seed", fmt.Sprint(v.run.Spec.Seed), "the same config, seed and data give the same bytes"},
		{"started", when(m.Started), ""},
		{"finished", when(m.Finished), ""},
		{"seconds at work", v.atWork(), "without pauses and evaluation"},
		{"seconds of evaluation", v.evaluating(), "during the run and at its end"},
		{"starling", version, ""},
		{"built with", m.Go + ", " + m.Platform, ""},
		{"kernels", m.Kernel, "CPU instructions used; the result does not depend on them"},
		{"network", v.run.Net.Title(), v.run.Net.Size()},
	}
	if c := v.run.Cost; c != nil && c.Gradients > 0 {
		s.Facts = append(s.Facts, card{"gradients", count(c.Gradients), "of single examples, over all phases and networks"})
		for _, p := range c.Phases {
			s.Facts = append(s.Facts, card{"gradients of phase " + p.Name, count(p.Gradients),
				fmt.Sprintf("and %s values without gradient, and %s of validation examples", count(p.Values), count(p.Validation))})
		}
	}
	for _, f := range v.run.Findings {
		if f.OfData() && !f.Warning() {
			s.Facts = append(s.Facts, card{"note", f.Sentence(), ""})
		}
	}
	t := table{Caption: "Data, by SHA-256 of shape, inputs and targets", Head: []string{"part", "examples", "checksum"}, Words: []int{2}}
	for _, p := range v.a.Problem.Parts() {
		if sum, ok := m.Data[p.Name]; ok {
			t.add(p.Name, count(p.Set.Len()), sum)
		}
	}
	if t.Rows == nil { // evaluated on other data: their sizes are not known here
		for _, name := range slices.Sorted(maps.Keys(m.Data)) {
			t.add(name, "–", m.Data[name])
		}
	}
	s.Tables = append(s.Tables, t)
	return s
}

func when(t time.Time) string {
	if t.IsZero() {
		return "not recorded"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Work returns the seconds that a run was at work, without pauses and without the evaluation on test examples. Older runs did
// not record them: then most is true, and seconds is an upper bound, the time from the run's start to its end.
func Work(run *starling.Run) (seconds float64, most bool) {
	for _, l := range run.Trace {
		seconds = max(seconds, l.Seconds)
	}
	m := &run.Manifest
	if seconds = cmp.Or(seconds, m.WorkSeconds); seconds > 0 {
		return seconds, false
	}
	return max(m.Finished.Sub(m.Started).Seconds()-m.EvaluationSeconds, 0), true
}

func (v *view) atWork() string {
	seconds, most := Work(v.run)
	if most {
		return "≤ " + duration(seconds)
	}
	return duration(seconds)
}

// evaluating returns the duration of the evaluation on test examples; – if the run did not record it.
func (v *view) evaluating() string {
	if s := v.run.Manifest.EvaluationSeconds; s > 0 {
		return duration(s)
	}
	return "–"
}

func duration(seconds float64) string {
	if seconds < 10 {
		return fixed(seconds, 1)
	}
	return fixed(seconds, 0)
}
