package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

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
			row[3] = numeral.Count(one.warnings())
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
		fmt.Fprintln(w, "to use the best run:\n  "+s.use(c.best))
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

// use is the command that predicts by a run.
func (s *sweep) use(i int) string {
	return "starling predict " + quoted(s.tried[i].dir) + " --in FILE --out predictions.csv"
}

// warnings counts the findings that a reader must know of, about the run and about its predictions.
func (t tried) warnings() (n int) {
	for _, f := range slices.Concat(t.result.Findings, t.result.Metrics.Predicted) {
		if f.Warning() {
			n++
		}
	}
	return n
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
			r.Warnings = one.warnings()
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
	if c.page != "" {
		out["report"] = c.page
	}
	return out
}
