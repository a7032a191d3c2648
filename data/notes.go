package data

import (
	"fmt"
	"strconv"
	"strings"
)

// Checksums are those of the parts and the groups of a problem, by name.
func (p *Problem) Checksums() map[string]string {
	sums := map[string]string{}
	for name, set := range map[string]*Set{"train": p.Train, "validate": p.Validate, "test": p.Test} {
		if set != nil {
			sums[name] = set.Checksum()
		}
	}
	for _, g := range p.Groups {
		sums[g.Name] = g.Set.Checksum()
	}
	return sums
}

// Notes say what users may not expect of how their examples became inputs: columns that were dropped, images whose
// channels seem to come last, and features that are always 0.
func (p *Problem) Notes() []string {
	var notes []string
	if dropped := p.Schema.DroppedNote(); dropped != "" {
		notes = append(notes, dropped)
	}
	if p.targets != nil {
		if how := ChannelsLast(p.Schema.Shape); how != "" {
			notes = append(notes, p.Name+": "+how)
		}
	}
	if zero := p.Schema.alwaysZero(); zero != "" {
		notes = append(notes, zero)
	}
	return notes
}

// DroppedNote says which columns were dropped because they are constant; empty if none was.
func (s *Schema) DroppedNote() string {
	names := make([]string, len(s.Dropped))
	for i, name := range s.Dropped {
		if names[i] = name; !s.Named {
			names[i] = "number " + name
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("column %s is constant over the training rows and was dropped", names[0])
	}
	return fmt.Sprintf("columns %s are constant over the training rows and were dropped", strings.Join(names, ", "))
}

// alwaysZero says which features of arrays, which drop none, a network sees as 0 once they are standardised; empty if
// there are none.
func (s *Schema) alwaysZero() string {
	if s.Columns != nil || s.Inputs == nil {
		return ""
	}
	const few = 20
	var names []string
	constant := s.Inputs.Constant()
	for _, j := range constant {
		names = append(names, strconv.Itoa(j))
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("feature %s (from 0) is constant over the training examples: the network sees it as 0 everywhere", names[0])
	case n > few:
		names = append(names[:few], "…")
	}
	return fmt.Sprintf("%d features (from 0: %s) are constant over the training examples: the network sees them as 0 everywhere",
		len(constant), strings.Join(names, ", "))
}

// ClassCount says how many classes the data have; of arrays also which file's labels say so, and which labels no example
// has.
func (p *Problem) ClassCount() string {
	n := p.Train.Classes
	if p.targets == nil {
		return fmt.Sprintf("%s has %d classes", p.Name, n)
	}
	file, seen := "", make([]bool, n)
	for _, part := range []struct {
		name string
		set  *Set
	}{{"train", p.Train}, {"validate", p.Validate}, {"test", p.Test}} {
		if part.set == nil {
			continue
		}
		for _, label := range part.set.Labels {
			if seen[label] = true; int(label) == n-1 && file == "" {
				if file = p.targets["train"]; p.targets[part.name] != "" {
					file = p.targets[part.name]
				}
			}
		}
	}
	const few = 10
	gaps := ""
	for label, there := range seen {
		switch {
		case there:
		case strings.Count(gaps, ",") == few:
			return fmt.Sprintf("%s has %d classes (the largest label is %d; no example has label%s, …)", file, n, n-1, gaps[1:])
		default:
			gaps += fmt.Sprintf(", %d", label)
		}
	}
	if gaps != "" {
		gaps = "; no example has label" + gaps[1:]
	}
	return fmt.Sprintf("%s has %d classes (the largest label is %d%s)", file, n, n-1, gaps)
}
