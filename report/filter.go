package report

import "io"

// WriteFilter writes the page of a filter run. The error says which scan does not fit the names of tracks and coordinates.
func WriteFilter(w io.Writer, f *Filtered) error {
	if err := f.check(); err != nil {
		return err
	}
	v := newTracking(f)
	p := page{Kind: onFilter, Title: f.Title, Lead: v.lead(), Cards: v.cards(), First: first(f.Findings), Summary: v.summary(), Made: made(f.Version, f.Revision)}
	if v.plane {
		p.Sections = append(p.Sections, v.tracks())
		if v.truth {
			p.Sections = append(p.Sections, v.trackErrors())
		}
	} else {
		p.Sections = append(p.Sections, v.bands())
	}
	p.Sections = append(p.Sections, v.work(), v.repeat())
	return p.write(w)
}

// repeat lists what is needed to repeat the run.
func (v *tracking) repeat() section {
	s := section{ID: "provenance", Title: "How to repeat the run", Code: v.Config}
	version := v.Version
	if v.Revision != "" {
		version += ", revision " + v.Revision
	}
	s.Facts = []card{{"method", v.Method, ""}, {"starling", version, ""}}
	for _, f := range v.Facts {
		s.Facts = append(s.Facts, card{f.Name, f.Value, ""})
	}
	return s
}
