package data

import (
	"cmp"
	"slices"
)

// Place says where an example stands in the data of a run, and in which part it is.
type Place struct {
	Row  int    `json:"row"`            // in the file, from 0; rows without a target that are left out do not count
	Line int    `json:"line,omitempty"` // of the text on which the row starts, from 1; 0: the file is no text
	Part string `json:"part"`           // train, validate, test or calibrate
	File string `json:"file"`           // or the name of a known set
}

// Division lists the examples of the parts, by file, that of the training examples first, and then by row. An example that is in no part
// is not among them.
func (p *Problem) Division() (all []Place) {
	order := map[string]int{}
	for _, part := range p.labelled() {
		set := *part.set
		if set == nil {
			continue
		}
		file := cmp.Or(set.Source, p.Name)
		if set.Source == "" && set.Rows == nil { // a part of its own of a known set
			file += " " + part.name
		}
		if _, seen := order[file]; !seen {
			order[file] = len(order)
		}
		for i := range set.Len() {
			at := Place{Row: i, Part: part.name, File: file}
			if set.Rows != nil {
				at.Row = int(set.Rows[i])
			}
			if line := p.lines[file]; line != nil {
				at.Line = line(at.Row)
			}
			all = append(all, at)
		}
	}
	slices.SortStableFunc(all, func(a, b Place) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Row, b.Row))
	})
	return all
}

// keepLines keeps the lines of the rows of tables that are texts.
func (p *Problem) keepLines(all ...*Table) {
	p.lines = map[string]func(int) int{}
	for _, t := range all {
		if t != nil && t.InText() {
			p.lines[t.Name] = t.Lines()
		}
	}
}
