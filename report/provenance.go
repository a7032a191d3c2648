package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/starling-smc/starling/data"
)

// provenance says how to get the run again, and what it was made of.
func (v *view) provenance() section {
	m := &v.run.Manifest
	version := m.Version
	if m.Revision != "" {
		version += ", revision " + m.Revision
	}
	s := section{ID: "provenance", Title: "Where it comes from", Code: string(v.run.Spec.YAML())}
	s.Facts = []card{
		{"seed", fmt.Sprint(v.run.Spec.Seed), "same config, seed and data give the same bytes"},
		{"started", when(m.Started), ""},
		{"finished", when(m.Finished), took(m.Started, m.Finished)},
		{"starling", version, ""},
		{"built with", m.Go + ", " + m.Platform, ""},
		{"kernels", m.Kernel, "of the CPU; the result does not depend on them"},
		{"network", Architecture(v.run.Net), several(v.run.Net.Dim(), "parameter")},
	}
	if g := gradients(v.islands); g > 0 {
		s.Facts = append(s.Facts, card{"gradients spent in sampling", count(g), "in examples, over all particles"})
	}
	for _, note := range m.Notes {
		s.Facts = append(s.Facts, card{"note", note, ""})
	}
	t := table{Caption: "Data, by SHA-256 of shape, inputs and targets", Head: []string{"part", "examples", "checksum"}, Words: []int{2}}
	for _, p := range parts(v.j.Problem) {
		if sum, ok := m.Data[p.name]; ok {
			t.add(p.name, count(p.set.Len()), sum)
		}
	}
	if t.Rows == nil {
		for _, name := range names(m.Data) {
			t.add(name, "–", m.Data[name])
		}
	}
	s.Tables = append(s.Tables, t)
	return s
}

type part struct {
	name string
	set  *data.Set
}

// parts are those that a problem has, in the order of use.
func parts(p *data.Problem) (all []part) {
	for _, k := range []part{{"train", p.Train}, {"validate", p.Validate}, {"test", p.Test}} {
		if k.set != nil {
			all = append(all, k)
		}
	}
	for _, g := range p.Groups {
		all = append(all, part{g.Name, g.Set})
	}
	return all
}

func names(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func when(t time.Time) string {
	if t.IsZero() {
		return "not recorded"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// took says how long it was between two moments.
func took(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return "after " + to.Sub(from).Round(time.Second).String()
}
