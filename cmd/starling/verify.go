package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
)

func newVerify() *cobra.Command {
	var jsonOut, quiet bool
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check every file of a run against its checksum",
		Long: `Verify reads every file of a run's folder and compares it with its checksum in manifest.json, which has a checksum of
its own. The other commands check the files that they read in the same way. report.html is not checked: starling report
writes it again from the other files.

Of a run that is not done, verify checks the checkpoints, which have checksums of their own, and by them the config, the
trace up to the checkpoint, and the files of kept states that it counts. While such a run is at work its files change, and a file may seem to differ.

The exit status is 3 if a file differs or is missing.`,
		Example: `  starling verify runs/mnist7`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			line := newProgress(quiet, jsonOut)
			defer line.end()
			line.show(method.Status{Phase: "verifying " + args[0]})
			v, err := starling.VerifyRun(args[0])
			if err != nil {
				return usageError{err}
			}
			line.end()
			if jsonOut {
				err = jsontext.Write(cmd.OutOrStdout(), v)
			} else {
				err = showVerifiedRun(cmd.OutOrStdout(), v)
			}
			if bad := v.Count(runs.Differs, runs.Missing); bad > 0 && err == nil {
				err = &starling.DataError{Err: fmt.Errorf("%d of %d files of the run in %s are missing, or not as the run wrote them",
					bad, len(v.Files)-v.Count(runs.Unlisted), args[0])}
			}
			return err
		},
	}
	asJSON(cmd, &jsonOut)
	quietly(cmd, &quiet)
	return cmd
}

// showVerifiedRun writes a line for each file, and says what was checked if the run is not done.
func showVerifiedRun(out io.Writer, v *starling.Verification) error {
	for _, f := range v.Files {
		name := f.File
		if f.State == runs.Unlisted { // it may be called anything
			name = strconv.Quote(name)
		}
		text := name
		if f.Why != "" {
			text += ": " + f.Why
		}
		beside(out, fmt.Sprintf("%-8s", f.State), text)
	}
	var err error
	switch v.Status {
	case runs.Done:
	case "": // of a damaged manifest
		_, err = fmt.Fprintln(out, "the manifest does not say whether the run is done: what it would go on from was checked")
	default:
		_, err = fmt.Fprintln(out, "the run is not done: what it would go on from was checked")
	}
	return err
}
