package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/tables"
)

// csvForm holds the flags that say how a CSV is written. What is not given is guessed.
type csvForm struct {
	delimiter string
	header    bool
	changed   func(flag string) bool // whether a flag is given
}

// flags adds the flags; what names the file.
func (c *csvForm) flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&c.delimiter, "delimiter", "", "delimiter of "+what+": one `CHAR` (\\t for a tab), or whitespace")
	cmd.Flags().BoolVar(&c.header, "header", true, "whether the first line of "+what+" names the columns: =true or =false")
	cmd.Flag("header").DefValue = ""
	c.changed = cmd.Flags().Changed
}

// told reports whether a flag is given.
func (c *csvForm) told() bool { return c.changed("delimiter") || c.changed("header") }

// tell puts what is given into the settings of a table. The error is one of wrong use.
func (c *csvForm) tell(o *data.CSV) error {
	if c.changed("header") {
		o.Header = &c.header
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
	return []flagged{{"--delimiter", c.delimiter, c.changed("delimiter")}, {fmt.Sprintf("--header=%v", c.header), "", c.changed("header")}}
}
