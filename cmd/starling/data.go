package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/sets"
)

func newData() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Data sets and files: list, describe, check and download them",
		Example: `  starling data list
  starling data show mine.csv
  starling data fetch mnist --data-dir ~/data
  starling data verify --data-dir ~/data`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataList(), newDataShow(), newDataVerify(), newDataFetch(), newDataPad())
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
				Name      string   `json:"name"`
				About     string   `json:"about"`
				Licence   string   `json:"licence"`
				Train     int      `json:"train"`
				Validate  int      `json:"validate"`
				Test      int      `json:"test"`
				Groups    []string `json:"groups"`
				Calibrate int      `json:"calibrate"`
				Foreign   []string `json:"calibrate_groups"`
				Target    string   `json:"target"`
				Files     []string `json:"files"`
				BuiltIn   bool     `json:"built_in"`
				Found     bool     `json:"found"`
				Download  bool     `json:"download"`
			}
			rows := []row{}
			for _, k := range sets.List(dir) {
				rows = append(rows, row{k.Name, k.About, k.Licence, k.Train, k.Validate, k.Test, list(k.Groups), k.Calibrate, list(k.Foreign), k.Target, list(k.Files), k.BuiltIn, k.Found, k.Download})
				if jsonOut {
					continue
				}
				left := fmt.Sprintf("%-14s %-9s", k.Name, place(k))
				left = beside(out, left, k.About)
				size := sizes{k.Train, k.Validate, k.Test, len(k.Groups), k.Calibrate, len(k.Foreign)}.String()
				if k.Target != "" {
					size = numeral.Count(k.Train) + " rows, to predict " + k.Target
				}
				beside(out, left, size+" · "+k.Licence)
				switch {
				case k.Found:
				case k.Download:
					beside(out, left, k.HowToGet())
				default:
					beside(out, left, "needs "+strings.Join(k.Files, ", ")+" in the data directory (--data-dir DIR or STARLING_DATA)")
				}
			}
			if jsonOut {
				return jsontext.Write(out, map[string]any{"sets": rows, "scans": scanSets()})
			}
			listScans(out)
			return nil
		},
	}
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	return cmd
}

// list copies names; it is never nil, so that JSON has [] and not null.
func list(names []string) []string { return append([]string{}, names...) }

func place(k sets.Known) string {
	switch {
	case k.BuiltIn:
		return "built in"
	case k.Found:
		return "found"
	}
	return "missing"
}
