package finding

// Findings about how numbers and words of a table are written, and about columns that tell rows apart and nothing else.

// WrittenNumbers names the columns of a table whose numbers are not plain, each with how they are written. Settings are those of data.csv that
// say so; empty: columns differ so that no setting is that of all.
type WrittenNumbers struct {
	Columns  Some
	Settings string
}

func (f WrittenNumbers) words() words {
	return words{look: note | ofData, says: say("numbers are read as they are written: %s%s", columns(f.Columns), either(f.Settings == "", "", " ("+f.Settings+")"))}
}

// PaddedNumbers names the columns of a table whose whole numbers have leading zeros and one width.
type PaddedNumbers struct {
	Columns    Some
	Categories string
}

func (f PaddedNumbers) words() words {
	return words{look: note | ofData, says: say("%s whole numbers with leading zeros, which are lost: if they are codes, such as postcodes, take data.csv.categories: %s",
		columns(f.Columns)+f.Columns.plural(" has", " have"), f.Categories)}
}

// DifferingWords names the columns of a table that were left out because they hold words that all differ.
type DifferingWords struct {
	Columns Some
	Keep    string
}

func (f DifferingWords) words() words {
	return words{look: note | ofData, says: say("%s left out (data.csv.keep: %s keeps %s)",
		columns(f.Columns)+f.Columns.plural(" holds words that all differ and was", " hold words that all differ and were"), f.Keep, f.Columns.plural("it", "them"))}
}

// InexactNumbers names the columns of a table that were left out because a float64 does not tell their whole numbers apart.
type InexactNumbers struct {
	Columns Some
	Keep    string
}

func (f InexactNumbers) words() words {
	return words{look: note | ofData, says: say("%s whole numbers above 2⁵³, which are not exact, and %s left out (data.csv.keep: %s keeps %s)",
		columns(f.Columns)+f.Columns.plural(" has", " have"), f.Columns.plural("was", "were"), f.Keep, f.Columns.plural("it", "them"))}
}

// RoundedNumbers names the columns of a table that are used although a float64 does not tell their whole numbers apart.
type RoundedNumbers struct{ Columns Some }

func (f RoundedNumbers) words() words {
	return words{
		look: warning | ofData | early, says: columns(f.Columns) + f.Columns.plural(" has", " have") + " whole numbers above 2⁵³",
		means: "a float64 does not tell them apart, and different numbers may become the same",
		cure:  say("subtract a number from %s before you save the table, or leave %s out", f.Columns.plural("its numbers", "their numbers"), f.Columns.plural("it", "them")), help: helpData,
	}
}

// DateIndex names the columns of a table that were left out because they are an index of dates, as pandas writes it.
type DateIndex struct{ Columns Some }

func (f DateIndex) words() words {
	return words{look: note | ofData, says: columns(f.Columns) + f.Columns.plural(" is an index of dates and was left out", " are indices of dates and were left out")}
}

// RowsWithoutTarget says that so many rows of a file were left out because they have no target.
type RowsWithoutTarget struct {
	Rows int
	File string
}

func (f RowsWithoutTarget) words() words {
	return words{look: note | ofData, says: say("%v %s of %s without a target %s left out (data.csv.missing_target: skip)", f.Rows, plural(f.Rows, "row", "rows"), f.File,
		plural(f.Rows, "was", "were"))}
}

// AlikeClasses names classes that differ only in letter case, blanks or how an accent is written.
type AlikeClasses struct{ Classes Some }

func (f AlikeClasses) words() words {
	return words{
		look: warning | ofData | early, says: say("the classes %s differ only in letter case or blanks", f.Classes.Names),
		means: "the network learns to tell them apart", cure: "write them alike in the table if they are one class", help: helpData,
	}
}

// AlikeWords names columns of words of which some differ only so, each with these words.
type AlikeWords struct{ Columns Some }

func (f AlikeWords) words() words {
	return words{
		look: warning | ofData | early, says: say("some words of %s differ only in letter case or blanks", columns(f.Columns)),
		means: "each is a category of its own", cure: "write them alike in the table if they mean the same", help: helpData,
	}
}

// AlikeGroups names groups of rows, by the texts of a column, that differ only so.
type AlikeGroups struct {
	Column string
	Groups Some
}

func (f AlikeGroups) words() words {
	return words{
		look: warning | ofData | early, says: say("the groups %s of column %s differ only in letter case or blanks", f.Groups.Names, f.Column),
		means: "each is a group of its own, and one may train while another is in the test part", cure: "write them alike in the table if they are one group", help: helpData,
	}
}

// FilledValues says that so many values were missing in so many rows of a file to predict.
type FilledValues struct {
	Values, Rows int
	File         string
}

func (f FilledValues) words() words {
	return words{look: note | ofData, says: say("%v missing %s in %v %s of %s %s filled with training means or no category: the column missing counts them; --missing refuse stops",
		f.Values, plural(f.Values, "value", "values"), f.Rows, plural(f.Rows, "row", "rows"), f.File, plural(f.Values, "was", "were"))}
}
