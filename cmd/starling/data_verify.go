package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/sets"
	"github.com/starling-smc/starling/method"
)

func newDataVerify() *cobra.Command {
	var (
		dir     string
		jsonOut bool
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "verify [SET…]",
		Short: "Check the files of data sets against their known checksums",
		Long: `Verify checks the files of data sets against their known checksums: the sets within the program, and those in the data
directory.

The content of a file counts, not how gzip packed it; of a table, the names of its columns and its numbers. The exit status
is 3 if a set is wrong, or if a set that was named is missing.`,
		Example: `  starling data verify --data-dir ~/data
  starling data verify mnist7`,
		ValidArgsFunction: setNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			named := len(names) > 0
			if !named {
				for _, k := range sets.List("") {
					names = append(names, k.Name)
				}
			}
			type row struct {
				Set   string     `json:"set"`
				File  string     `json:"file"`
				State sets.State `json:"state"`
				Why   string     `json:"why"`
			}
			out := cmd.OutOrStdout()
			rows := []row{}
			counts := map[sets.State]int{}
			line := newProgress(quiet, jsonOut)
			defer line.end()
			for _, name := range names {
				line.show(method.Status{Phase: "verifying " + name})
				files, err := sets.Verify(name, dir)
				if err != nil {
					return usageError{err}
				}
				for _, f := range files {
					rows = append(rows, row{name, f.File, f.State, f.Why})
					counts[f.State]++
				}
				if !jsonOut {
					showVerified(out, name, files)
				}
			}
			line.end()
			if jsonOut {
				if err := jsontext.Write(out, map[string]any{"files": rows, "ok": counts[sets.OK], "missing": counts[sets.Missing], "wrong": counts[sets.Wrong]}); err != nil {
					return err
				}
			}
			switch {
			case counts[sets.Wrong] > 0:
				return &starling.DataError{Err: fmt.Errorf("%d of %d files do not match their known checksums", counts[sets.Wrong], len(rows))}
			case counts[sets.Missing] > 0 && named:
				return &starling.DataError{Err: errors.New("files are missing")}
			}
			return nil
		},
	}
	dataDir(cmd, &dir)
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}

// showVerified writes one line for a set whose files are all right or all missing, else one line for each file and one that
// says what to do.
func showVerified(out io.Writer, name string, files []sets.Verified) {
	var known sets.Known
	for _, k := range sets.List("") {
		if k.Name == name {
			known = k
		}
	}
	counts := map[sets.State]int{}
	begun := false
	for _, f := range files {
		counts[f.State]++
		begun = begun || f.State == sets.Missing && f.Why != ""
	}
	left := func(s sets.State) string { return fmt.Sprintf("%-14s %-8s", name, s) }
	switch {
	case counts[sets.OK] == len(files) && known.BuiltIn:
		beside(out, left(sets.OK), "built in")
		return
	case counts[sets.OK] == len(files):
		beside(out, left(sets.OK), fmt.Sprintf("files with the known checksum: %d", len(files)))
		return
	case counts[sets.Missing] == len(files) && !begun:
		beside(out, left(sets.Missing), known.HowToGet())
		return
	}
	blank := ""
	for _, f := range files {
		text := f.File
		if f.Why != "" {
			text += ": " + f.Why
		}
		blank = beside(out, left(f.State), text)
	}
	switch {
	case known.BuiltIn:
		beside(out, blank, "the program is damaged: install it again")
	case counts[sets.Wrong] == 0:
		beside(out, blank, known.HowToGet())
	default:
		beside(out, blank, known.HowToMend())
	}
}

// setNames completes names of data sets.
func setNames(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	for _, k := range sets.List("") {
		names = append(names, k.Name+"\t"+k.About)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
