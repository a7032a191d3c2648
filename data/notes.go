package data

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
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

// Findings say what users may not expect of how their examples became inputs: columns that were dropped, images whose
// channels seem to come last, and features that are always 0.
func (p *Problem) Findings() (found []finding.Finding) {
	if f, ok := p.Schema.DroppedColumns(); ok {
		found = append(found, f)
	}
	if shape := p.Schema.Shape; p.targets != nil && channelsLast(shape) {
		found = append(found, finding.ChannelsLast(p.Name, shape[0], shape[1], shape[2]))
	}
	if zero := p.Schema.alwaysZero(); zero != nil {
		found = append(found, finding.ZeroFeatures(zero))
	}
	return found
}

// DroppedColumns says which columns were dropped because they are constant; ok is false if none was.
func (s *Schema) DroppedColumns() (f finding.Finding, ok bool) {
	names := make([]string, len(s.Dropped))
	for i, name := range s.Dropped {
		if names[i] = name; !s.Named {
			names[i] = "number " + name
		}
	}
	return finding.ConstantColumns(names), len(names) > 0
}

// alwaysZero lists the features of arrays, which drop none, that a network sees as 0 once they are standardised.
func (s *Schema) alwaysZero() []int {
	if s.Columns != nil || s.Inputs == nil {
		return nil
	}
	return s.Inputs.Constant()
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
