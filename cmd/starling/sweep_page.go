package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/numeral"
	pages "github.com/starling-smc/starling/report"
)

// pageFile is the name of the page of a sweep.
const pageFile = "sweep.html"

// writePage writes the page that shows the choice and compares the runs, the best first, if there are several that can be compared.
func (s *sweep) writePage(c *choice) error {
	var done []pages.Evaluated
	for i, t := range s.tried {
		if t.result == nil {
			continue
		}
		run, err := openRun(t.dir)
		if err != nil {
			return err
		}
		one := pages.Evaluated{Name: s.label(i), Run: run, Assessment: t.result.Assessment}
		if done = append(done, one); i == c.best {
			done = slices.Insert(done[:len(done)-1], 0, one)
		}
	}
	comparison, err := pages.NewComparison(done)
	if err != nil {
		c.notes = append(c.notes, "there is no page that compares the runs: "+err.Error())
		return nil
	}
	comparison.Sweep = s.heading(*c)
	var page bytes.Buffer
	if err := comparison.Write(&page); err != nil {
		return err
	}
	c.page = filepath.Join(s.out, pageFile)
	return ckpt.WriteFile(c.page, page.Bytes())
}

// label names a run by the values that it has of the settings that vary.
func (s *sweep) label(i int) string { return strings.Join(s.points[i].Values, " · ") }

// heading is what the page begins with.
func (s *sweep) heading(c choice) *pages.Sweep {
	var keys []string
	for _, a := range s.axes {
		keys = append(keys, a.Key)
	}
	rows := s.rows(c)
	h := &pages.Sweep{
		Title: "Sweep of " + s.points[0].Spec.Name,
		Lead: fmt.Sprintf("%s with other values of %s, compared by the %s. In the comparison a run is called by its values.",
			numeral.Several(len(s.points), "run"), numeral.List(keys), s.criterion.Title),
		Head: rows[0], Rows: rows[1:], Best: c.best,
	}
	if s.folds > 0 {
		h.Lead += fmt.Sprintf(" Each is judged by %d runs, on as many folds, of which the comparison shows the first.", s.folds)
	}
	for _, n := range c.notes {
		h.Text = append(h.Text, numeral.Capital(n)+".")
	}
	return h
}
