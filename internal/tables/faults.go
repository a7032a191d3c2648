package tables

import (
	"errors"

	"github.com/starling-smc/starling/internal/config"
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
