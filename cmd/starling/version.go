package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
)

//go:generate go run ../../internal/licences licences.txt

// notices are the licences of the modules that are linked into the command, which must go with it.
//
//go:embed licences.txt
var notices string

func newVersion() *cobra.Command {
	var jsonOut, licences bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the CPU kernels in use",
		Example: "  starling version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jsonOut && licences {
				return wrongUse("--json and --licences: want one of them")
			}
			if licences {
				_, err := io.WriteString(cmd.OutOrStdout(), notices)
				return err
			}
			version, revision := starling.Version()
			if jsonOut {
				return jsontext.Write(cmd.OutOrStdout(), map[string]any{
					"version": version, "revision": revision, "go": runtime.Version(),
					"os": runtime.GOOS, "arch": runtime.GOARCH, "kernel": lanes.Kernel(), "kernels": lanes.Kernels(),
				})
			}
			if revision != "" {
				revision = " (" + revision + ")"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "starling %s%s, %s, %s/%s, kernels %s\n",
				version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH, lanes.Kernel())
			return err
		},
	}
	asJSON(cmd, &jsonOut)
	cmd.Flags().BoolVar(&licences, "licences", false, "print the licences of what the program contains")
	return cmd
}
