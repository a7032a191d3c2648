package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/tables"
)

func newNew() *cobra.Command {
	var t tableToLearn
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "new FILE --target COLUMN|FILE",
		Short: "Look at a table, and print a commented config to train on it",
		Long: `New looks at a table and prints a config for it: which column is predicted and whether it is a class or a number, which
columns are left out, a network by the size of the table, a prior that learns its widths, and chains with a budget by its rows.
Every line can be changed.

The target is a class if it holds words, two whole numbers, or all whole numbers from 0 up to at most 29. Any other is a number.
The delimiter and the header of a CSV are guessed, unless --delimiter and --header say them; then the config does, too.

A tenth of the rows is held out to validate, and another tenth to test, unless --test names a file of them. Where rows belong together,
such as the years of a country, name the column with --group: a score on some of them after training on others would be too good.

FILE may be an array of features instead, [rows, features], NPY or IDX, as starling features writes, and --target a file of one label
for each row. The config is then one of a head: one layer on standardised features. Whole numbers are classes, floats are numbers.

starling fit FILE --target COLUMN|FILE does the same and trains at once; the config, with all defaults, is then in the run's folder.`,
		Example: `  starling new flowers.csv --target species > flowers.yaml
  starling fit flowers.yaml
  starling new visits.csv --target cost --group patient > visits.yaml
  starling new features.npy --target labels.npy > head.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.target == "" {
				return wrongUse("starling new %s needs --target, the column to predict, or the file of labels of features", quoted(args[0]))
			}
			text, err := t.config(args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if jsonOut {
				return jsontext.Write(out, map[string]string{"config": string(text)})
			}
			_, err = out.Write(text)
			return err
		},
	}
	t.flags(cmd, "the `COLUMN` to predict: its name, or without a header its number from 1; of features the file of labels")
	asJSON(cmd, &jsonOut)
	return cmd
}

// tableToLearn holds the flags of commands that make the config of a table.
type tableToLearn struct {
	target     string
	test       string // file of the test part
	group      string // column of what stays together
	drop, keep []string
	categories []string
	skip       string
	form       csvForm
	tableFlags
}

// flags adds the flags.
func (t *tableToLearn) flags(cmd *cobra.Command, target string) {
	t.cmd = cmd
	t.text(&t.target, "target", target)
	t.text(&t.test, "test", "`FILE` of the same columns whose rows are the test part; without it a tenth of the table is")
	t.text(&t.group, "group", "`COLUMN` of the table whose rows of the same text stay in one part, such as those of a patient; it is no input")
	t.columns(&t.drop, "drop", "`COLUMNS` of the table that are left out, whatever they hold: names, or numbers if there is no header")
	t.columns(&t.keep, "keep", "`COLUMNS` of the table that are inputs although they count the rows")
	t.columns(&t.categories, "categories", "`COLUMNS` of the table that hold codes: a number in them is a category, as a word is")
	t.text(&t.skip, "missing-target", "what a row without a target is: `skip` leaves it out; else it is an error")
	t.form.flags(&t.tableFlags, "the table, if it is a CSV")
}

// config writes the config of a table, or that of a head on features.
func (t *tableToLearn) config(name string) ([]byte, error) {
	if is, err := t.features(name); err != nil || is {
		if err != nil {
			return nil, err
		}
		return starling.NewHeadConfig(name, t.target)
	}
	table, err := t.csv(name)
	if err != nil {
		return nil, err
	}
	text, err := starling.NewConfig(table)
	return text, mended(err)
}

// features reports whether a file is an array of features, and the target is the file of their labels.
func (t *tableToLearn) features(name string) (bool, error) {
	if is, err := formats.IsArray(name); err != nil || !is {
		return false, nil // a table, or no file: what reads it says so
	}
	if others := t.without("target"); others.told() {
		return false, wrongUse("%s are for a table, and %s is an array: data.test and data.split in its config name other rows", others.list(), name)
	}
	if !exists(t.target) {
		return false, wrongUse("there is no file %s: %s is an array of features, and --target is the file of their labels", t.target, name)
	}
	return true, nil
}

// csv names the table, and what the flags say of it.
func (t *tableToLearn) csv(name string) (table data.CSV, err error) {
	if isConfig(name) {
		return table, wrongUse("%s is a config, and --target names a column of a table: starling fit %s", name, quoted(name))
	}
	for _, file := range []string{name, t.test} {
		if file != "" && !exists(file) {
			return table, wrongUse("there is no file %s", file)
		}
	}
	table = data.CSV{File: name, Target: t.target, Test: t.test, Group: t.group, Drop: t.drop, Keep: t.keep, Categories: t.categories, MissingTarget: t.skip}
	if t.skip != "" && t.skip != tables.MissingSkip {
		return table, wrongUse("--missing-target %s: want skip, or leave it out", t.skip)
	}
	if err := t.form.tell(&table); err != nil {
		return table, err
	}
	return table, nil
}

// mended names the flag that mends a fault of a column.
func mended(err error) error {
	var fault *tables.ColumnFault
	if errors.As(err, &fault) {
		return &starling.DataError{Err: errors.New(fault.Mended(fmt.Sprintf("--%s %s", fault.Setting, quoted(inList(fault.Column)))))}
	}
	if told := ofNumbers(err); told != nil {
		return &starling.DataError{Err: told}
	}
	return err
}

// isTable reports whether a file is a table, by its name.
func isTable(name string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".parquet"}, filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")))
}

// exists reports whether there is a file of a name, or something else than that it is missing keeps it from being read.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// isConfig reports whether an argument is a config or a preset, by its name.
func isConfig(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(name))) || slices.Contains(starling.Presets(), name)
}
