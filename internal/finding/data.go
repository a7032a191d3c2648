package finding

import (
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about the data: columns, features and classes. Drop and Keep are the settings that leave columns out and that keep them, as a
// config has them.

// columns are columns by their names.
func columns(c Some) string { return c.plural("column ", "columns ") + c.Names }

// ConstantColumns names the columns of a table that were dropped.
type ConstantColumns struct{ Columns Some }

func (f ConstantColumns) words() words {
	return words{look: note | ofData, says: columns(f.Columns) + f.Columns.plural(" is constant over the training rows and was dropped",
		" are constant over the training rows and were dropped")}
}

// EmptyColumns names the columns of a table that were dropped because no training row has a value.
type EmptyColumns struct{ Columns Some }

func (f EmptyColumns) words() words {
	return words{look: note | ofData, says: columns(f.Columns) + f.Columns.plural(" has no value in any training row and was dropped",
		" have no value in any training row and were dropped")}
}

// RowCounters names the columns of a table that were left out because they count its rows.
type RowCounters struct {
	Columns Some
	Keep    string
}

func (f RowCounters) words() words {
	return words{look: note | ofData, says: say("%s left out (data.csv.keep: %s keeps %s)",
		columns(f.Columns)+f.Columns.plural(" counts the rows and was", " count the rows and were"), f.Keep, f.Columns.plural("it", "them"))}
}

// RowNumbers names the columns of a table that may number its rows.
type RowNumbers struct {
	Columns    Some
	Drop, Keep string
}

func (f RowNumbers) words() words {
	it := f.Columns.plural("it", "them")
	return words{
		look: warning | ofData | early, says: columns(f.Columns) + f.Columns.plural(" seems", " seem") + " to number the rows",
		means: f.Columns.plural("it has", "they have") + " a different whole number in every row, and a number that says nothing of a new row misleads the network",
		cure:  say("leave %s out (data.csv.drop: %s) or keep %s (data.csv.keep: %s)", it, f.Drop, it, f.Keep), help: helpData,
	}
}

// IgnoredColumns names the columns of another file than the run's table that this table had not.
type IgnoredColumns struct {
	Columns Some
	File    string
}

func (f IgnoredColumns) words() words {
	return words{look: note | ofData, says: say("%s of %s %s", columns(f.Columns), f.File, f.Columns.plural("is ignored: the run's table had no such column",
		"are ignored: the run's table had no such columns"))}
}

// ColumnsByPlace says that a file has no header, where the run's table had one.
type ColumnsByPlace struct{ File string }

func (f ColumnsByPlace) words() words {
	return words{look: note | ofData, says: say("the columns of %s are taken in the order of the run's table, since it has no header", f.File)}
}

// Unlearnt says in how many cells of a column a file of so many rows has what no training row had, with an example or what they had instead.
func Unlearnt(column string, cells, rows int, told string) string {
	return say("column %q in %v of %s (%s)", column, cells, numeral.Several(rows, "row"), told)
}

// UnknownWords names the columns of a file that have words which no training row had.
type UnknownWords struct {
	Columns Some
	File    string
}

func (f UnknownWords) words() words {
	return words{look: note | ofData, says: say("words of %s that no training row had are taken for no category: %s", f.File, f.Columns.Names)}
}

// NoLongerConstant names the columns of a file that have another value than the one of all training rows.
type NoLongerConstant struct {
	Columns Some
	File    string
}

func (f NoLongerConstant) words() words {
	return words{look: note | ofData, says: say("the network cannot use values of %s in columns that were constant over the training rows: %s", f.File, f.Columns.Names)}
}

// WordColumns names the columns of a table that hold words, which became so many inputs of 0 and 1.
type WordColumns struct {
	Columns Some
	Inputs  int
}

func (f WordColumns) words() words {
	return words{look: note | ofData, says: say("%s, whose categories became %v %s of 0 and 1",
		columns(f.Columns)+f.Columns.plural(" holds words", " hold words"), f.Inputs, plural(f.Inputs, "input", "inputs"))}
}

// UnlikeWords names the columns of words of a table that are nearly all different, and became so many inputs, where so many rows train.
type UnlikeWords struct {
	Columns      Some
	Inputs, Rows int
	Drop         string
}

func (f UnlikeWords) words() words {
	return words{
		look:  warning | ofData | early,
		says:  say("the words of %s are nearly all different (%v inputs for %v rows)", columns(f.Columns), f.Inputs, f.Rows),
		means: "a network learns little from a word that it hardly ever sees again",
		cure:  say("leave %s out (data.csv.drop: %s) or write fewer categories", f.Columns.plural("it", "them"), f.Drop), help: helpData,
	}
}

// UnitWords names the columns of words of a table that are numbers with a sign or a unit.
type UnitWords struct {
	Columns Some
	Drop    string
}

func (f UnitWords) words() words {
	return words{
		look: warning | ofData | early, says: say("the words of %s are numbers with a sign or a unit", columns(f.Columns)),
		means: "each is an input of 0 and 1, and their order is lost",
		cure:  say("write the numbers alone, or leave %s out (data.csv.drop: %s)", f.Columns.plural("it", "them"), f.Drop), help: helpData,
	}
}

// WholeAmounts says that a target that takes so many whole numbers is taken as an amount. Layer is the path of the network's last layer.
type WholeAmounts struct {
	Target string
	Values int
	Layer  string
}

func (f WholeAmounts) words() words {
	return words{look: note | ofData | early, says: say("%s takes %v whole numbers, which are predicted as amounts. If they are classes, set "+
		"model.likelihood=categorical and %s.dense=%s", f.Target, f.Values, f.Layer, strconv.Itoa(f.Values))}
}

// Many is the share of the rows from which on a frequent value of the target is told.
const Many = .1

// ManyZeros says that a share of the targets are 0, and none is below it.
type ManyZeros struct {
	Target string
	Share  float64
}

func (f ManyZeros) words() words {
	return words{
		look: note | ofData | early, says: say("%s is 0 in %s of the rows", f.Target, percent(f.Share, 0)),
		means: "a normal distribution around a mean cannot say so. Two runs can: one that predicts whether it is 0, as a class, and one on the rows above 0",
	}
}

// MissingValues names the columns of a table that lack values, with an input beside each that says so.
type MissingValues struct{ Columns Some }

// MissingElsewhere names those that have no such input, as no training row lacks the value.
type MissingElsewhere struct{ Columns Some }

func (f MissingValues) words() words {
	return words{look: note | ofData, says: say("missing values of %s are filled with the training mean, or with no category; an extra 0/1 input marks them", columns(f.Columns))}
}

func (f MissingElsewhere) words() words {
	return words{look: note | ofData, says: columns(f.Columns) + f.Columns.plural(" lacks", " lack") + " values only in rows that do not train: " +
		"they are filled with the training mean, or with no category"}
}

// ZeroFeatures lists the constant features of arrays, or the constant channels of images, counted from 0. The network sees them as 0 everywhere.
type ZeroFeatures struct {
	Features Some
	Channels bool `kept:"?"`
}

// FirstFeatures lists the first of so many features.
func FirstFeatures(features []int) Some {
	const few = 20
	var names []string
	for _, j := range features[:min(few, len(features))] {
		names = append(names, strconv.Itoa(j))
	}
	if len(features) > few {
		names = append(names, "…")
	}
	return Some{len(features), strings.Join(names, ", ")}
}

func (f ZeroFeatures) words() words {
	what := "feature"
	if f.Channels {
		what = "channel"
	}
	return words{look: note | ofData, says: f.Features.plural(
		say("%s %s (from 0) is constant over the training examples: the network sees it as 0 everywhere", what, f.Features.Names),
		say("%v %ss (from 0: %s) are constant over the training examples: the network sees them as 0 everywhere", f.Features.Count, what, f.Features.Names))}
}

// UnseenClasses names classes that examples of other parts have, so many of them, and no training example. There are calibration examples
// beside those to validate and to test if Calibrates.
type UnseenClasses struct {
	Classes    Some
	Examples   int
	Calibrates bool `kept:"?"`
}

func (f UnseenClasses) words() words {
	return words{
		look: warning | ofData | early,
		says: say("no training example has %s, which %v %s", f.Classes.plural("class ", "the classes ")+f.Classes.Names,
			f.Examples, either(f.Calibrates, plural(f.Examples, "example of another part has", "examples of other parts have"),
				plural(f.Examples, "validation and test example has", "validation and test examples have"))),
		means: "a network cannot learn " + f.Classes.plural("it", "them"), cure: "take another division (seed, data.split) or more examples", help: helpData,
	}
}

// RareClasses names classes of fewer than enough training examples, each with their number.
type RareClasses struct {
	Classes Some
	Enough  int
}

func (f RareClasses) words() words {
	return words{
		look: warning | ofData | early,
		says: say(f.Classes.plural("the class %s has fewer than %v training examples", "the classes %s have fewer than %v training examples"),
			f.Classes.Names, f.Enough),
		means: say("a network learns little of %s, and the scores of %s rest on even fewer",
			f.Classes.plural("it", "them"), f.Classes.plural("this class", "these classes")),
		cure: "take more examples, or join rare classes", help: helpData,
	}
}

// ChannelsLast says that a file of images probably has its channels last, but was read as channels × height × width.
type ChannelsLast struct {
	File                    string
	Channels, Height, Width int
}

func (f ChannelsLast) words() words {
	return words{
		look: warning | ofData,
		says: say("%staken as %v channels of %v×%v", either(f.File == "", "", f.File+": "), f.Channels, f.Height, f.Width),
		cure: "if the channels are last, move them before you save the array: np.moveaxis(x, -1, 1)", help: helpData,
	}
}

// NoThreshold says that a run keeps no threshold of the energy, because that of some of the validation examples is not finite.
type NoThreshold struct{ Count, Examples int }

func (f NoThreshold) words() words {
	return words{
		look: warning, says: say("no threshold of the energy was kept, as it is not finite for %v of %v validation examples", f.Count, f.Examples),
		means: "members of the posterior overflow there", cure: "check the scale of the inputs, or take a smaller step", help: helpData,
	}
}

// FewForThreshold says that the threshold of the energy comes from few validation examples: of new examples like them it may refuse more
// than the share that it is meant to, up to AtMost (in 19 of 20 such runs).
type FewForThreshold struct {
	Examples      int
	Meant, AtMost float64
}

func (f FewForThreshold) words() words {
	return words{
		look: note | page,
		says: say("the threshold of the energy rests on %s, so it may declare up to %s of rows like the training rows foreign, where %s are meant",
			numeral.Several(f.Examples, "validation example"), percent(f.AtMost, 0), percent(f.Meant, 0)),
		cure: "hold out more rows to validate (data.split) before you raise alarms by it", help: helpCalibration,
	}
}

// CalibrationSeen says how many of the calibration examples train, validate or test, too.
type CalibrationSeen struct {
	Examples  int
	Trains    int `kept:"?"`
	Validates int `kept:"?"`
	Tests     int `kept:"?"`
}

func (f CalibrationSeen) words() words {
	var also, means []string
	if f.Trains > 0 {
		also = append(also, plural(f.Trains, "1 trains", say("%v train", f.Trains)))
	}
	if f.Validates > 0 {
		also = append(also, plural(f.Validates, "1 validates", say("%v validate", f.Validates)))
	}
	if f.Tests > 0 {
		also = append(also, plural(f.Tests, "1 is for the test", say("%v are for the test", f.Tests)))
	}
	if f.Trains+f.Validates > 0 {
		means = append(means, "the network is better on examples that it has seen, so that decisions learnt from them are too sure")
	}
	if f.Tests > 0 {
		means = append(means, "the scores of decisions on the test part are too good")
	}
	return words{
		look: warning | ofData | ofDecision | early, says: say("of %s %s, too", numeral.Several(f.Examples, "calibration example"), numeral.List(also)),
		means: strings.Join(means, ", and "), cure: "calibrate with examples of no other part", help: helpCalibration,
	}
}

// ForeignScored says that so many of the foreign inputs that are known beforehand are scored, too.
type ForeignScored struct{ Inputs int }

func (f ForeignScored) words() words {
	return words{
		look: warning | ofData | ofDecision | early, says: say("%s of data.calibrate_groups %s in data.groups, too", numeral.Several(f.Inputs, "input"), plural(f.Inputs, "is", "are")),
		means: "the scores of decisions that are learnt from them are too good", cure: "calibrate with other foreign inputs", help: helpCalibration,
	}
}

// InitUnused says that model.init was given, but no particle begins there and the prior's mean is 0.
type InitUnused struct{}

func (InitUnused) words() words {
	return words{
		look: warning, says: "model.init was not used", means: "from prior.anchor.s = 0.5 on, the anchored prior has mean 0",
		cure: "take prior.anchor.s below 0.5, or leave model.init out", help: helpData,
	}
}

// CountersIgnored says that model.init has counters of batches, and the name of the first: nothing depends on them.
type CountersIgnored struct {
	Counters int
	Name     string
}

func (f CountersIgnored) words() words {
	name := f.Name
	if f.Counters > 1 {
		name += ", …"
	}
	return words{
		says:  "model.init has " + numeral.Several(f.Counters, "counter") + " of batches (" + name + "), ignored",
		means: "PyTorch counts there what a batch norm was trained on; the network's outputs do not depend on it",
	}
}

// GroupsTogether says that the rows of a group stay in one part, and how many groups are in each; 0: the part has a file of its own.
type GroupsTogether struct {
	Column                string // that says which rows are a group
	Train, Validate, Test int
	Calibrate             int `kept:"?"`
}

func (f GroupsTogether) words() words {
	parts := []string{plural(f.Train, "1 group trains", say("%v groups train", f.Train))}
	if f.Validate > 0 {
		parts = append(parts, plural(f.Validate, "1 validates", say("%v validate", f.Validate)))
	}
	if f.Test > 0 {
		parts = append(parts, plural(f.Test, "1 is for the test", say("%v are for the test", f.Test)))
	}
	if f.Calibrate > 0 {
		parts = append(parts, plural(f.Calibrate, "1 calibrates", say("%v calibrate", f.Calibrate)))
	}
	return words{look: note, says: "rows that agree in column " + f.Column + " are in one part: " + numeral.List(parts)}
}

// GroupsShared says that a file of another part has rows of groups that train: of the calibration part if Calibrate.
type GroupsShared struct {
	Column, File string
	Groups, Rows int
	Calibrate    bool `kept:"?"`
}

func (f GroupsShared) words() words {
	return words{
		look: warning | ofData,
		says: say("%s of %s %s of groups that train (%s of column %s)", numeral.Several(f.Rows, "row"), f.File, plural(f.Rows, "is", "are"),
			numeral.Several(f.Groups, "group"), f.Column),
		means: either(f.Calibrate, "a decision that is learnt from them is too sure of itself for new groups", "the scores on them are too good for new groups"),
		cure:  say("leave these rows out of %s, or leave data.csv.group out", f.File), help: helpData,
	}
}
