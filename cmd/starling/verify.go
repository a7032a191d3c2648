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
	var e evaluation
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check every file of a run against its checksum",
		Long: `Verify reads every file of a run's folder and compares it with its checksum in manifest.json, which has a checksum of
its own. The other commands check the files that they read in the same way. report.html has no checksum: verify makes the page again in
memory, from the run's files and its own data, and says whether it is the one that starling report would write. A page that is missing or
another is no fault of the run.

Of a run that is not done, verify checks the checkpoints, which have checksums of their own, and by them the config, the
trace up to the checkpoint, and the files of kept states that it counts. While such a run is at work its files change, and a file may seem to differ.

The exit status is 3 if a file differs or is missing.`,
		Example: `  starling verify runs/mnist7`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkThreads(e.options.Threads); err != nil {
				return err
			}
			line := e.progress()
			defer line.end()
			line.show(method.Status{Phase: "verifying " + args[0]})
			v, err := starling.VerifyRun(args[0])
			if err != nil {
				return usageError{err}
			}
			all := verified{Verification: v}
			bad := v.Count(runs.Differs, runs.Missing)
			switch {
			case v.Status != runs.Done:
			case bad > 0:
				all.Report = &reported{reportUnknown, "the run's files are not as it wrote them"}
			default:
				line.show(method.Status{Phase: "making the report again"})
				page, err := checkReport(cmd.Context(), args[0], e.options)
				if err != nil {
					return err
				}
				all.Report = &page
			}
			line.end()
			if e.json {
				err = jsontext.Write(cmd.OutOrStdout(), all)
			} else {
				err = showVerifiedRun(cmd.OutOrStdout(), all)
			}
			if bad > 0 && err == nil {
				err = &starling.DataError{Err: fmt.Errorf("%d of %d files of the run in %s are missing, or not as the run wrote them",
					bad, len(v.Files)-v.Count(runs.Unlisted), args[0])}
			}
			return err
		},
	}
	e.flags(cmd)
	return cmd
}

// verified is what verify finds: of the run's files, and of its page.
type verified struct {
	*starling.Verification
	Report *reported `json:"report,omitempty"` // nil: the run is not done
}

// showVerifiedRun writes a line for each file, and says what was checked if the run is not done.
func showVerifiedRun(out io.Writer, v verified) error {
	for _, f := range v.Files {
		if v.Report != nil && f.File == reportFile {
			continue // it is told beside the others
		}
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
	if r := v.Report; r != nil {
		beside(out, fmt.Sprintf("%-8s", r.State), reportFile+": "+r.Why)
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
