package data

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
)

// Checksums returns the checksums of a problem's parts and groups, by name.
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

// Findings returns findings about the inputs that may surprise a user: dropped columns, images whose channels seem to come
// last, features that are always 0, and classes without training examples or with few.
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
	if classes, examples := p.unseen(); classes != nil {
		found = append(found, finding.UnseenClasses(classes, examples))
	}
	if classes := p.rare(); classes != nil {
		found = append(found, finding.RareClasses(classes, fewExamples))
	}
	return found
}

// fewExamples are the training examples of a class below which it is said that there are few.
const fewExamples = 5

// rare lists the classes that have training examples, but few, with their number.
func (p *Problem) rare() (classes []string) {
	of := make([]int, p.Train.Classes)
	for _, label := range p.Train.Labels {
		of[label]++
	}
	for c, n := range of {
		if n > 0 && n < fewExamples {
			classes = append(classes, fmt.Sprintf("%s (%d)", p.Train.Class(int32(c)), n))
		}
	}
	return classes
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

// alwaysZero lists the features of arrays that are always 0 after standardisation. Arrays drop no constant features.
func (s *Schema) alwaysZero() []int {
	if s.Columns != nil || s.Inputs == nil {
		return nil
	}
	return s.Inputs.Constant()
}

// unseen lists the classes of validation and test examples that no training example has, and counts these examples.
func (p *Problem) unseen() (classes []string, examples int) {
	if p.Train.Labels == nil {
		return nil, 0
	}
	const trained, listed = 1, 2
	seen := make([]byte, p.Train.Classes)
	for _, label := range p.Train.Labels {
		seen[label] = trained
	}
	for _, set := range []*Set{p.Validate, p.Test} {
		if set == nil {
			continue
		}
		for _, label := range set.Labels {
			if seen[label] == trained {
				continue
			}
			if examples++; seen[label] == listed {
				continue
			}
			seen[label] = listed
			classes = append(classes, p.Train.Class(label))
		}
	}
	return classes, examples
}

// ClassCount says how many classes the data have. For arrays it also names the file with the largest label, and the labels
// that no example has.
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
