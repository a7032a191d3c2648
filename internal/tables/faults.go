package tables

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
)

const (
	// maxNames bounds the different names in a target column, each of which takes many times its size in the text.
	maxNames = 1 << 16
	// MaxCategories bounds the different words of a column, each of which becomes an input of the network.
	MaxCategories = 1000
)

// ColumnFault is a fault of a table that a setting about one of its columns mends.
type ColumnFault struct {
	Before, After string // the setting, in a sentence
	Setting       string // of data.csv: drop or keep
	Column        string // its name, or without a header its number from 1
}

func (e *ColumnFault) Error() string {
	return e.Mended("data.csv." + e.Setting + ": [" + config.Scalar(e.Column) + "]")
}

// Mended is the message with the setting as a user would write it.
func (e *ColumnFault) Mended(setting string) string { return e.Before + setting + e.After }

// LeaveOut begins the mend of a column that cannot be read.
const LeaveOut = "leave the column out with "

// TooManyWords makes a fault that drop mends of a column with more words than can be categories. Other errors stay as they are.
func TooManyWords(err error) error {
	var many *manyWords
	if errors.As(err, &many) {
		return &ColumnFault{Before: err.Error() + ", or " + LeaveOut, Setting: "drop", Column: many.column}
	}
	return err
}

// CellError says that a cell which should be a number holds a text.
type CellError struct {
	Line   int    // of the file, from 1
	Row    bool   // Line and Number count the rows, of a file that is no text
	Name   string // of the column, or without a header its number from 1
	Column string // as an error shows it
	Text   string // of the cell, as an error shows it
	// Missing says that other programs write this text for a missing value.
	Missing bool
	Number  int    // the line of a number in a column that could hold words instead; 0: none
	Date    bool   // the text is a date
	Digits  bool   // its digits are those of another script than 0 to 9
	Header  bool   // it is in the first line, which was taken for a row
	Hint    string // how it would be read in another notation
}

func (e *CellError) Error() string {
	hint := ""
	switch {
	case e.Missing:
		hint = " (a missing value is an empty cell, nan or NA)"
	case e.Digits:
		hint = ": write its digits as 0 to 9"
	case e.Date:
		hint = " but a date: write a number in its place, such as the days since the first one, the month or the weekday"
	case e.Number > 0:
		hint = fmt.Sprintf(", and %s has one: a column holds either numbers or words, or is declared with data.csv.categories", cells.At(e.Number, e.Row))
	}
	if e.Header {
		hint += " (if the first line names the columns: data.csv.header: true, or --header)"
	}
	return fmt.Sprintf("%s, %s: %s is not a number%s%s", cells.At(e.Line, e.Row), e.Column, e.Text, e.Hint, hint)
}

// ColumnError says that a table has no column of a name.
type ColumnError struct {
	Name   string
	Cols   int
	Header []string // of the table; nil if it has none
}

func (e *ColumnError) Error() string {
	if e.Header == nil {
		return fmt.Sprintf("no column %q: the table has no header, so columns are 1 to %d (if its first line names them: data.csv.header: true, or --header)", e.Name, e.Cols)
	}
	return fmt.Sprintf("no column %q among %s", e.Name, cells.QuoteSome(e.Header))
}

// NamesError says that a column which should hold numbers holds names.
type NamesError struct{ File, Column, Example string }

func (e *NamesError) Error() string {
	return fmt.Sprintf("%s: %s holds names such as %s, not numbers", e.File, e.Column, cells.Quote([]byte(e.Example)))
}

// AmbiguousError says that the numbers of a column have two readings, and which settings choose one.
type AmbiguousError struct {
	File, Column string
	Example      string // a cell
	Readings     [2]string
	Settings     [2]string // of data.csv, each one that chooses a reading
	Because      string    // what makes the second reading possible; empty: the cell alone does
}

func (e *AmbiguousError) Error() string {
	return e.Told(func(setting string) string { return "data.csv." + setting })
}

// Told is the message with the settings as a user would write them.
func (e *AmbiguousError) Told(write func(setting string) string) string {
	return fmt.Sprintf("%s: %s: %s has two readings%s: %s with %s, and %s with %s: say which",
		e.File, e.Column, cells.Quote([]byte(e.Example)), e.Because, e.Readings[0], write(e.Settings[0]), e.Readings[1], write(e.Settings[1]))
}

var errManyWords = fmt.Errorf("more than %d different words: write fewer categories", MaxCategories)

// manyWords says that a column holds more words than can be categories.
type manyWords struct{ column string }

func (e *manyWords) Error() string { return errManyWords.Error() }
