package main

import (
	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/jsontext"
)

func newNew() *cobra.Command {
	var target string
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "new FILE --target COLUMN",
		Short: "Look at a table, and print a commented config to train on it",
		Long: `New looks at a table and prints a config for it: which column is predicted and whether it is a class or a number, which
columns are left out, a network by the size of the table, a prior that learns its widths, and chains with a budget by its rows.
Every line can be changed.

A target of words, of two whole numbers, or of all whole numbers from 0 to 29 at most is a class; any other is a number.

starling fit FILE --target COLUMN does the same and trains at once; the config is then in the run's folder.`,
		Example: `  starling new flowers.csv --target species > flowers.yaml
  starling fit flowers.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if target == "" {
				return wrongUse("starling new %s needs --target, the column to predict", quoted(args[0]))
			}
			text, err := starling.NewConfig(data.CSV{File: args[0], Target: target})
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
	cmd.Flags().StringVar(&target, "target", "", "the `COLUMN` to predict: its name, or without a header its number from 1")
	asJSON(cmd, &jsonOut)
	return cmd
}
