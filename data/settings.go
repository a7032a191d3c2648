package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/sets"
)

// Settings name the examples that a network learns from: exactly one of a known Set, a CSV file, arrays in files, of which
// Train is required, and slices in Memory. A test or validation part that is missing is a tenth of the training examples,
// drawn by the seed, or as Split says. A calibration part that is missing stays missing, unless Split has a share of it. Of a CSV with
// classes each part gets its share of every class. File names are relative to the working directory; a run that is kept knows the way to it
// from its folder.
type Settings struct {
	Set       string      `yaml:"set,omitempty"` // a data set that starling knows by name; starling data list shows all
	CSV       *CSV        `yaml:"csv,omitempty"` // a table of text or Parquet, and what its columns are
	Train     *Arrays     `yaml:"train,omitempty"`
	Validate  *Arrays     `yaml:"validate,omitempty"`
	Test      *Arrays     `yaml:"test,omitempty"`
	Calibrate *Arrays     `yaml:"calibrate,omitempty"`    // labelled examples that no network learns from, for decisions about its predictions
	Memory    *Memory     `yaml:"memory,omitempty"`       // set by Go programs only: {} in the config of such a run
	Groups    []GroupFile `yaml:"groups,omitempty,pairs"` // out-of-distribution inputs, on which a network should be uncertain
	// CalibrateGroups are out-of-distribution inputs that are known beforehand: decisions may be learnt from them, beside calibration
	// examples, and they are never scored.
	CalibrateGroups []GroupFile `yaml:"calibrate_groups,omitempty,pairs"`
	Split           *Parts      `yaml:"split,omitempty"` // how the training examples are divided
	Seed            *uint64     `yaml:"seed,omitempty"`  // draws the parts that are held out. Without it (nil), the run's seed does
	Whole           bool        `yaml:"whole,omitempty"` // hold nothing out of the training examples: a missing part stays missing

	// Standardise is none, inputs, both or channels. Inputs have mean 0 and sd 1 over the training examples, each by itself. Both does the same
	// to the targets of a regression: a likelihood's sd is then a share of the target's sd, and predictions and scores come back in
	// the target's units. Channels is for images: each channel has mean 0 and sd 1 over all pixels of the training examples. Default: for a
	// table inputs, or both for a regression; else none.
	Standardise string `yaml:"standardise,omitempty"`

	Augment *Augment `yaml:"augment,omitempty"` // how the images of a training step are changed at random. Without it, they stay as they are

	// Target is log if the network learns the logarithms of the targets of a regression, which are positive amounts. They are
	// standardised as other targets are. Predictions and scores come back in the target's units, the NLL too. Without it, targets are
	// learnt as they are.
	Target string `yaml:"target,omitempty"`
}

// standard is what Standardise says.
func (s *Settings) standard() standard { return standardOf(s.Standardise) }

// OwnCalibrate reports whether the user names calibration examples beside those to train.
func (s *Settings) OwnCalibrate() bool {
	return s.Calibrate != nil || s.CSV != nil && s.CSV.Calibrate != "" || s.Memory != nil && s.Memory.Calibrate != nil
}

// OwnTest reports whether the user names test examples beside those to train. A set that starling knows has test examples of its own.
func (s *Settings) OwnTest() bool {
	return s.Test != nil || s.CSV != nil && s.CSV.Test != "" || s.Memory != nil && s.Memory.Test != nil
}

// Arrays are two files, NPY or IDX: inputs [examples, features], [examples, height, width] or [examples, channels,
// height, width], and targets [examples], or for a regression of k outputs [examples, k].
type Arrays struct {
	Inputs  string `yaml:"inputs"`  // file of the inputs, NPY or IDX
	Targets string `yaml:"targets"` // file of the classes or numbers to predict, NPY or IDX
}

// GroupFile is a named file of inputs without targets; {noise: noise.npy} in a config.
type GroupFile struct{ Name, File string }

// DefaultsFor fills in defaults. The default of Standardise depends on whether the task is a regression, which these settings
// do not hold.
func (s *Settings) DefaultsFor(regression bool) {
	switch {
	case s.Standardise != "":
	case !s.Tabular():
		s.Standardise = "none"
	case regression:
		s.Standardise = "both"
	default:
		s.Standardise = "inputs"
	}
}

// Tabular reports whether the examples are the rows of a table, whose columns have units of their own.
func (s Settings) Tabular() bool { return s.CSV != nil || Tabular(s.Set) }

// Validates reports whether there are validation examples: a part of the data, or examples that are held out.
func (s Settings) Validates() bool {
	k, err := sets.Find(s.Set)
	own, _, _ := s.own()
	return own || !s.Whole && (err != nil || !k.Whole)
}

// Calibrates reports whether there are calibration examples: a part of the data, or a share of the training examples. Where the examples
// were in a program's memory, of which a config says nothing, there may be.
func (s Settings) Calibrates() bool {
	_, _, own := s.own()
	return own || s.Split != nil && s.Split.Calibrate != 0 || s.forgotten()
}

// forgotten reports whether the examples were in the memory of a program that is over.
func (s Settings) forgotten() bool { return s.Memory != nil && s.Memory.Train == nil }

// own reports which parts the data have of their own.
func (s Settings) own() (validate, test, calibrate bool) {
	validate, test, calibrate = s.Validate != nil, s.OwnTest(), s.OwnCalibrate()
	if c := s.CSV; c != nil {
		validate = c.Validate != ""
	}
	if m := s.Memory; m != nil {
		validate = validate || m.Validate != nil
	}
	if k, err := sets.Find(s.Set); err == nil {
		validate, test, calibrate = validate || k.Validate > 0, test || k.Test > 0, calibrate || k.Calibrate > 0
	}
	return validate, test, calibrate
}

// groupNamesTaken lists the names that groups cannot have: the parts of the data, and other scores.
var groupNamesTaken = []string{"train", "validate", "test", calibratePart, "correct", "incorrect"}

const groupNameTaken = "%s is the name of a part of the data or of the scores: choose another"

// Check checks names and combinations of settings. Files are opened later.
func (s Settings) Check(f *config.Faults) {
	s.checkOne(f)
	if s.Set != "" {
		f.OneOf("set", s.Set, sets.Names()...)
	}
	for _, part := range []struct {
		name   string
		arrays *Arrays
	}{{"train", s.Train}, {"validate", s.Validate}, {"test", s.Test}, {calibratePart, s.Calibrate}} {
		switch {
		case part.arrays == nil:
		case s.Train == nil:
			f.Add(part.name, "can be used with train only (your own arrays); a set has its own parts, and a csv is split by the seed or has csv.%s, a file", part.name)
		case part.arrays.Inputs == "" || part.arrays.Targets == "":
			f.Add(part.name, "needs inputs and targets, as in {inputs: x.npy, targets: y.npy}")
		}
	}
	s.checkSplit(f)
	known := sets.Known{}
	if k, err := sets.Find(s.Set); err == nil {
		known = *k
	}
	memory := Memory{}
	if s.Memory != nil {
		memory = *s.Memory
	}
	checkGroups(f, "groups", known.Groups, s.Groups, memory.Groups)
	checkGroups(f, calibrateGroups, known.Foreign, s.CalibrateGroups, memory.Foreign)
	f.If(len(s.CalibrateGroups)+len(memory.Foreign) > 0 && !s.Calibrates(), calibrateGroups, foreignAlone)
	if s.Standardise != "" {
		f.OneOf("standardise", s.Standardise, standardWords()...)
	}
	if s.Tabular() {
		f.If(s.standard().channels, "standardise", "channels is for images, and the examples are rows of a table: want none, inputs or both")
		f.If(s.Augment != nil, "augment", "changes images, and the examples are rows of a table: leave it out")
	}
	if s.Augment != nil && s.standard().inputs {
		f.Conflict([]string{"augment", "standardise"}, "it moves pixels, and standardise: %s scales each by itself: take channels or none", s.Standardise)
	}
	if s.Target != "" {
		f.OneOf("target", s.Target, targetLog)
	}
}

// CheckTargets checks the settings that depend on the likelihood, which decides whether the task is a regression.
func (s Settings) CheckTargets(f *config.Faults, regression bool) {
	f.If(!regression && s.standard().targets, "standardise", "both is for regression: classes are not scaled; want inputs or none")
	f.If(!regression && s.Target != "", "target", "log is for regression: classes have no logarithms; leave target out")
}

// checkOne wants exactly one source of examples.
func (s Settings) checkOne(f *config.Faults) {
	var there []string
	for _, source := range []struct {
		name string
		is   bool
	}{{"csv", s.CSV != nil}, {"memory", s.Memory != nil}, {"set", s.Set != ""}, {"train", s.Train != nil}} {
		if source.is {
			there = append(there, source.name)
		}
	}
	switch len(there) {
	case 0:
		f.Add("", "want one of csv, set, train")
	case 1:
	default:
		f.Conflict(append([]string{""}, there...), "has %s: want one of them", strings.Join(there, " and "))
	}
}

// calibrateGroups is the key of foreign inputs that are known beforehand.
const calibrateGroups = "calibrate_groups"

const foreignAlone = "a decision is learnt from foreign inputs beside calibration examples, and there are none: give some (csv.calibrate or calibrate, files, " +
	"or split.calibrate, a share), or leave calibrate_groups out"

// checkGroups checks the names of groups: those that a known set has, and those of files and of memory, which are listed at key.
func checkGroups(f *config.Faults, key string, known []string, files []GroupFile, memory []MemoryGroup) {
	seen := map[string]bool{}
	for _, name := range known {
		seen[name] = true
	}
	check := func(name string, empty bool) {
		field := key + "." + name
		switch {
		case name == "" || !config.Printable(name):
			f.Add(field, "%q: want a name of at most %d bytes without control characters", name, config.LongestName)
		case slices.Contains(groupNamesTaken, name) || ToCalibrate(name):
			f.Add(field, groupNameTaken, name)
		case seen[name]:
			f.Add(field, "two groups are named %s", name)
		case empty:
			f.Add(field, "needs a file of inputs")
		}
		seen[name] = true
	}
	for _, g := range files {
		check(g.Name, g.File == "")
	}
	for _, g := range memory {
		check(g.Name, false)
	}
}

// checkSplit checks the division with the other settings. Of examples in a program's memory, of which a config says nothing,
// the parts may be unknown.
func (s Settings) checkSplit(f *config.Faults) {
	p := s.Split
	if p == nil {
		return
	}
	validate, test, calibrate := s.own()
	if k, err := sets.Find(s.Set); err == nil && k.Whole {
		f.Add("split", "%s is always whole: leave split out", s.Set)
		return
	}
	if s.Whole {
		f.Conflict([]string{"split", "whole"}, "split divides the examples, and whole keeps them together: leave one of them out")
	}
	if s.CSV != nil && s.CSV.MissingTarget == "skip" && p.TestRows != "" {
		f.Conflict([]string{"csv.missing_target", "split.test_rows"}, "missing_target: skip leaves rows out, and test_rows has their numbers: remove these rows from the file instead")
	}
	f.If(validate && p.Validate != 0, "split.validate", ownPart, "validation")
	f.If(validate && p.Folds != 0, "split.folds", ownPart, "validation")
	f.If(test && p.Test != 0, "split.test", ownPart, "test")
	f.If(test && p.TestRows != "", "split.test_rows", ownPart, "test")
	f.If(calibrate && p.Calibrate != 0, "split.calibrate", ownPart, "calibration")
	sum, terms := 0.0, []string{}
	for _, share := range p.shares() {
		switch {
		case share.value != 0:
			sum, terms = sum+share.value, append(terms, fmt.Sprintf("%s %v", share.name, share.value))
		case p.Folds != 0 && share.name == "validate":
		case p.TestRows == "" && !s.forgotten() && (share.name == "validate" && !validate || share.name == "test" && !test):
			sum, terms = sum+tenth, append(terms, fmt.Sprintf("%s %v (where no share is given)", share.name, tenth))
		}
	}
	f.If(sum > 1+roundings, "split", "the shares add up to more than 1: %s", strings.Join(terms, ", "))
}
