package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/tables"
)

// tableFlags are the flags of a command that say something of a table. Whoever adds one adds its name to the only list of them.
type tableFlags struct {
	cmd   *cobra.Command
	names []string
}

// text adds a flag with a text.
func (t *tableFlags) text(to *string, name, usage string) {
	t.cmd.Flags().StringVar(to, name, "", usage)
	t.names = append(t.names, name)
}

// yes adds a flag that is true or false, and true by default.
func (t *tableFlags) yes(to *bool, name, usage string) {
	t.cmd.Flags().BoolVar(to, name, true, usage)
	t.names = append(t.names, name)
}

// columns adds a flag with names of columns.
func (t *tableFlags) columns(to *[]string, name, usage string) {
	columnsFlag(t.cmd, to, name, usage)
	t.names = append(t.names, name)
}

// without leaves one of them out.
func (t tableFlags) without(name string) tableFlags {
	t.names = slices.DeleteFunc(slices.Clone(t.names), func(n string) bool { return n == name })
	return t
}

// told reports whether one of them is given.
func (t tableFlags) told() bool { return slices.ContainsFunc(t.names, t.cmd.Flags().Changed) }

// list names them in a sentence.
func (t tableFlags) list() string {
	var all []string
	for _, name := range t.names {
		all = append(all, "--"+name)
	}
	return numeral.List(all)
}

// given are the flags as they were given.
func (t tableFlags) given() (all []flagged) {
	for _, name := range t.names {
		flag := t.cmd.Flag(name)
		columns, several := flag.Value.(columnNames)
		switch {
		case !flag.Changed:
		case several:
			for _, column := range *columns.names {
				all = append(all, flagged{"--" + name, inList(column), true})
			}
		case flag.Value.Type() == "bool":
			all = append(all, flagged{"--" + name + "=" + flag.Value.String(), "", true})
		default:
			all = append(all, flagged{"--" + name, flag.Value.String(), true})
		}
	}
	return all
}

// csvForm holds the flags that say how a CSV is written. What is not given is guessed.
type csvForm struct {
	delimiter          string
	header             bool
	decimal, thousands string
	units              string
	changed            func(flag string) bool // whether a flag is given
}

// flags adds the flags; what names the file.
func (c *csvForm) flags(t *tableFlags, what string) {
	t.text(&c.delimiter, "delimiter", "delimiter of "+what+": one `CHAR` (\\t for a tab), or whitespace")
	t.yes(&c.header, "header", "whether the first line of "+what+" names the columns: =true or =false")
	t.cmd.Flag("header").DefValue = ""
	t.text(&c.decimal, "decimal", "decimal `MARK` of the numbers of "+what+": . or ,")
	t.text(&c.thousands, "thousands", "`MARK` between their thousands: , . ' or a blank")
	t.text(&c.units, "units", "`strip`: currencies, % and units around them are no part of them")
	c.changed = t.cmd.Flags().Changed
}

// tell puts what is given into the settings of a table. The error is one of wrong use.
func (c *csvForm) tell(o *data.CSV) error {
	if c.changed("header") {
		o.Header = &c.header
	}
	o.Decimal, o.Thousands, o.Units = c.decimal, c.thousands, c.units
	for _, f := range []struct {
		flag, value string
		known       []string
	}{{"decimal", c.decimal, cells.DecimalMarks}, {"thousands", c.thousands, cells.ThousandsMarks}, {"units", c.units, []string{tables.UnitsStrip}}} {
		if c.changed(f.flag) && !slices.Contains(f.known, f.value) {
			return wrongUse("--%s %q: want one of %s", f.flag, f.value, strings.Join(quotedAll(f.known), " "))
		}
	}
	if c.decimal != "" && c.decimal == c.thousands {
		return wrongUse("--decimal and --thousands are both %s: want two different marks", c.decimal)
	}
	if !c.changed("delimiter") {
		return nil
	}
	if o.Delimiter = c.delimiter; c.delimiter == `\t` { // a tab is hard to type
		o.Delimiter = "\t"
	}
	if err := tables.CheckDelimiter(o.Delimiter); err != nil {
		return usageError{err}
	}
	return nil
}

// quotedAll are texts as a shell takes them.
func quotedAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, quoted(t))
	}
	return all
}

// ofNumbers writes a fault of how numbers are written in terms of the flags; nil: the error is another one.
func ofNumbers(err error) error {
	var ambiguous *tables.AmbiguousError
	if !errors.As(err, &ambiguous) {
		return nil
	}
	return errors.New(ambiguous.Told(func(setting string) string {
		key, value, _ := strings.Cut(setting, ": ")
		return "--" + key + " '" + strings.Trim(value, `"`) + "'"
	}))
}
