package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
)

func newVersion() *cobra.Command {
	var jsonOut bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the CPU kernels in use",
		Example: "  starling version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	return cmd
}
