package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/data"
)

func newData() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "data",
		Short:   "Data sets",
		Example: "  starling data list",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataList())
	return cmd
}

func newDataList() *cobra.Command {
	var (
		dir     string
		jsonOut bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the data sets known by name, and where they are",
		Example: "  starling data list --data-dir ~/data",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			type row struct {
				Name     string   `json:"name"`
				About    string   `json:"about"`
				Licence  string   `json:"licence"`
				Train    int      `json:"train"`
				Validate int      `json:"validate"`
				Test     int      `json:"test"`
				Groups   []string `json:"groups"`
				Files    []string `json:"files"`
				Found    bool     `json:"found"`
			}
			var rows []row
			for _, k := range data.List(dir) {
				rows = append(rows, row{k.Name, k.About, k.Licence, k.Train, k.Validate, k.Test, k.Groups, k.Files, k.Found})
			}
			if jsonOut {
				return writeJSON(out, map[string]any{"sets": rows})
			}
			for _, r := range rows {
				fmt.Fprintf(out, "%-14s %-9s %s\n", r.Name, place(r.Files, r.Found), r.About)
				fmt.Fprintf(out, "%-24s %s · %s\n", "", sizes(r.Train, r.Validate, r.Test, len(r.Groups)), r.Licence)
				if !r.Found {
					fmt.Fprintf(out, "%-24s needs %s in the data directory (--data-dir or STARLING_DATA)\n", "", strings.Join(r.Files, ", "))
				}
			}
			return nil
		},
	}
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	return cmd
}

func place(files []string, found bool) string {
	switch {
	case files == nil:
		return "built in"
	case found:
		return "found"
	}
	return "missing"
}

// sizes says how many examples are for what.
func sizes(train, validate, test, groups int) string {
	parts := []string{thousands(train) + " to train"}
	if validate > 0 {
		parts = append(parts, thousands(validate)+" to validate")
	}
	if test > 0 {
		parts = append(parts, thousands(test)+" to test")
	}
	if groups > 0 {
		parts = append(parts, fmt.Sprintf("%d groups never seen", groups))
	}
	return strings.Join(parts, ", ")
}
