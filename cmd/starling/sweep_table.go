package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/uq"
)

// rows is the table of a sweep: its head, and a row for each run, in the order of the grid.
func (s *sweep) rows(c choice) [][]string {
	rows := [][]string{{"run", s.criterion.Title, "behind the best", "warnings", ""}}
	for i, p := range s.points {
		one := s.tried[i]
		row := []string{p.Name, "–", "–", "–", "left out"}
		if one.result != nil {
			row[3] = numeral.Count(one.told)
		}
		if one.judged != nil {
			row[1], row[4] = numeral.Fixed(one.judged.Value, 4), ""
			if c.best >= 0 {
				row[2] = s.behind(i, c.best)
			}
		}
		if i == c.best {
			row[4] = "best"
		}
		rows = append(rows, row)
	}
	return rows
}

// show writes the table of a sweep, and which run is the best.
func (s *sweep) show(w io.Writer, c choice) {
	var t table.Table
	for _, row := range s.rows(c) {
		t.Add(row...)
	}
	t.Write(w)
	writeNotes(w, c.notes)
	if c.page != "" {
		fmt.Fprintln(w, "written to "+c.page)
	}
	if c.best >= 0 {
		what := "to use the best run"
		if s.folds > 0 {
			what = "to train with the best values"
		}
		fmt.Fprintln(w, what+":\n  "+s.use(c.best))
	}
}

// behind says how much worse a run is than the best, with the standard error.
func (s *sweep) behind(i, best int) string {
	if i == best {
		return ""
	}
	by, se := s.criterion.Behind(s.tried[i].judged, s.tried[best].judged)
	if math.IsNaN(se) {
		return numeral.Fixed(by, 4)
	}
	return numeral.Fixed(by, 4) + " ± " + numeral.Fixed(se, 4)
}

// use is the command that predicts by a run; of folds, that trains with its values.
func (s *sweep) use(i int) string {
	if s.folds > 0 {
		words := []string{"starling fit", quoted(s.config)}
		for _, set := range append(slices.Clip(s.set), s.points[i].Sets...) {
			words = append(words, "--set", quoted(set))
		}
		return strings.Join(words, " ")
	}
	return "starling predict " + quoted(s.tried[i].dir) + " --in FILE --out predictions.csv"
}

// warnings counts the findings that a reader must know of, about the run and about its predictions.
func (t tried) warnings() int {
	return finding.Warnings(slices.Concat(t.result.Findings, t.result.Metrics.Predicted))
}

// object is the JSON of a sweep.
func (s *sweep) object(c choice) map[string]any {
	type run struct {
		Name     string            `json:"name"`
		Dir      string            `json:"dir"`
		Settings map[string]string `json:"settings"`
		Value    *uq.Number        `json:"value"` // by the criterion; null: left out of the choice
		Behind   *uq.Number        `json:"behind,omitempty"`
		SE       *uq.Number        `json:"behind_standard_error,omitempty"`
		Warnings int               `json:"warnings"`
		LeftOut  string            `json:"left_out,omitempty"` // why
	}
	var all []run
	for i, p := range s.points {
		one := s.tried[i]
		r := run{Name: p.Name, Dir: filepath.ToSlash(one.dir), Settings: map[string]string{}}
		for k, a := range s.axes {
			r.Settings[a.Key] = p.Values[k]
		}
		if one.result != nil {
			r.Warnings = one.told
		}
		if one.failed != nil {
			r.LeftOut = one.failed.Error()
		}
		if one.judged != nil {
			value := uq.Number(one.judged.Value)
			r.Value = &value
			if c.best >= 0 {
				by, se := s.criterion.Behind(one.judged, s.tried[c.best].judged)
				behind, standard := uq.Number(by), uq.Number(se)
				r.Behind, r.SE = &behind, &standard
			}
		}
		all = append(all, r)
	}
	out := map[string]any{"by": s.by, "folder": s.out, "runs": all, "best": nil, "notes": c.notes}
	if c.best >= 0 {
		out["best"] = s.points[c.best].Name
	}
	if s.folds > 0 {
		out["folds"] = s.folds
	}
	if c.page != "" {
		out["report"] = c.page
	}
	return out
}

// choice is the best run of a sweep.
type choice struct {
	best  int // −1: none
	notes []string
	page  string // empty: none
}

// choose compares the runs.
func (s *sweep) choose() (c choice) {
	var judged []*starling.Judgement
	for _, t := range s.tried {
		judged = append(judged, t.judged)
	}
	best, comparable := s.criterion.Best(judged)
	c.best = best
	switch {
	case !comparable:
		c.notes = append(c.notes, fmt.Sprintf("no run is chosen: the runs have a %s of different examples, as a setting of the data or the seed of its "+
			"division varies, so the figures cannot be compared", s.criterion.Title))
	case best >= 0:
		c.notes = append(c.notes, s.chosen(best))
	}
	return c
}

// chosen says how the best run was chosen.
func (s *sweep) chosen(best int) string {
	j := s.tried[best].judged
	by := fmt.Sprintf("the %s of %s", s.criterion.Title, examples(j.Examples, s.criterion))
	if s.folds > 0 {
		by += fmt.Sprintf(" in %d folds", s.folds)
	}
	return fmt.Sprintf("%s is the best by %s%s. No test example was used for the choice. As it is the best of several, its %s is too good: "+
		"its scores on the test examples, or on others that it has not seen, tell what it is worth", s.points[best].Name, by, s.butAlike(best), s.criterion.Title)
}

// butAlike names the other runs that are behind the best by no more than chance may explain; empty if there are none. Where a figure has no
// standard error, as the log evidence of a single island, it says that nobody knows.
func (s *sweep) butAlike(best int) string {
	var like []string
	others, unknown := 0, 0
	for i, t := range s.tried {
		if i == best || t.judged == nil {
			continue
		}
		others++
		switch by, se := s.criterion.Behind(t.judged, s.tried[best].judged); {
		case by == 0 || by <= 2*se:
			like = append(like, s.points[i].Name)
		case math.IsNaN(se):
			unknown++
		}
	}
	const within = " within two standard errors"
	switch {
	case unknown > 0:
		return ", but how much of the differences is chance is not known"
	case like == nil:
		return ""
	case len(like) > 1 && len(like) == others:
		return ", but not told apart from any other: all differences are" + within
	case len(like) > 1:
		return fmt.Sprintf(", but not told apart from %s: the differences are%s", numeral.List(like), within)
	default:
		return fmt.Sprintf(", but not told apart from %s: the difference is%s", like[0], within)
	}
}

// examples counts the examples that a criterion looks at.
func examples(n int, c starling.Criterion) string {
	kind := "validation examples"
	if !c.Least {
		kind = "training examples"
	}
	return fmt.Sprintf("%d %s", n, kind)
}
