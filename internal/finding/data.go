package finding

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about the data: columns, features and classes.

// ConstantColumns names the columns of a table that were dropped.
func ConstantColumns(names []string) Finding {
	return Finding{Kind: "constant-columns", Numbers: numbers{"count": float64(len(names))}.safe(), Names: map[string]string{"columns": strings.Join(names, ", ")}}
}

// EmptyColumns names the columns of a table that were dropped because no training row has a value.
func EmptyColumns(names []string) Finding { return ofColumns("empty-columns", names) }

// RowCounters names the columns of a table that were left out because they count its rows. keep is the setting that keeps them, as a
// config has it.
func RowCounters(names []string, keep string) Finding {
	f := ofColumns("row-counters", names)
	f.Names["keep"] = keep
	return f
}

// RowNumbers names the columns of a table that may number its rows. drop is as that of UnlikeWords, keep the setting that takes them for inputs.
func RowNumbers(names []string, drop, keep string) Finding {
	f := ofColumns("row-numbers", names)
	f.Names["drop"], f.Names["keep"] = drop, keep
	return f
}

// WordColumns names the columns of a table that hold words, which became so many inputs of 0 and 1.
func WordColumns(names []string, inputs int) Finding {
	f := ofColumns("word-columns", names)
	f.Numbers["inputs"] = numeral.Number(inputs)
	return f
}

// UnlikeWords names the columns of words of a table that are nearly all different, and became so many inputs, where so many rows train.
// drop is the setting that leaves them out, as a config has it.
func UnlikeWords(names []string, drop string, inputs, rows int) Finding {
	f := ofColumns("unlike-words", names)
	f.Numbers["inputs"], f.Numbers["rows"], f.Names["drop"] = numeral.Number(inputs), numeral.Number(rows), drop
	return f
}

// UnitWords names the columns of words of a table that are numbers with a sign or a unit. drop is as that of UnlikeWords.
func UnitWords(names []string, drop string) Finding {
	f := ofColumns("unit-words", names)
	f.Names["drop"] = drop
	return f
}

// WholeAmounts says that a target that takes so many whole numbers is taken as an amount. layer is the path of the network's last layer.
func WholeAmounts(target string, values int, layer string) Finding {
	return Finding{Kind: "whole-amounts", Numbers: numbers{"values": float64(values)}.safe(), Names: map[string]string{"target": target, "layer": layer}}
}

// MissingValues names the columns of a table that lack values. told: an input beside the column says so; else no training row lacks
// the value, so that there is no such input.
func MissingValues(names []string, told bool) Finding {
	if told {
		return ofColumns("missing-values", names)
	}
	return ofColumns("missing-elsewhere", names)
}

func ofColumns(kind string, names []string) Finding {
	return Finding{Kind: kind, Numbers: numbers{"count": float64(len(names))}.safe(), Names: map[string]string{"columns": numeral.List(names)}}
}

// ZeroFeatures lists the constant features of arrays, counted from 0. The network sees them as 0 everywhere.
func ZeroFeatures(features []int) Finding {
	const few = 20
	var names []string
	for _, j := range features[:min(few, len(features))] {
		names = append(names, fmt.Sprint(j))
	}
	if len(features) > few {
		names = append(names, "…")
	}
	return Finding{Kind: "zero-features", Numbers: numbers{"count": float64(len(features))}.safe(), Names: map[string]string{"features": strings.Join(names, ", ")}}
}

// ChannelsLast says that a file of images probably has its channels last, but was read as channels × height × width.
func ChannelsLast(file string, channels, height, width int) Finding {
	return Finding{
		Kind:    "channels-last",
		Numbers: numbers{"channels": float64(channels), "height": float64(height), "width": float64(width)}.safe(),
		Names:   map[string]string{"file": file},
	}
}

// UnseenClasses names classes that validation and test examples have, so many of them, and no training example.
func UnseenClasses(classes []string, examples int) Finding {
	return Finding{
		Kind: "unseen-classes", Numbers: numbers{"count": float64(len(classes)), "examples": float64(examples)}.safe(),
		Names: map[string]string{"classes": numeral.List(classes)},
	}
}

// RareClasses names classes of fewer than enough training examples, each with their number.
func RareClasses(classes []string, enough int) Finding {
	return Finding{
		Kind: "rare-classes", Numbers: numbers{"count": float64(len(classes)), "enough": float64(enough)}.safe(),
		Names: map[string]string{"classes": listed(classes)},
	}
}

// IgnoredColumns names the columns of another file than the run's table that this table had not.
func IgnoredColumns(file string, names []string) Finding {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return Finding{
		Kind: "ignored-columns", Numbers: numbers{"count": float64(len(names))}.safe(),
		Names: map[string]string{"columns": listed(quoted), "file": file},
	}
}

// ColumnsByPlace says that a file has no header, where the run's table had one.
func ColumnsByPlace(file string) Finding {
	return Finding{Kind: "columns-by-place", Names: map[string]string{"file": file}}
}

// Unlearnt says in how many cells of a column a file has what no training row had, with an example or what they had instead.
type Unlearnt struct {
	Column string
	Cells  int
	Told   string
}

// UnknownWords names the columns of a file of so many rows that have words which no training row had.
func UnknownWords(file string, rows int, columns []Unlearnt) Finding {
	return unlearnt("unknown-words", file, rows, columns)
}

// NoLongerConstant names the columns of a file of so many rows that have another value than the one of all training rows.
func NoLongerConstant(file string, rows int, columns []Unlearnt) Finding {
	return unlearnt("no-longer-constant", file, rows, columns)
}

func unlearnt(kind, file string, rows int, columns []Unlearnt) Finding {
	found := make([]string, len(columns))
	for i, c := range columns {
		found[i] = fmt.Sprintf("column %q in %s of %s (%s)", c.Column, numeral.Count(c.Cells), numeral.Several(rows, "row"), c.Told)
	}
	return Finding{
		Kind: kind, Numbers: numbers{"count": float64(len(columns))}.safe(),
		Names: map[string]string{"columns": listed(found), "file": file},
	}
}

// listed is a list of names for a sentence, of which the first are told.
func listed(names []string) string {
	const few = 10
	told := names[:min(len(names), few)]
	if more := len(names) - few; more > 0 {
		told = append(slices.Clone(told), numeral.Count(more)+" more")
	}
	return numeral.List(told)
}
