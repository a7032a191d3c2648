package main

import (
	"bytes"
	"path/filepath"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/numeral"
	pages "github.com/starling-smc/starling/report"
)

// pageFile is the name of the page of a sweep.
const pageFile = "sweep.html"

// writePage writes the page that compares the runs, if there are several that can be compared.
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
		done = append(done, pages.Evaluated{Name: s.points[i].Name, Run: run, Assessment: t.result.Assessment})
	}
	comparison, err := pages.NewComparison(done)
	if err != nil {
		c.notes = append(c.notes, "there is no page that compares the runs: "+err.Error())
		return nil
	}
	for _, n := range c.notes {
		comparison.Notes = append([]string{numeral.Capital(n) + "."}, comparison.Notes...)
	}
	var page bytes.Buffer
	if err := comparison.Write(&page); err != nil {
		return err
	}
	c.page = filepath.Join(s.out, pageFile)
	return ckpt.WriteFile(c.page, page.Bytes())
}
