package presets

import (
	"bytes"
	"strings"
	"text/template"
	"unicode/utf8"
)

// Table says what fills in the config of a table that nobody wrote a config for. Strings are YAML.
type Table struct {
	Name, File, Target string
	Folder             string // of the run, if no other has its name
	Size               string // rows and inputs
	Kind               string // of the target, as a comment
	Delimiter, Header  string // as they are given, or where they cannot be guessed; empty: guessed. Header has its comment
	Test, Group        string // the file of the test part, and the column of groups; empty: none
	Drop, Keep         string // columns, as lists of YAML
	Missing, OneHot    string // columns, as a sentence lists them; empty: none
	StandsFor          string // what stands for a missing value
	Constant, Empty    string // columns, as a sentence lists them; empty: none
	Counted            string // columns, as a list of YAML
	Doubtful           string // columns that perhaps should not be inputs, and those of Drop, as a list of YAML; empty: none are doubtful
	Numbered           string // those of them that may number the rows, as a sentence lists them
	Unlike, Units      string // those of words, likewise: nearly all different, and numbers with a sign or a unit

	Decimal, Thousands, Strip string // settings by which numbers are read as they were; empty: none
	Written                   string // how numbers are written that are not plain, as a sentence lists it; empty: all are
	Differ, Inexact           string // columns that are left out, as lists of YAML: words that all differ, and inexact whole numbers
	Mixed                     string // what columns of Differ hold that are numbers, and what to do, as a sentence lists it
	Dates                     string // an index of dates that is left out, as a sentence lists columns
	Categories, Codes         string // columns of codes, and those that may be, as lists of YAML
	Alike                     string // classes, and columns of words, that differ only in letter case or blanks, as a sentence lists them
	Skip                      string // rows without a target that are left out; empty: that is not asked for

	Layers            string // the hidden ones, as items of a list, each with a comma behind it
	Prior, Likelihood string // the settings of the prior that learns its widths; the likelihood
	Noise             string // why numbers have this likelihood, as a comment; empty: they are classes
	Proposals         string // of other likelihoods for the values that the target has, as a comment; empty: none
	Move              string // of the chains
	Descent           string // rate and optimiser of the restarts

	Outputs, Chains, Epochs, States, Batch int
}

// Head says what fills in the config of a head on features. Strings are YAML, as in Table.
type Head struct {
	Name, Inputs, Target string // the files of the features and of what is predicted
	Folder, Size, Kind   string
	Standardise, Scaled  string // how the features are standardised, and why, as a comment
	Validate             string // the share of the rows to validate; empty: the usual tenth

	Prior, Likelihood, Move, Descent string

	Outputs, Chains, Epochs, States, Batch int
}

// Config writes the config, commented. In the template a tab stands before the comment of a line.
func (t Table) Config() []byte { return filled("table/table.yaml", t) }

// Config writes the config, likewise.
func (h Head) Config() []byte { return filled("table/head.yaml", h) }

func filled(name string, by any) []byte {
	var b strings.Builder
	text, err := template.ParseFS(files, name)
	if err == nil {
		err = text.Execute(&b, by)
	}
	if err != nil {
		panic(err) // the templates are constants, and a test fills them in
	}
	return aligned(b.String())
}

// aligned puts blanks for the tab in each line, so that comments begin at the same column where the text before leaves room.
func aligned(text string) []byte {
	const column = 37
	var b bytes.Buffer
	for line := range strings.Lines(text) {
		before, comment, found := strings.Cut(line, "\t")
		b.WriteString(before)
		if found {
			b.WriteString(strings.Repeat(" ", max(column-utf8.RuneCountInString(before), 2)))
		}
		b.WriteString(comment)
	}
	return b.Bytes()
}
