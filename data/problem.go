package data

import (
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
)

// Problem is a data set divided into parts.
type Problem struct {
	Name      string
	Train     *Set
	Validate  *Set              // nil: Split holds it out of Train
	Test      *Set              // nil: likewise
	Calibrate *Set              // labelled examples that no network learns from, for decisions about its predictions; nil: none
	Unshared  *Unshared         // of a set with other classes, those that the network does not have; nil: none
	Groups    []Group           // out-of-distribution inputs, on which a network should be uncertain
	Foreign   []Group           // those that are known beforehand, for decisions: never scored
	Augment   *Augment          // how gradients see the images of Train; nil: as they are
	Whole     bool              // nothing is held out: the task is about Train itself, such as its evidence
	Schema    *Schema           // how files become inputs and targets; nil if there is none
	Noted     []finding.Finding // how other files differ from the run's table (Table.Notes)

	// Amounts is, for a regression on a table of the user's, how many values the target takes if they are few whole numbers, each in
	// five rows on average, which may be classes; else 0.
	Amounts int

	// Zeros is, likewise, the share of the rows whose target is 0, if no target is below 0 and 0 is their most frequent value.
	Zeros float64

	targets  map[string]string            // of arrays: the files of the parts' targets, for messages
	lines    map[string]func(row int) int // of files that are texts: the line on which a row starts
	own      int                          // of a table: the classes of its file
	admitted string                       // likewise: the classes that only the files of other parts have, in words
}

// Group is a named set of out-of-distribution inputs: of none of the problem's classes, or distorted. Its labels, if it has
// any, are not used.
type Group struct {
	Name string
	Set  *Set
}

// Unshared are test examples of classes that the network does not have.
type Unshared struct {
	Set *Set

	// Class stands for theirs where a score needs the probability of their class: the network's first class that is none of the
	// data's. It is NoClass if there is none: then their class has probability 0.
	Class int32
}

// Need says what a network and its method require of the examples.
type Need struct {
	Regression bool    // targets are numbers, not classes
	Whole      bool    // hold nothing out, because the network is evaluated as it is, unless the settings divide the examples
	Seed       uint64  // seed of the draw of the parts that are held out, unless the settings have one
	Schema     *Schema // of an earlier run on the same data; nil: measure it on the training examples
}

// calibratePart is the name of the part of calibration examples. With a slash and the name of a group it is that of foreign inputs.
const calibratePart = "calibrate"

// ToCalibrate reports whether the name of a part, as Parts has it, is that of calibration examples or of foreign inputs that are known
// beforehand. A run of an older version on a known set may know nothing of them.
func ToCalibrate(part string) bool {
	return part == calibratePart || strings.HasPrefix(part, calibratePart+"/")
}

// place is where a problem has a part of some name.
type place struct {
	name string
	set  **Set
}

// labelled are the places of the parts with targets, in the order in which they are listed; a set is nil where there is none.
func (p *Problem) labelled() []place {
	return []place{{"train", &p.Train}, {"validate", &p.Validate}, {"test", &p.Test}, {calibratePart, &p.Calibrate}}
}

// places are those of all parts and groups that there are.
func (p *Problem) places() []place {
	all := slices.DeleteFunc(p.labelled(), func(k place) bool { return *k.set == nil })
	for i := range p.Groups {
		all = append(all, place{p.Groups[i].Name, &p.Groups[i].Set})
	}
	for i := range p.Foreign {
		all = append(all, place{calibratePart + "/" + p.Foreign[i].Name, &p.Foreign[i].Set})
	}
	return all
}

// Parts lists all sets of a problem with their names: train, validate, test and calibrate, those that there are, then the groups, and
// the foreign inputs that are known beforehand, as calibrate/NAME.
func (p *Problem) Parts() (all []Group) {
	for _, k := range p.places() {
		all = append(all, Group{k.name, *k.set})
	}
	return all
}

// standardise standardises every part of a known set.
func (p *Problem) standardise() (err error) {
	for _, k := range p.places() {
		if *k.set, err = p.Schema.Standardise(*k.set); err != nil {
			return err
		}
	}
	return nil
}

// Unchanged returns a *regular.ChangedError if a file that holds inputs of the problem was written to since it was opened. Results that were
// computed from it are not valid.
func (p *Problem) Unchanged() error {
	for _, part := range p.Parts() {
		if of := part.Set.Stored; of != nil {
			if err := of.Unchanged(); err != nil {
				return err
			}
		}
	}
	return nil
}
