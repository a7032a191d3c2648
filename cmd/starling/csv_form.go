package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// csvForm holds the flags that say how a CSV is written. What is not given is guessed.
type csvForm struct {
	delimiter          string
	header             bool
	decimal, thousands string
	units              string
	changed            func(flag string) bool // whether a flag is given
}

// flags adds the flags; what names the file.
func (c *csvForm) flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&c.delimiter, "delimiter", "", "delimiter of "+what+": one `CHAR` (\\t for a tab), or whitespace")
	cmd.Flags().BoolVar(&c.header, "header", true, "whether the first line of "+what+" names the columns: =true or =false")
	cmd.Flag("header").DefValue = ""
	cmd.Flags().StringVar(&c.decimal, "decimal", "", "decimal `MARK` of the numbers of "+what+": . or ,")
	cmd.Flags().StringVar(&c.thousands, "thousands", "", "`MARK` between their thousands: , . ' or a blank")
	cmd.Flags().StringVar(&c.units, "units", "", "`strip`: currencies, % and units around them are no part of them")
	c.changed = cmd.Flags().Changed
}

// told reports whether a flag is given.
func (c *csvForm) told() bool {
	return slices.ContainsFunc([]string{"delimiter", "header", "decimal", "thousands", "units"}, c.changed)
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

// given are the flags as they were given.
func (c *csvForm) given() []flagged {
	return []flagged{{"--delimiter", c.delimiter, c.changed("delimiter")}, {fmt.Sprintf("--header=%v", c.header), "", c.changed("header")},
		{"--decimal", c.decimal, c.changed("decimal")}, {"--thousands", c.thousands, c.changed("thousands")}, {"--units", c.units, c.changed("units")}}
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
