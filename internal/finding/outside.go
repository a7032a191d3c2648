package finding

import (
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about rows whose inputs are unlike those of the training rows.

// OutsideColumn says in how many rows the numbers of a column, or of a part of an array, lie outside, from the least to the most of them,
// and from where to where the training rows' are. Without a title they are all numbers of an array.
func OutsideColumn(title string, rows int, least, most, low, high float64) string {
	told := short(least)
	if to := short(most); to != told {
		told += " to " + to
	}
	if title == "" {
		return say("%s, in training %s to %s", told, short(low), short(high))
	}
	return say("%s in %v (%s; in training %s to %s)", title, rows, told, short(low), short(high))
}

// short is a number with four digits at most, without zeros at its end.
func short(v float64) string {
	text := numeral.Significant(v)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// OutsideRows says how many of the rows of a file have inputs outside what the training rows had.
type OutsideRows struct {
	Columns  Some
	File     string
	Rows, Of int
	Share    float64 // of the numbers of arrays; 0 for a table
}

// often is the share of rows outside from which they are no chance of a good file.
const often = 0.05

func (f OutsideRows) words() words {
	look, share := note, ""
	if float64(f.Rows) > often*float64(f.Of) {
		look = warning
	}
	if f.Share > 0 {
		decimals := 1
		if f.Share < .001 {
			decimals = 4
		}
		share = say(" (%s of the numbers)", percent(f.Share, decimals))
	}
	return words{
		look: ofData | look,
		says: say("%v of %s of %s %s outside the training rows%s: %s", f.Rows, numeral.Several(f.Of, "row"), f.File,
			plural(f.Rows, "lies", "lie"), share, f.Columns.Names),
		means: "no training row is like these, so no prediction of them can be relied on",
		cure:  "check units, columns and missing values", help: helpData,
	}
}

// OtherUnits names the columns of a file whose numbers seem to be in another unit than those of the training rows: some Factor times larger,
// or smaller. All numbers of an array have no name.
type OtherUnits struct {
	Columns Some
	File    string
	Factor  float64
	Larger  bool `kept:"numbers=larger|smaller"`
}

func (f OtherUnits) words() words {
	factor := short(f.Factor)
	says := say("numbers of %s are some %s times %s than in training, as if in another unit", f.File, factor, either(f.Larger, "larger", "smaller"))
	if f.Columns.Names != "" {
		says += ": " + f.Columns.Names
	}
	return words{
		look: warning | ofData, says: says,
		means: "the network takes them as they are",
		cure:  say("if so, %s them by %s", either(f.Larger, "divide", "multiply"), factor), help: helpData,
	}
}

// NoRanges says that rows outside cannot be told.
type NoRanges struct{}

func (NoRanges) words() words {
	return words{look: note | ofData, says: "the run was made before ranges of inputs were kept, so it cannot tell which rows lie outside them"}
}
