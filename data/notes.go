package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
)

// Checksums returns the checksums of a problem's parts and groups, by the names that Parts has.
func (p *Problem) Checksums() map[string]string {
	sums := map[string]string{}
	for _, part := range p.Parts() {
		sums[part.Name] = part.Set.Checksum()
	}
	return sums
}

// Findings returns findings about the inputs that may surprise a user: what became of columns, how other files differ from the table,
// images whose channels seem to come last, features that are always 0, words that are nearly all different or numbers with a unit, and
// classes without training examples or with few, and examples of other parts that lie outside the training rows.
func (p *Problem) Findings() (found []finding.Finding) {
	found = append(p.Schema.ColumnFindings(), p.Noted...)
	if shape := p.Schema.Shape; p.targets != nil && arrays.ChannelsLast(shape) {
		found = append(found, finding.Of(finding.ChannelsLast{File: p.Name, Channels: shape[0], Height: shape[1], Width: shape[2]}))
	}
	if zero, channels := p.Schema.alwaysZero(); zero != nil {
		found = append(found, finding.Of(finding.ZeroFeatures{Features: finding.FirstFeatures(zero), Channels: channels}))
	}
	if names := p.Schema.unlike(p.Train.Len()); names != nil {
		inputs := 0
		for _, name := range names {
			inputs += len(p.Schema.expansion(name).Categories)
		}
		found = append(found, finding.Of(finding.UnlikeWords{
			Columns: finding.List(p.Schema.titles(names)), Inputs: inputs, Rows: p.Train.Len(), Drop: p.Schema.dropping(names),
		}))
	}
	if names := p.Schema.withUnits(); names != nil {
		found = append(found, finding.Of(finding.UnitWords{Columns: finding.List(p.Schema.titles(names)), Drop: p.Schema.dropping(names)}))
	}
	found = append(found, p.partsOutside()...)
	found = append(found, p.Schema.alikeFindings()...)
	if classes, examples := p.unseen(); classes != nil {
		found = append(found, finding.Of(finding.UnseenClasses{Classes: finding.List(classes), Examples: examples, Calibrates: p.Calibrate != nil}))
	}
	if classes := p.rare(); classes != nil {
		found = append(found, finding.Of(finding.RareClasses{Classes: finding.FirstOf(classes), Enough: fewExamples}))
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

// ColumnFindings says which columns of a table are not one input each: those that were dropped because they are constant or empty, those
// that count the rows, and those of words and of missing values.
func (s *Schema) ColumnFindings() (found []finding.Finding) {
	if names := s.constants(); len(names) > 0 {
		found = append(found, finding.Of(finding.ConstantColumns{Columns: finding.Some{Count: len(names), Names: strings.Join(s.titles(names), ", ")}}))
	}
	if len(s.Empty) > 0 {
		found = append(found, finding.Of(finding.EmptyColumns{Columns: finding.List(s.titles(s.Empty))}))
	}
	if len(s.Counted) > 0 {
		found = append(found, finding.Of(finding.RowCounters{Columns: finding.List(s.titles(s.Counted)), Keep: scalars(s.Counted)}))
	}
	found = append(found, s.writtenFindings()...)
	var words, told, untold []string
	inputs := 0
	for _, e := range s.Expand {
		if e.Categories != nil {
			words, inputs = append(words, e.Column), inputs+len(e.Categories)
		}
		switch {
		case e.Indicator:
			told = append(told, e.Column)
		case e.Missing:
			untold = append(untold, e.Column)
		}
	}
	if words != nil {
		found = append(found, finding.Of(finding.WordColumns{Columns: finding.List(s.titles(words)), Inputs: inputs}))
	}
	if told != nil {
		found = append(found, finding.Of(finding.MissingValues{Columns: finding.List(s.titles(told))}))
	}
	if untold != nil {
		found = append(found, finding.Of(finding.MissingElsewhere{Columns: finding.List(s.titles(untold))}))
	}
	return found
}

// constants are the dropped columns that have a value.
func (s *Schema) constants() (columns []string) {
	for _, name := range s.Dropped {
		if !slices.Contains(s.Empty, name) {
			columns = append(columns, name)
		}
	}
	return columns
}

// dropping lists the columns that a config drops, and further ones, as a config does.
func (s *Schema) dropping(columns []string) string {
	dropped := slices.DeleteFunc(slices.Clone(s.LeftOut), func(c string) bool {
		return slices.Contains(s.Counted, c) || slices.Contains(s.Differ, c) || slices.Contains(s.Inexact, c) || slices.Contains(s.Dates, c)
	})
	return scalars(append(dropped, columns...))
}

// scalars lists columns as a config does.
func scalars(columns []string) string {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = config.Scalar(name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// titles names columns in a sentence.
func (s *Schema) titles(columns []string) []string {
	names := make([]string, len(columns))
	for i, name := range columns {
		switch names[i] = name; {
		case !s.Named:
			names[i] = "number " + name
		case name == "":
			names[i] = `""`
		}
	}
	return names
}

// alwaysZero lists the features of arrays, or the channels of images, that are always 0 after standardisation. Arrays drop no constant features.
func (s *Schema) alwaysZero() (features []int, channels bool) {
	switch {
	case s.Channels != nil:
		return s.Channels.Constant(), true
	case s.Columns == nil && s.Inputs != nil:
		return s.Inputs.Constant(), false
	}
	return nil, false
}

// unseen lists the classes of examples of other parts that no training example has, and counts these examples.
func (p *Problem) unseen() (classes []string, examples int) {
	if p.Train.Labels == nil {
		return nil, 0
	}
	const trained, listed = 1, 2
	seen := make([]byte, p.Train.Classes)
	for _, label := range p.Train.Labels {
		seen[label] = trained
	}
	for _, set := range []*Set{p.Validate, p.Test, p.Calibrate} {
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

// ClassCount says how many classes the data have. For a table it also names those that only the files of other parts have. For arrays it
// names the file with the largest label, and the labels that no example has.
func (p *Problem) ClassCount() string {
	n := p.Train.Classes
	if p.admitted != "" {
		return fmt.Sprintf("%s has %d classes%s: %d classes in all", p.Name, p.own, p.admitted, n)
	}
	if p.targets == nil {
		return fmt.Sprintf("%s has %d classes", p.Name, n)
	}
	file, seen := "", make([]bool, n)
	for _, part := range p.labelled() {
		if *part.set == nil {
			continue
		}
		for _, label := range (*part.set).Labels {
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
